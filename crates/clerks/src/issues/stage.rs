//! The stages of `workflows/issues.toml` that mean something to the session: each by its name there.

macro_rules! stages {
    ($($name:ident = $text:literal),* $(,)?) => {
        $(pub const $name: &str = $text;)*

        /// All of them.
        #[cfg(test)]
        pub const ALL: &[&str] = &[$($text),*];
    };
}

stages! {
    AGAIN = "again_gate",
    APPLY = "apply",
    CLASSIFY = "classify",
    COMMIT = "commit",
    COMMIT_FIX = "commit_fix",
    DISCOVER = "discover",
    GO_ON = "go_on",
    INVARIANTS = "invariants",
    PLAN = "plan",
    PREVIOUS = "previous",
    RESOLVE = "resolve",
    REVIEW = "review",
    REVIEW_FIX = "review_fix",
}

#[cfg(test)]
mod tests {
    use windlass_core::lang::{Catalogue, load};
    use windlass_core::workflow::{Errand, Kind, Workflow};
    use windlass_engine::exhibit::Exhibits;

    use super::super::{OFFICE, read, show, tell};
    use super::*;

    fn issues() -> Workflow {
        let read = |name: &str| {
            let path = format!("{}/../../workflows/{name}.toml", env!("CARGO_MANIFEST_DIR"));
            std::fs::read_to_string(path).unwrap()
        };
        load(&read("issues"), &Catalogue::parse(&read("catalogue")).unwrap()).unwrap()
    }

    #[test]
    fn every_stage_that_means_something_is_there() {
        let flow = issues();
        for name in ALL {
            assert!(flow.stage_named(name).is_some(), "no stage {name}");
        }
    }

    #[test]
    fn whatever_is_read_shown_and_told_is_known() {
        let flow = issues();
        let shown = Exhibits::ALWAYS.iter().chain(&show::SHOWS).copied().collect::<Vec<_>>();
        for stage in &flow.stages {
            match &stage.kind {
                Kind::Errand(Errand::Read { name }) => {
                    assert!(read::READS.contains(&name.as_str()), "nobody reads {name}");
                }
                Kind::Errand(Errand::Tell { names }) => {
                    for name in names {
                        assert!(tell::TELLS.contains(&name.as_str()), "nobody tells {name}");
                    }
                }
                _ => {}
            }
            for name in &stage.sees {
                assert!(shown.contains(&name.as_str()), "{}: nobody shows {name}", stage.name);
            }
        }
        assert!(read::READS.contains(&OFFICE.known_by));
    }
}
