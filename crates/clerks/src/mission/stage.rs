//! The stages of `workflows/mission.toml` that mean something to the session: each by its name there.

macro_rules! stages {
    ($($name:ident = $text:literal),* $(,)?) => {
        $(pub const $name: &str = $text;)*

        /// All of them.
        #[cfg(test)]
        pub const ALL: &[&str] = &[$($text),*];
    };
}

stages! {
    ARCHITECT = "architect",
    CROSSCHECK = "crosscheck",
    MERGE = "merge",
    MERGE_GRANT = "merge_grant",
    PLAN = "plan",
    PLAN_GRANT = "plan_grant",
    PLAN_REVIEW = "plan_review",
    UI_QA = "ui_qa",
    VALIDATOR = "validator",
    WORKER = "worker",
}

/// Where a feature is while somebody judges it, or while it waits to land.
pub const JUDGED: [&str; 5] = [VALIDATOR, UI_QA, CROSSCHECK, MERGE_GRANT, MERGE];

#[cfg(test)]
mod tests {
    use windlass_core::lang::{Catalogue, load};
    use windlass_core::workflow::{Errand, Kind, Workflow};
    use windlass_engine::exhibit::Exhibits;

    use super::super::{OFFICE, read, show};
    use super::*;

    fn mission() -> Workflow {
        let read = |name: &str| {
            let path = format!("{}/../../workflows/{name}.toml", env!("CARGO_MANIFEST_DIR"));
            std::fs::read_to_string(path).unwrap()
        };
        load(&read("mission"), &Catalogue::parse(&read("catalogue")).unwrap()).unwrap()
    }

    #[test]
    fn every_stage_that_means_something_is_there() {
        let flow = mission();
        for name in ALL {
            assert!(flow.stage_named(name).is_some(), "no stage {name}");
        }
    }

    #[test]
    fn whatever_is_read_and_shown_is_known() {
        let flow = mission();
        let shown = Exhibits::ALWAYS.iter().chain(&show::SHOWS).copied().collect::<Vec<_>>();
        for stage in &flow.stages {
            if let Kind::Errand(Errand::Read { name }) = &stage.kind {
                assert!(read::READS.contains(&name.as_str()), "nobody reads {name}");
            }
            for name in &stage.sees {
                assert!(shown.contains(&name.as_str()), "{}: nobody shows {name}", stage.name);
            }
        }
        assert!(read::READS.contains(&OFFICE.known_by));
    }
}
