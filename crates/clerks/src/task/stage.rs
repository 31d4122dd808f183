//! The stages of `workflows/task.toml` and `workflows/task-v1.toml` that mean something to the session: each by its name
//! there.

macro_rules! stages {
    ($all:ident: $($name:ident = $text:literal),* $(,)?) => {
        $(pub const $name: &str = $text;)*

        /// All of them.
        #[cfg(test)]
        pub const $all: &[&str] = &[$($text),*];
    };
}

stages! { ALL:
    ADVISE_MULTI = "advise_multi",
    ADVISE_STANDARD = "advise_standard",
    ARGUMENT = "argument",
    COMMIT_GATE = "commit_gate",
    CONVENTIONS = "conventions",
    EDIT_SPEC = "edit_spec",
    EVALUATING = "evaluating",
    GENERATE_READY = "generate_ready",
    GIVE_BACK = "give_back",
    IMPLEMENT_MULTI = "implement_multi",
    IMPLEMENT_SINGLE = "implement_single",
    IMPLEMENT_STANDARD = "implement_standard",
    LAYER1_FAILED = "layer1_failed",
    LEAD_PLAN = "lead_plan",
    LIMITS_GATE = "limits_gate",
    PATCH_GATE = "patch_gate",
    PLAN_MULTI = "plan_multi",
    PLAN_READY = "plan_ready",
    PLAN_SINGLE = "plan_single",
    PLAN_STANDARD = "plan_standard",
    PROPOSE = "propose",
    QA_LAYER2 = "qa_layer2",
    QA_LAYER3 = "qa_layer3",
    REREAD_SPEC = "reread_spec",
    REVISE_SPEC = "revise_spec",
    ROUNDS_SPENT = "rounds_spent",
    SCAN = "scan",
    SCAN_FAILED = "scan_failed",
    SPEC_GATE = "spec_gate",
    SPEC_NOW = "spec_now",
    VERIFY_GATE = "verify_gate",
    VERIFYING = "verifying",
    VERIFY_READING = "verify_reading",
    VERIFY_READY = "verify_ready",
}

// What only sessions without a version have, and one that is there in both and counts a retry in theirs alone.
stages! { FIRST:
    GENERATING = "generating",
    PLANNING = "planning",
    QA_GATE = "qa_gate",
    SESSION_GATE = "session_gate",
    VERIFY_REPORT = "verify_report",
}

/// Those at which code is written.
pub const IMPLEMENT: [&str; 4] =
    [IMPLEMENT_SINGLE, IMPLEMENT_STANDARD, IMPLEMENT_MULTI, GENERATING];

/// Those at which a spec is made by several.
pub const PANELS: [&str; 2] = [PLAN_STANDARD, PLAN_MULTI];

#[cfg(test)]
mod tests {
    use windlass_core::lang::{Catalogue, load};
    use windlass_core::workflow::{Errand, Kind, Workflow};
    use windlass_engine::exhibit::Exhibits;

    use super::*;

    fn flow(of: &str) -> Workflow {
        let read = |name: &str| {
            let path = format!("{}/../../workflows/{name}.toml", env!("CARGO_MANIFEST_DIR"));
            std::fs::read_to_string(path).unwrap()
        };
        load(&read(of), &Catalogue::parse(&read("catalogue")).unwrap()).unwrap()
    }

    #[test]
    fn every_one_is_a_stage_of_the_workflow() {
        for (of, names) in [("task", ALL), ("task-v1", FIRST)] {
            let flow = flow(of);
            for name in names {
                assert!(flow.stage_named(name).is_some(), "{of} has no stage `{name}`");
            }
        }
    }

    #[test]
    fn what_stages_see_read_and_keep_is_known() {
        for (of, office) in [("task", super::super::OFFICE), ("task-v1", super::super::FIRST)] {
            known_to(&office, flow(of));
        }
    }

    #[track_caller]
    fn known_to(office: &crate::Office, flow: Workflow) {
        assert_eq!(crate::Office::of(&flow).map(|own| own.known_by), Some(office.known_by));
        let known = |name: &str| Exhibits::ALWAYS.contains(&name) || office.shows.contains(&name);
        for stage in flow.stages {
            let unknown: Vec<&String> = stage.sees.iter().filter(|name| !known(name)).collect();
            assert!(unknown.is_empty(), "{}: {unknown:?}", stage.name);
            match &stage.kind {
                Kind::Errand(Errand::Read { name }) => {
                    assert!(office.reads.contains(&name.as_str()), "{name}");
                }
                Kind::Errand(Errand::Land { keep, .. }) => {
                    let own = |name: &&String| !office.files.contains(&name.as_str());
                    assert_eq!(keep.iter().filter(own).count(), 0, "{keep:?}");
                }
                _ => {}
            }
        }
    }

    /// The figures that messages and files have are the definition's.
    #[test]
    fn figures_that_people_are_told_are_the_workflows() {
        for (of, name, want) in [
            ("task", "layer1", super::super::LAYER1_RETRIES),
            ("task", "layer2", super::super::LAYER2_RETRIES),
            ("task", "rounds", super::super::ROUNDS),
            ("task-v1", "layer1", super::super::LAYER1_RETRIES),
            ("task-v1", "rounds", super::super::ROUNDS),
        ] {
            let flow = flow(of);
            let counter = flow.counters.iter().find(|counter| counter.name == name).unwrap();
            let most = format!("{:?}", counter.max);
            assert!(most.contains(&format!("Number({want})")), "{of}: {name}");
        }
    }
}
