//! Stages by name: those of a definition that mean something to its clerk. Here, because every clerk has such a list and
//! each is held against its definition in the same way.

/// A constant for each name, and, for tests, a list of all of them.
macro_rules! stages {
    ($all:ident: $($name:ident = $text:literal),* $(,)?) => {
        $(pub const $name: &str = $text;)*

        /// All of them.
        #[cfg(test)]
        pub const $all: &[&str] = &[$($text),*];
    };
}

#[cfg(test)]
pub mod tests {
    use windlass_core::lang::{Catalogue, load};
    use windlass_core::workflow::{Errand, Kind, Stage, Workflow};
    use windlass_engine::exhibit::Exhibits;

    use crate::{Left, Office, autopilot, issues, mission, task, work};

    /// A built-in definition.
    pub fn flow(name: &str) -> Workflow {
        let read = |name: &str| {
            let path = format!("{}/../../workflows/{name}.toml", env!("CARGO_MANIFEST_DIR"));
            std::fs::read_to_string(path).unwrap()
        };
        load(&read(name), &Catalogue::parse(&read("catalogue")).unwrap()).unwrap()
    }

    /// What each definition's clerk is, and the stages that mean something to it.
    const KEPT: [(&str, Office, &[&str]); 6] = [
        ("autopilot", autopilot::OFFICE, autopilot::stage::ALL),
        ("task", task::OFFICE, task::stage::ALL),
        ("task-v1", task::FIRST, task::stage::FIRST),
        ("mission", mission::OFFICE, mission::stage::ALL),
        ("issues", issues::OFFICE, issues::stage::ALL),
        ("work", work::OFFICE, work::stage::ALL),
    ];

    #[test]
    fn every_stage_that_means_something_is_in_the_definition() {
        for (of, _, names) in KEPT {
            let flow = flow(of);
            for name in names {
                assert!(flow.stage_named(name).is_some(), "{of} has no stage `{name}`");
            }
        }
    }

    #[test]
    fn whatever_a_definition_reads_sees_and_keeps_its_clerk_knows() {
        for (of, office, _) in KEPT {
            let flow = flow(of);
            assert_eq!(Office::of(&flow).map(|own| own.known_by), Some(office.known_by), "{of}");
            assert!(office.reads.contains(&office.known_by), "{of}");
            for stage in &flow.stages {
                assert_eq!(unknown(&office, stage), Vec::<&str>::new(), "{of}: {}", stage.name);
            }
        }
    }

    /// What a workflow is called is nobody's to know a clerk by.
    #[test]
    fn a_copy_by_another_name_says_the_same_of_what_it_leaves_to_a_person() {
        for (of, office, _) in KEPT {
            let mut copy = flow(of);
            copy.name = "a-copy".to_owned();
            assert_eq!(Office::of(&copy).map(|own| own.known_by), Some(office.known_by), "{of}");
            let says = Left::by(&copy).map(|left| (left.retry)("F-1"));
            assert_eq!(says.is_some(), of == "mission", "{of}: {says:?}");
        }
    }

    /// What a stage is about that its clerk has never heard of.
    fn unknown<'a>(office: &Office, stage: &'a Stage) -> Vec<&'a str> {
        let shown = |name: &str| Exhibits::ALWAYS.contains(&name) || office.shows.contains(&name);
        let sees = stage.sees.iter().map(String::as_str).filter(|name| !shown(name));
        let about: Vec<&str> = match &stage.kind {
            Kind::Errand(Errand::Read { name }) if !office.reads.contains(&name.as_str()) => {
                vec![name]
            }
            Kind::Errand(Errand::Land { keep, .. }) => {
                let own = |name: &&str| office.files.contains(name);
                keep.iter().map(String::as_str).filter(|name| !own(name)).collect()
            }
            _ => Vec::new(),
        };
        sees.chain(about).collect()
    }
}
