//! The workflow language: from text to a [`Workflow`] that is proved sound, or to everything that is wrong with it.
//!
//! ```text
//! text ─ document ─ definition ─ outline ─ compile ─ check ─ Workflow
//!        (TOML)     (as written) (names)   (draft)   (proof)
//! ```
//!
//! Every layer notes mistakes and goes on with something harmless in place of what is wrong, so that one reading finds
//! all that can be found. `docs/workflows.md` is the language itself.

mod catalogue;
mod check;
mod compile;
mod definition;
mod diagnostic;
mod document;
mod expression;
mod outline;
mod problems;
mod resolve;
#[cfg(test)]
mod testing;
mod types;
mod words;

pub use catalogue::{Catalogue, Memory, Reporter};
pub use diagnostic::{Code, Diagnostic, Place, Span, place};

use crate::workflow::{Source, Workflow};
use definition::Definition;
use outline::Outline;
use problems::Problems;

/// Reads a definition and proves it sound, or says everything that is wrong with it, in order of appearance.
pub fn load(text: &str, catalogue: &Catalogue) -> Result<Workflow, Vec<Diagnostic>> {
    let mut problems = Problems::new(text);
    let Some(document) = document::parse(text, &mut problems) else {
        return Err(problems.into_list());
    };
    let definition = Definition::read(document.get_ref(), &mut problems);
    let outline = Outline::new(&definition, catalogue, &mut problems);
    let source = source(text, &outline.used);
    let draft = compile::compile(&outline, source, &mut problems);
    check::check(&draft, &mut problems);
    if problems.none() { Ok(draft.workflow) } else { Err(problems.into_list()) }
}

fn source(text: &str, used: &Catalogue) -> Source {
    let mut hasher = blake3::Hasher::new();
    hasher.update(text.as_bytes()).update(&[0]).update(used.canonical().as_bytes());
    Source {
        text: text.into(),
        catalogue: used.written().into(),
        digest: hasher.finalize().to_hex().as_str().into(),
    }
}
