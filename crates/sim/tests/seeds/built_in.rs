//! The built-in definitions, as both the seeds' tables and the campaign load them.

use std::sync::Arc;

use windlass_core::{
    lang::{Catalogue, load},
    workflow::Workflow,
};

const CATALOGUE: &str = include_str!("../../../../workflows/catalogue.toml");

/// A built-in definition, loaded with the built-in catalogue.
#[track_caller]
pub fn built_in(text: &str) -> Arc<Workflow> {
    let catalogue = Catalogue::parse(CATALOGUE).unwrap_or_else(|p| panic!("{p:?}"));
    match load(text, &catalogue) {
        Ok(flow) => Arc::new(flow),
        Err(problems) => {
            let plain: Vec<String> = problems.iter().map(|p| p.plain("built-in", text)).collect();
            panic!("{}", plain.join("\n"))
        }
    }
}
