//! The story is killed at instants that nobody chose, several times over, and taken up again each time.

use std::process::{Command, Output};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::copies::under_way;
use crate::mission::Width;
use crate::place::{Place, Seen, Tale};
use crate::results::{self, Results};
use crate::task::Patch;
use crate::{Dice, part, whole};

/// So many times is one story killed.
const KILLS: u32 = 5;

/// A story that nobody killed.
struct Whole {
    seen: Seen,
    /// From its first instant to about its end.
    span_ms: usize,
}

impl Whole {
    fn told(tale: Tale) -> Whole {
        let began = Instant::now();
        let seen = whole(tale);
        let span_ms = match tale {
            Tale::Tasks | Tale::Spec => 3_000,
            // It is told by five programs, one after the other.
            Tale::Task(_) => 5_000,
            // How long it takes to do so many things at once is up to the machine.
            Tale::Issues | Tale::Mission(_) | Tale::Work => {
                usize::try_from(began.elapsed().as_millis()).unwrap()
            }
        };
        Whole { seen, span_ms }
    }
}

/// Tells a story, kills it now and then, and says what was wrong with how it ended, and how many units were under way at
/// each kill.
fn killed(tale: Tale, whole: &Whole, seed: u64) -> (Option<String>, Vec<String>) {
    let mut dice = Dice::new(seed);
    let dir = tempfile::tempdir().unwrap();
    let place = Place::new(tale, &dir.path().join("place"));
    let (mut kills, mut at_work, mut busy) = (0, 0, Vec::new());
    let finished = place.finish_with(|mut command| {
        if kills == KILLS {
            return Some(command.output().unwrap());
        }
        kills += 1;
        let instant = dice.below(whole.span_ms / KILLS as usize) as u64;
        let ended = kill_after(command, Duration::from_millis(instant));
        if ended.is_none() && tale.is_parallel() {
            place.disperse();
            let entries = place.entries();
            at_work += under_way(&entries);
            busy.push(units_under_way(&entries).to_string());
        }
        ended
    });
    // Where one thing is done after the other, the one that was at work is all that is done again.
    let again = if tale.is_parallel() { at_work } else { KILLS * tale.at_once() };
    let wrong = match finished {
        Err(why) => Some(why),
        Ok(()) => place.compare(&whole.seen, again),
    };
    if let Some(wrong) = &wrong {
        // What cannot be told again at will is kept to be looked at.
        let mut kept = vec![wrong.clone()];
        kept.extend(place.entries().iter().map(ToString::to_string));
        results::keep(&format!("{}kills-seed-{seed}.log", tale.prefix()), &kept.join("\n"));
    }
    (wrong, busy)
}

fn units_under_way(entries: &[Value]) -> usize {
    let of = |kind: &str, is: &str| entries.iter().filter(|entry| entry[kind] == is).count();
    let over = of("note", "landed") + of("record", "done_by_hand");
    of("event", "unit_started") - over
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

    #[test]
    fn a_loop_over_issues_that_is_killed_comes_to_the_same() {
        few(Tale::Issues, 1);
    }

    #[test]
    fn a_mission_that_is_killed_comes_to_the_same() {
        few(Tale::Mission(Width::Eight), 1);
    }

    #[test]
    fn work_on_a_plan_that_is_killed_comes_to_the_same() {
        few(Tale::Work, 1);
    }

    fn few(tale: Tale, count: u64) {
        let whole = Whole::told(tale);
        for seed in 1..=count {
            assert_eq!(killed(tale, &whole, seed).0, None, "seed {seed}");
        }
    }

    #[test]
    #[ignore = "takes long: scripts/storm"]
    fn hundreds_of_kills_come_to_the_same() {
        let (part, parts) = part();
        // `WINDLASS_STORM_KILLS=5000` goes on with further seeds.
        let asked = Tale::asked_for();
        let (tale, usual) = match asked {
            Tale::Mission(_) => (Tale::Mission(Width::Eight), 200),
            Tale::Work => (Tale::Work, 200),
            other => (other, 500),
        };
        let kills = std::env::var("WINDLASS_STORM_KILLS").map_or(usual, |it| it.parse().unwrap());
        let mut results = Results::open(&format!("{}kills-{part}-of-{parts}", asked.prefix()));
        let whole = Whole::told(tale);
        let mut wrong = Vec::new();
        // Where there are lanes those count at which every lane was in use.
        let all = tale.at_once().to_string();
        let most = if tale.is_parallel() { 2 * kills } else { kills };
        for seed in (1..=most / KILLS as usize).filter(|seed| seed % parts == part) {
            let point = format!("{seed} seed");
            let counted = results.covers().filter(|busy| *busy == all).count();
            if !results.has(&point) && counted < kills / parts {
                let (found, busy) = killed(tale, &whole, seed as u64);
                results.add(&point, found.as_deref(), &busy);
                wrong.extend(found.map(|found| format!("seed {seed}: {found}")));
            }
        }
        assert_eq!(wrong, Vec::<String>::new());
    }
}
