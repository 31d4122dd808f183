//! Which workflow a person means: a built-in one by its name, or a file of their own; and what it
//! may name: the built-in catalogue, and catalogues of their own.

use std::convert::Infallible;
use std::path::{MAIN_SEPARATOR, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use clap::Args;
use windlass_core::lang::{self, Catalogue};
use windlass_core::workflow::Workflow;

use crate::builtin;
use crate::document::Document;
use crate::error::{Error, did_you_mean};

/// `NAME|FILE` on the command line. Whatever looks like a path is one: no file can hide a built-in
/// workflow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    BuiltIn(String),
    File(PathBuf),
}

impl FromStr for Target {
    type Err = Infallible;

    fn from_str(raw: &str) -> Result<Self, Self::Err> {
        if raw.ends_with(".toml") || raw.contains(['/', MAIN_SEPARATOR]) {
            Ok(Self::File(raw.into()))
        } else {
            Ok(Self::BuiltIn(raw.to_owned()))
        }
    }
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::BuiltIn(name) => f.write_str(name),
            Self::File(path) => write!(f, "{}", path.display()),
        }
    }
}

impl Target {
    /// Whether it is the built-in workflow of this name.
    pub fn is_built_in(&self, name: &str) -> bool {
        matches!(self, Self::BuiltIn(own) if own == name)
    }

    /// The workflow, proved sound.
    pub fn load(&self, catalogue: &Catalogue) -> Result<Arc<Workflow>, Error> {
        sound(self.source()?, catalogue)
    }

    fn source(&self) -> Result<Document, Error> {
        match self {
            Self::BuiltIn(name) => builtin::find(name).map(Document::from).ok_or_else(|| {
                Error::usage(format!("there is no built-in workflow called `{name}`"))
                    .hint("`windlass workflow list` names them; a file is given by a name that ends in .toml")
                    .maybe(builtin::nearest(name).map(did_you_mean))
            }),
            Self::File(path) => Document::read(path),
        }
    }
}

/// The workflow that a text defines.
pub fn sound(source: Document, catalogue: &Catalogue) -> Result<Arc<Workflow>, Error> {
    match lang::load(&source.text, catalogue) {
        Ok(workflow) => Ok(Arc::new(workflow)),
        Err(mistakes) => Err(Error::unsound(source, mistakes)),
    }
}

/// Catalogues besides the built-in one.
#[derive(Debug, Default, Args)]
pub struct CatalogueArgs {
    /// Also know the roles, readers, checks and tells of this file (may be repeated)
    #[arg(id = "catalogue", long, value_name = "FILE")]
    pub files: Vec<PathBuf>,
}

impl CatalogueArgs {
    /// The built-in catalogue and those of the person's own, which win.
    pub fn load(&self) -> Result<Catalogue, Error> {
        let mut catalogue = parse(builtin::CATALOGUE.into())?;
        for file in &self.files {
            catalogue = catalogue.merge(parse(Document::read(file)?)?);
        }
        Ok(catalogue)
    }
}

/// A built-in workflow, whoever is asking: with the built-in catalogue alone.
pub fn built_in(name: &str) -> Result<Arc<Workflow>, Error> {
    Target::BuiltIn(name.to_owned()).load(&built_in_catalogue()?)
}

/// The built-in catalogue alone.
pub fn built_in_catalogue() -> Result<Catalogue, Error> {
    parse(builtin::CATALOGUE.into())
}

fn parse(source: Document) -> Result<Catalogue, Error> {
    Catalogue::parse(&source.text).map_err(|mistakes| Error::unsound(source, mistakes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(raw: &str) -> Target {
        raw.parse().unwrap()
    }

    #[test]
    fn what_looks_like_a_path_is_one() {
        assert_eq!(target("task"), Target::BuiltIn("task".into()));
        assert_eq!(target("task.toml"), Target::File("task.toml".into()));
        assert_eq!(target("./task"), Target::File("./task".into()));
    }

    #[test]
    fn every_built_in_workflow_is_found_by_the_name_it_declares() {
        let catalogue = built_in_catalogue().unwrap();
        for builtin::BuiltIn { name, .. } in builtin::WORKFLOWS.iter().chain(builtin::EARLIER) {
            assert_eq!(target(name).load(&catalogue).unwrap().name, *name);
        }
    }
}
