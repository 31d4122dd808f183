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
    coming: Mutex<VecDeque<Coming>>,
}

/// A fault that is still to come.
#[derive(Debug)]
struct Coming {
    kind: String,
    /// So many requests of its kind are let go by first.
    spared: usize,
    fault: Fault,
}

impl Faults {
    /// The next request of this kind meets this. What the kinds are the tracker says; an empty word means any request.
    pub fn add(&self, kind: &str, fault: Fault) {
        self.add_after(0, kind, fault);
    }

    /// The same, once so many requests of this kind have gone by.
    pub fn add_after(&self, spared: usize, kind: &str, fault: Fault) {
        let mut coming = self.coming.lock().unwrap_or_else(PoisonError::into_inner);
        coming.push_back(Coming { kind: kind.to_owned(), spared, fault });
    }

    /// What a request of these kinds meets, if anything.
    #[must_use]
    pub fn next(&self, kinds: &[&str]) -> Option<Fault> {
        let mut coming = self.coming.lock().unwrap_or_else(PoisonError::into_inner);
        let is_for = |it: &Coming| it.kind.is_empty() || kinds.contains(&it.kind.as_str());
        let at = coming.iter().position(|it| it.spared == 0 && is_for(it));
        for other in coming.iter_mut().filter(|it| is_for(it)) {
            other.spared = other.spared.saturating_sub(1);
        }
        coming.remove(at?).map(|it| it.fault)
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
        assert_eq!(faults.next(&["list"]), Some(Fault::status(502)));
        assert_eq!(faults.next(&["list"]), None);
        assert_eq!(faults.next(&["say", "comment"]), Some(Fault::CutAfter));
        assert!(faults.is_empty() && faults.next(&["comment"]).is_none());
    }

    #[test]
    fn a_fault_that_comes_later_lets_others_of_its_kind_go_by() {
        let faults = Faults::default();
        faults.add_after(2, "comment", Fault::CutAfter);
        faults.add_after(1, "comment", Fault::CutBefore);
        let met = || faults.next(&["comment"]);
        assert_eq!(
            (met(), met(), met(), met()),
            (None, Some(Fault::CutBefore), Some(Fault::CutAfter), None)
        );
    }
}
