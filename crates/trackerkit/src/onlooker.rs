//! Somebody who looks on: other people, who do something as soon as they see what was written.

use std::fmt;
use std::sync::{Mutex, PoisonError};

/// What somebody does when they see a write.
type Look<W> = Box<dyn Fn(&W) + Send>;

/// Whoever looks on, if anybody does. They see each write before whoever wrote hears that it was carried out.
pub(crate) struct Onlooker<W>(Mutex<Option<Look<W>>>);

impl<W> Default for Onlooker<W> {
    fn default() -> Self {
        Onlooker(Mutex::default())
    }
}

impl<W> fmt::Debug for Onlooker<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Onlooker")
    }
}

impl<W> Onlooker<W> {
    /// From now on somebody looks on.
    pub fn comes(&self, look: impl Fn(&W) + Send + 'static) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(look));
    }

    /// This was written.
    pub fn sees(&self, writes: &[W]) {
        if let Some(look) = &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            writes.iter().for_each(look);
        }
    }
}
