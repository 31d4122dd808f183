//! The story is killed at instants that nobody chose, several times over, and taken up again each time.

use std::process::{Command, Output};
use std::time::Duration;

use crate::place::{Place, Seen, Tale};
use crate::results::{self, Results};
use crate::task::Patch;
use crate::{Dice, part, whole};

/// So many times is one story killed.
const KILLS: u32 = 5;

/// From the first instant of a story to about its end.
fn span_ms(tale: Tale) -> usize {
    match tale {
        Tale::Tasks | Tale::Spec => 3_000,
        // It is told by five programs, one after the other.
        Tale::Task(_) => 5_000,
    }
}

/// Tells a story, kills it now and then, and says what was wrong with how it ended.
fn killed(tale: Tale, whole: &Seen, seed: u64) -> Option<String> {
    let mut dice = Dice::new(seed);
    let dir = tempfile::tempdir().unwrap();
    let place = Place::new(tale, &dir.path().join("place"));
    let mut kills = 0;
    let finished = place.finish_with(|command| {
        if kills == KILLS {
            let mut command = command;
            return Some(command.output().unwrap());
        }
        kills += 1;
        kill_after(
            command,
            Duration::from_millis(dice.below(span_ms(tale) / KILLS as usize) as u64),
        )
    });
    let wrong = match finished {
        Err(why) => Some(why),
        Ok(()) => place.compare(whole, KILLS * tale.at_once()),
    };
    if let Some(wrong) = &wrong {
        // What cannot be told again at will is kept to be looked at.
        let mut kept = vec![wrong.clone()];
        kept.extend(place.entries().iter().map(ToString::to_string));
        results::keep(&format!("{}kills-seed-{seed}.log", tale.prefix()), &kept.join("\n"));
    }
    wrong
}

/// `None` if it was killed before it ended by itself.
fn kill_after(mut command: Command, instant: Duration) -> Option<Output> {
    let mut child = command.spawn().unwrap();
    std::thread::sleep(instant);
    child.kill().unwrap();
    let output = child.wait_with_output().unwrap();
    output.status.code().is_some().then_some(output)
}

mod slow {
    use super::*;

    #[test]
    fn a_few_stories_that_are_killed_come_to_the_same() {
        few(Tale::Tasks, 2);
    }

    #[test]
    fn a_story_of_autopilot_that_is_killed_comes_to_the_same() {
        few(Tale::Spec, 1);
    }

    #[test]
    fn a_task_that_is_killed_comes_to_the_same() {
        few(Tale::Task(Patch::Mends), 1);
    }

    fn few(tale: Tale, count: u64) {
        let whole = whole(tale);
        for seed in 1..=count {
            assert_eq!(killed(tale, &whole, seed), None, "seed {seed}");
        }
    }

    #[test]
    #[ignore = "takes long: scripts/storm"]
    fn five_hundred_kills_come_to_the_same() {
        let (part, parts) = part();
        let tale = Tale::asked_for();
        let mut results = Results::open(&format!("{}kills-{part}-of-{parts}", tale.prefix()));
        let whole = whole(tale);
        let mut wrong = Vec::new();
        // `WINDLASS_STORM_KILLS=5000` goes on with further seeds.
        let kills: usize =
            std::env::var("WINDLASS_STORM_KILLS").map_or(500, |it| it.parse().unwrap());
        for seed in (1..=kills / KILLS as usize).filter(|seed| seed % parts == part) {
            let point = format!("{seed} seed");
            if !results.has(&point) {
                let found = killed(tale, &whole, seed as u64);
                results.add(&point, found.as_deref(), &[]);
                wrong.extend(found.map(|found| format!("seed {seed}: {found}")));
            }
        }
        assert_eq!(wrong, Vec::<String>::new());
    }
}
