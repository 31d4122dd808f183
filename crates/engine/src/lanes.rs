//! What is said of lanes to people, and how many of them make sense.

use std::collections::BTreeSet;
use std::path::Path;

use crate::crew::{Call, Crew};

/// More lanes than this are for whoever asks for them.
const LANES_MAX: usize = 16;

/// What a file says that stands in the person's checkout where somebody may look for the unit's own: where it is built, and
/// how to get there.
pub fn pointer(lane: u32, work: &Path) -> String {
    format!(
        "This is built in a lane of its own, not in your checkout.\n\
         path: {}\n\
         look around: windlass lanes shell {lane}\n",
        work.display()
    )
}

/// How many lanes make sense where nobody says: as many as the machine has cores for their checks, and no more than agents
/// may work at once. `calls` is who plays the roles of a unit, each by itself; whoever is called first works, the others
/// take over from them.
pub fn sensible<'c>(crew: &Crew, calls: impl Iterator<Item = &'c Call>, cores: usize) -> usize {
    let first: BTreeSet<&str> =
        calls.filter_map(|call| call.agents.first()).map(String::as_str).collect();
    let served = first.into_iter().filter_map(|agent| crew.at_once_of(agent)).min();
    cores.min(served.unwrap_or(usize::MAX)).clamp(1, LANES_MAX)
}

#[cfg(test)]
mod tests {
    use windlass_agents::Tier;

    use super::*;

    fn crew() -> Crew {
        let of = |(one, two): (&str, &str)| (one.to_owned(), two.to_owned());
        Crew {
            accounts: [("opus", "anthropic"), ("sonnet", "anthropic")].map(of).into(),
            at_once: [("anthropic".to_owned(), 3), ("local".to_owned(), 1)].into(),
            ..Crew::default()
        }
    }

    fn lanes(cores: usize, calls: &[&[&str]]) -> usize {
        let call = |agents: &&[&str]| Call {
            agents: agents.iter().map(|&agent| agent.to_owned()).collect(),
            tier: Tier::Standard,
            by_preset: false,
            model: None,
            seated: Vec::new(),
            effort: None,
        };
        let calls: Vec<Call> = calls.iter().map(call).collect();
        sensible(&crew(), calls.iter(), cores)
    }

    #[test]
    fn there_are_as_many_lanes_as_cores_and_agents_allow() {
        assert_eq!(lanes(8, &[&["codex"], &["codex"]]), 8, "nobody says how many it serves");
        assert_eq!(lanes(8, &[&["sonnet"], &["codex"]]), 3, "those on one account count together");
        assert_eq!(lanes(2, &[&["sonnet"]]), 2, "checks need cores");
        assert_eq!(lanes(8, &[&["sonnet"], &["local"]]), 1, "the narrowest place decides");
        assert_eq!(lanes(8, &[&["codex", "local"]]), 8, "who takes over is not at work meanwhile");
        assert_eq!(lanes(0, &[]), 1);
        assert_eq!(lanes(96, &[&["codex"]]), LANES_MAX);
    }

    #[test]
    fn a_pointer_says_where_the_lane_is_and_how_to_open_it() {
        let text = pointer(3, Path::new("/state/lanes/3/work"));
        assert!(text.contains("path: /state/lanes/3/work\n"), "{text}");
        assert!(text.contains("windlass lanes shell 3\n"), "{text}");
    }
}
