//! Modes by count and by flag; dependencies and claims (W1, W2, W18).

use windlass_sim::Walk;

use super::work;
use crate::script::working;

/// So many tasks that have nothing to do with one another.
fn tasks(count: usize) -> String {
    let ids: Vec<String> = (1..=count).map(|id| id.to_string()).collect();
    let facts = format!("target_count={count},unlisted_count=0,test_framework=false");
    format!("drift:clean plans:found,tasks={},{facts}", ids.join("+"))
}

fn lanes(walk: &Walk<'_>) -> usize {
    working(walk).split_whitespace().count()
}

#[test]
fn the_mode_is_by_count_unless_a_flag_says_otherwise() {
    type Given = &'static [(&'static str, &'static str)];
    let cases: [(&str, usize, Given, &str, usize); 19] = [
        ("1 task: Solo", 1, &[], "solo", 1),
        ("2-3 tasks: Parallel", 2, &[], "parallel", 2),
        ("2-3 tasks: Parallel", 3, &[], "parallel", 3),
        ("2-3 tasks: Parallel, whatever a team is", 3, &[("team", "1")], "parallel", 3),
        ("4+ tasks: Breezing", 4, &[], "breezing", 3),
        ("4+ tasks: Breezing", 7, &[], "breezing", 3),
        ("4+ tasks: Breezing, a team of two", 7, &[("team", "2")], "breezing", 2),
        ("--parallel N regardless of task count", 1, &[("parallel", "5")], "parallel", 1),
        ("--parallel N regardless of task count", 7, &[("parallel", "2")], "parallel", 2),
        ("--parallel N regardless of task count", 7, &[("parallel", "5")], "parallel", 5),
        ("--breezing regardless of task count", 1, &[("breezing", "yes")], "breezing", 1),
        ("--breezing regardless of task count", 2, &[("breezing", "yes")], "breezing", 2),
        ("--codex regardless of task count", 1, &[("codex", "yes")], "codex", 1),
        ("--codex regardless of task count", 3, &[("codex", "yes")], "codex", 1),
        ("--codex regardless of task count", 4, &[("codex", "yes")], "codex", 1),
        (
            "--codex --breezing → Codex + Breezing",
            2,
            &[("codex", "yes"), ("breezing", "yes")],
            "breezing",
            2,
        ),
        (
            "--codex can be combined with other modes",
            4,
            &[("codex", "yes"), ("parallel", "2")],
            "parallel",
            2,
        ),
        ("--sequential: force sequential execution", 3, &[("sequential", "yes")], "parallel", 1),
        (
            "--sequential wins over a number",
            7,
            &[("sequential", "yes"), ("parallel", "4")],
            "parallel",
            1,
        ),
    ];
    for (seed, count, inputs, mode, at_once) in cases {
        let script = work();
        let mut walk = script.play(inputs, &tasks(count));
        assert_eq!(lanes(&walk), at_once, "{seed}: {count} tasks with {inputs:?}");
        script.go_on(&mut walk, ">implement");
        let (_, implement) = walk.find("implement").expect("under way");
        assert_eq!(implement.with.get("mode"), Some(&mode.into()), "{seed}: {count} {inputs:?}");
        let codex = inputs.iter().any(|(name, _)| *name == "codex");
        let agent = if codex { "codex" } else { "default" };
        assert_eq!(implement.with.get("agent"), Some(&agent.into()), "{seed}");
    }
}

#[test]
fn codex_and_auto_mode_are_explicit_only() {
    let script = work();
    let walk = script.play(&[], &format!("{} >implement", tasks(1)));
    let (_, implement) = walk.find("implement").expect("under way");
    assert_eq!(implement.with.get("agent"), Some(&"default".into()));
    assert_eq!(implement.with.get("auto_mode"), Some(&false.into()));
    let walk = script.play(&[("auto_mode", "yes")], &format!("{} >implement", tasks(1)));
    let (_, implement) = walk.find("implement").expect("under way");
    assert_eq!(implement.with.get("auto_mode"), Some(&true.into()), "opt-in");
}

#[test]
fn the_options_defaults_are_the_seeds() {
    let script = work();
    let value = |name: &str| {
        let input = script.flow.input_named(name).map(|ix| &script.flow.inputs[ix.at()]);
        input.and_then(|input| input.default.clone())
    };
    for flag in ["codex", "no_commit", "breezing", "no_tdd", "no_simplify", "auto_mode"] {
        assert_eq!(value(flag), Some(false.into()), "--{flag}: false");
    }
    assert_eq!(value("sequential"), Some(false.into()));
    assert_eq!(value("targets"), Some("all".into()), "2) All (recommended)");
    let walk = script.play(&[("targets", "3, 5-7")], "drift:clean");
    assert!(walk.is_at("plans"), "whoever reads the table knows the run's inputs");
    assert_eq!(walk.run().input_named("targets"), Some(&"3, 5-7".into()));
}

#[test]
fn a_task_waits_for_what_it_depends_on() {
    let script = work();
    let steps = "drift:clean plans:found,tasks=2<1+1+3,target_count=3,unlisted_count=0,\
                 test_framework=false";
    let mut walk = script.play(&[], steps);
    assert_eq!(working(&walk), "1 3", "determine execution order (Depends column)");
    script.go_on(&mut walk, "background:unsure understood:no progress:told");
    assert_eq!(crate::script::status(&walk, "2"), "blocked", "what it waits for is left out");
    let mut walk = script.play(&[("sequential", "yes")], steps);
    let mut order = Vec::new();
    for _ in 0..3 {
        order.push(working(&walk));
        script.go_on(&mut walk, ">progress progress:told");
    }
    assert_eq!(order, ["1", "2", "3"]);
}

#[test]
fn tasks_that_write_the_same_file_are_not_worked_on_at_once() {
    let script = work();
    let steps = "drift:clean plans:found,tasks=1@src/a.rs+2@src/a.rs+3@src/b.rs,target_count=3,\
                 unlisted_count=0,test_framework=false";
    let mut walk = script.play(&[], steps);
    assert_eq!(working(&walk), "1 3", "If write conflicts to the same file occur, isolate");
    script.go_on(&mut walk, "background:unsure understood:no progress:told");
    assert_eq!(working(&walk), "3 2");
}
