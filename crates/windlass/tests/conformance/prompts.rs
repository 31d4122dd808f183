//! What a model is told: in the order that is promised, and byte for byte the same up to what an invocation is about.

use serde_json::json;
use windlass_testkit::{Reply, Request};

use crate::rig::{Rig, Who};

/// A worker that fails at first.
fn fails_once(request: &Request) -> Reply {
    let is_first = request.text().contains("Attempt: 1");
    let verdict = if is_first { "failed" } else { "done" };
    Reply::structured(json!({ "verdict": verdict, "summary": "It is as it is." }))
}

/// What comes before all that an invocation is about.
fn before_now(request: &Request) -> String {
    match request.system.contains("# Your role: ") {
        true => request.system.clone(),
        false => request.text().split("# Now\n").next().unwrap_or_default().to_owned(),
    }
}

#[test]
fn what_a_role_is_told_is_the_same_up_to_what_it_is_about() {
    for who in Who::QUICK {
        let rig = Rig::new(who, fails_once, "", &[]);
        let mut followed = rig.scratch.follow(&mut rig.start());
        for want in ["failed", "done"] {
            let answer = followed.until("an agent answered", |entry| entry["note"] == "answered");
            assert_eq!(answer["came"], want, "{who:?}: {answer:#}");
        }
        followed.child.kill().unwrap();
        followed.code();
        let requests = rig.server.requests();
        let told = |attempt: &str| {
            let one = requests.iter().find(|it| it.request.text().contains(attempt)).unwrap();
            assert!(!before_now(&one.request).contains(attempt));
            (before_now(&one.request), one.request.text())
        };
        let (first, whole) = told("Attempt: 1");
        assert_eq!(first, told("Attempt: 2").0, "{who:?}");
        let parts = ["# Your role: worker", "# The project", "# The run", "# Now"];
        let places: Vec<Option<usize>> = parts.iter().map(|part| whole.find(part)).collect();
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{who:?}: {places:?}");
    }
}
