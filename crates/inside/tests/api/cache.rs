//! What a provider finds in its cache of prompts.

use serde_json::json;
use windlass_agents::api::Format;
use windlass_agents::own::Fin;
use windlass_testkit::{Call, Options, Reply, Request, Server, Turn};

use crate::rig::Rig;

fn share(figures: &[windlass_testkit::Figures]) -> f64 {
    let (read, all) =
        figures.iter().fold((0, 0), |(read, all), it| (read + it.read, all + it.cacheable));
    f64::from(u32::try_from(read).unwrap()) / f64::from(u32::try_from(all).unwrap().max(1))
}

/// Looks at a file in each of twenty turns, once at very much at once.
fn brain(request: &Request) -> Reply {
    let turn = request.answers();
    let look = |at: usize| {
        Call::named("read", json!({"path": "file", "first_line": at + 1, "last_line": at + 40}))
    };
    match turn {
        10 => (0..25).fold(Turn::new(), |turn, at| turn.call(look(at))).into(),
        0..20 => Reply::call(look(turn)),
        _ => Reply::structured(json!({"verdict": "done"})),
    }
}

#[test]
fn each_request_finds_the_one_before_and_each_session_the_role() {
    for format in Format::ALL {
        let server =
            Server::start_with(Options { cache_tokens_min: 256, ..Options::default() }, brain);
        let mut rig = Rig::with(format, server.unwrap());
        rig.errand.stable =
            format!("# Your role: worker\n\n{}", "You work with care.\n".repeat(400));
        let lines: String =
            (0..100).map(|at| format!("{at}: this is a line of its own\n")).collect();
        std::fs::write(rig.lane("file"), lines).unwrap();
        assert_eq!(rig.run().end.came, Fin::Done);
        let first = rig.server.cache();
        assert_eq!(first.len(), 21);
        // Of what can be kept, what is new in each request is not there yet.
        let within = share(&first[1..]);
        assert!(within > 0.9, "{format:?}: {within}");
        for (before, after) in first.iter().zip(&first[1..]) {
            assert!(after.read >= before.cacheable, "{format:?}: {before:?} {after:?}");
        }
        // Another task of the same role: what stays the same is there at once.
        rig.errand.prompt = "# Now\n\nSay something else.\n".to_owned();
        rig.errand.session = "t".to_owned();
        assert_eq!(rig.run().end.came, Fin::Done);
        let second = &rig.server.cache()[21];
        let stable = rig.errand.stable.len() as u64 / 4;
        assert!(second.read > stable, "{format:?}: {second:?}");
        println!(
            "{format:?}: {:.1} % within a session; {:.1} % of a session's first request",
            within * 100.0,
            share(std::slice::from_ref(second)) * 100.0
        );
    }
}
