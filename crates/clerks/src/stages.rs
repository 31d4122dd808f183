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

    /// The roles that a clerk's files compare with, each where it stands. Whatever is compared with a role is a literal there,
    /// or one of a list of them.
    fn roles_compared(dir: &str) -> Vec<(String, String)> {
        let dir = format!("{}/src/{dir}", env!("CARGO_MANIFEST_DIR"));
        let mut found = Vec::new();
        for file in std::fs::read_dir(&dir).unwrap() {
            let path = file.unwrap().path();
            let text =
                if path.is_file() { std::fs::read_to_string(&path).unwrap() } else { continue };
            let text = text.split("#[cfg(test)]").next().unwrap_or_default();
            let place = path.file_name().unwrap().to_string_lossy().into_owned();
            found.extend(compared(text).into_iter().map(|role| (place.clone(), role)));
        }
        found
    }

    /// The literals that a source compares a role with.
    fn compared(text: &str) -> Vec<String> {
        let quoted = |text: &str| -> Vec<String> {
            text.split('"').skip(1).step_by(2).map(str::to_owned).collect()
        };
        let mut found = Vec::new();
        for (at, line) in text.lines().enumerate() {
            let code = line.trim_start();
            if code.starts_with("//") {
                continue;
            }
            if code.contains("role == \"") || code.contains("role != \"") {
                let (_, after) = code.split_once("role ").unwrap();
                found.extend(quoted(after).into_iter().take(1));
            }
            if code.contains("].contains(&role)") {
                let (before, _) = code.split_once("].contains(&role)").unwrap();
                found.extend(quoted(before.rsplit('[').next().unwrap_or_default()));
            }
            let (alone, paired) =
                (code.ends_with("match role {"), code.ends_with("match (role, verdict) {"));
            if alone || paired {
                let margin = " ".repeat(line.len() - code.len());
                let rest =
                    text.lines().skip(at + 1).take_while(|line| *line != format!("{margin}}}"));
                let arms = rest.filter_map(|arm| arm.strip_prefix(&margin)?.strip_prefix("    "));
                let arms = arms.filter(|arm| arm.starts_with(['"', '(']));
                let of = |arm: &str| quoted(arm.split("=>").next().unwrap_or_default());
                // Of a pair, the first is the role.
                found.extend(
                    arms.flat_map(|arm| of(arm).into_iter().take(if paired { 1 } else { 9 })),
                );
            }
        }
        found
    }

    #[test]
    fn every_role_that_means_something_is_one_that_the_definition_uses() {
        let mut all = 0;
        for dir in ["autopilot", "task", "mission", "issues", "work"] {
            // A clerk of two definitions compares with the roles of either.
            let flows = KEPT.iter().filter(|(of, ..)| of.starts_with(dir)).map(|(of, ..)| flow(of));
            let roles: Vec<String> = flows.flat_map(|flow| flow.roles.into_keys()).collect();
            for (place, role) in roles_compared(dir) {
                assert!(
                    roles.contains(&role),
                    "{dir}/{place}: no role of {dir} is called `{role}`"
                );
                all += 1;
            }
        }
        assert!(all > 4, "{all} is too few to be all of them");
    }

    #[test]
    fn a_role_is_found_however_it_is_compared_with() {
        let text = "match role {\n    \"a\" | \"b\" => x(\"no\"),\n    _ => None,\n}\n\
                    if role == \"c\" && said != \"no\" {}\nif !it.role != \"d\" {}\n\
                    if ![\"e\", \"f\"].contains(&role) {}\n// role == \"no\"";
        assert_eq!(compared(text), ["a", "b", "c", "d", "e", "f"]);
        let text = "  match (role, verdict) {\n      (\"g\", \"no\") => {\n          \"no\"\n      }\n      _ => 1,\n  }\n\"no\" => 1";
        assert_eq!(compared(text), ["g"]);
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
