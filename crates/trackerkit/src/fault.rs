//! What goes wrong: each fault meets the next request that it is for, once.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use windlass_testkit::plain::Given;

/// What goes wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The request is not carried out, and this is the answer.
    Answer {
        /// The status.
        status: u16,
        /// Besides what every answer has, such as `retry-after`.
        headers: Vec<(String, String)>,
        /// The body.
        body: String,
    },
    /// The connection is reset before the request is carried out.
    CutBefore,
    /// The request is carried out, and the connection is reset before anything is answered.
    CutAfter,
    /// The request is carried out, and nothing is ever answered.
    SilenceAfter,
}

impl Fault {
    /// A status with nothing else to say.
    #[must_use]
    pub fn status(status: u16) -> Self {
        Fault::Answer { status, headers: Vec::new(), body: "{}".to_owned() }
    }

    /// Whether the request is carried out all the same.
    #[must_use]
    pub fn happens(&self) -> bool {
        matches!(self, Fault::CutAfter | Fault::SilenceAfter)
    }

    /// What the client gets to see.
    #[must_use]
    pub fn given(&self) -> Given {
        match self.clone() {
            Fault::Answer { status, headers, body } => {
                Given::Answer { status, headers, body: body.into_bytes() }
            }
            Fault::CutBefore | Fault::CutAfter => Given::Cut,
            Fault::SilenceAfter => Given::Silence,
        }
    }
}

/// The faults that are still to come.
#[derive(Debug, Default)]
pub struct Faults {
    coming: Mutex<VecDeque<(String, Fault)>>,
}

impl Faults {
    /// The next request of this kind meets this. What the kinds are the tracker says; an empty word means any request.
    pub fn add(&self, kind: &str, fault: Fault) {
        let mut coming = self.coming.lock().unwrap_or_else(PoisonError::into_inner);
        coming.push_back((kind.to_owned(), fault));
    }

    /// What a request of this kind meets, if anything.
    #[must_use]
    pub fn next(&self, kind: &str) -> Option<Fault> {
        let mut coming = self.coming.lock().unwrap_or_else(PoisonError::into_inner);
        let at = coming.iter().position(|(own, _)| own.is_empty() || own == kind)?;
        coming.remove(at).map(|(_, fault)| fault)
    }

    /// Whether all of them have been met.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.coming.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fault_meets_one_request_of_its_kind() {
        let faults = Faults::default();
        faults.add("comment", Fault::CutAfter);
        faults.add("", Fault::status(502));
        assert_eq!(faults.next("list"), Some(Fault::status(502)));
        assert_eq!(faults.next("list"), None);
        assert_eq!(faults.next("comment"), Some(Fault::CutAfter));
        assert!(faults.is_empty() && faults.next("comment").is_none());
    }
}
