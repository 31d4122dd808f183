//! What a person reads, in their language.
//!
//! | file | holds |
//! |---|---|
//! | `lang.rs` | which languages there are: [`Lang`] |
//! | `detect.rs` | which one a person writes: [`detect`] |
//! | `words.rs` | the messages in it: [`Words`] |
//!
//! The messages themselves are in `messages/`, at the top: a file for each language, with English as the one that every
//! other falls back to. A language that has no file is still detected, since agents can be asked to write in it.

mod detect;
mod lang;
mod words;

pub use detect::detect;
pub use lang::{Lang, UnknownLang};
pub use words::{SHIPPED, Words};
