//! The seeds' own tables, held against the built-in definitions: each row quotes a condition of a
//! source document, and the test says what the definition makes of it.

mod autopilot;
mod issues;
mod mission;
mod script;
mod task;
mod work;

use std::sync::Arc;

use windlass_core::{
    lang::{Catalogue, load},
    workflow::Workflow,
};

const CATALOGUE: &str = include_str!("../../../../workflows/catalogue.toml");

/// A built-in definition, loaded with the built-in catalogue.
#[track_caller]
fn built_in(text: &str) -> Arc<Workflow> {
    let catalogue = Catalogue::parse(CATALOGUE).unwrap_or_else(|p| panic!("{p:?}"));
    match load(text, &catalogue) {
        Ok(flow) => Arc::new(flow),
        Err(problems) => {
            let plain: Vec<String> = problems.iter().map(|p| p.plain("built-in", text)).collect();
            panic!("{}", plain.join("\n"))
        }
    }
}
