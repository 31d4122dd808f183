//! What a provider would have found in its cache of prompts, over many invocations of a role. `scripts/cache` prints it for
//! thirty; the tests see to it for a few that what is ours stays the same, byte for byte.

pub mod slow {
    use std::fmt::Write as _;

    use serde_json::{Value, json};
    use windlass_testkit::{Call, Exchange, Reply, Request};

    use crate::actor::Wanted;
    use crate::rig::{Rig, Who};

    /// Does its task in two turns; looks at it in one.
    fn brain(request: &Request) -> Reply {
        let wanted = Wanted::of(request);
        if wanted.role == "worker" && request.answers() == 0 {
            let command = format!("echo {} > {}.txt", wanted.unit, wanted.unit);
            return Reply::call(Call::shell(command));
        }
        let verdict = if wanted.role == "worker" { "done" } else { "clear" };
        Reply::structured(json!({ "verdict": verdict, "summary": "So it is." }))
    }

    /// What is ours in a request and comes before what this invocation is about.
    pub fn own(exchange: &Exchange) -> String {
        let text = exchange.request.text();
        let from = text.find("# Your role: ").unwrap_or_default();
        let to = text[from..].find("# Now\n").map_or(text.len(), |at| from + at);
        // Claude Code puts other things between the two.
        text[from..to].split("\n<system-reminder>").next().unwrap_or_default().trim_end().to_owned()
    }

    /// How many of these bytes are the same as in the first.
    fn same(first: &str, other: &str) -> usize {
        first.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count()
    }

    /// Of our own bytes in what a role is asked first each time, those that are the same as in the first of all.
    pub fn own_share(firsts: &[&Exchange]) -> f64 {
        let first = own(firsts[0]);
        assert!(first.len() > 500, "{first}");
        let (mut bytes, mut identical) = (0, 0);
        for exchange in &firsts[1..] {
            let other = own(exchange);
            bytes += first.len().max(other.len()) as u64;
            identical += same(&first, &other) as u64;
        }
        share(identical, bytes)
    }

    struct Shares {
        /// Of what can be cached in an invocation's first request, what was there.
        first: f64,
        /// The same in all of its requests.
        all: f64,
        /// Of our own bytes, those that are the same.
        own: f64,
    }

    fn share(part: u64, all: u64) -> f64 {
        part as f64 / all.max(1) as f64
    }

    fn measured(who: Who, invocations: usize) -> Shares {
        let mut tasks = String::new();
        for at in 0..invocations {
            let _ = write!(
                tasks,
                "[[task]]\nid = 'task-{at}'\ntitle = 'Task number {at}'\ncareful = false\n"
            );
        }
        let rig =
            Rig::new(who, brain, "[budget]\nrun = { dollars = 200 }\n", &[("tasks.toml", &tasks)]);
        let output = rig.start().output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        told(&rig);
        let requests = rig.server.requests();
        let firsts: Vec<&Exchange> = requests
            .iter()
            .filter(|it| {
                it.request.role().as_deref() == Some("worker") && it.request.answers() == 0
            })
            .collect();
        assert_eq!(firsts.len(), invocations);
        // What the first invocation wrote to the cache is there for all others: theirs are the requests that count, their
        // first ones and all of them.
        let later = |first_only: bool| {
            let is_ours = |it: &&Exchange| {
                let worker = it.request.role().as_deref() == Some("worker");
                let first = it.request.answers() == 0;
                worker && it.request.serial != firsts[0].request.serial && (first || !first_only)
            };
            let serials: Vec<u64> =
                requests.iter().filter(is_ours).map(|it| it.request.serial).collect();
            let figures = rig.server.cache();
            let theirs = figures.iter().filter(|figures| serials.contains(&figures.serial));
            let (cacheable, read) =
                theirs.fold((0, 0), |(all, read), it| (all + it.cacheable, read + it.read));
            share(read, cacheable)
        };
        Shares { first: later(true), all: later(false), own: own_share(&firsts) }
    }

    /// `windlass log --cache` has what agents were heard to say, role by role, and counts our own bytes.
    fn told(rig: &Rig) {
        let output = rig.windlass(&["log", "--cache", "--json"]).output().unwrap();
        let told: Value = serde_json::from_slice(&output.stdout).unwrap();
        let rows = told["roles"].as_array().unwrap();
        let worker = rows.iter().find(|row| row["role"] == "worker").unwrap();
        assert_eq!(worker["same_percent"], 100.0, "{told:#}");
        let of = |name: &str| worker[name].as_u64().unwrap();
        assert!(of("cached_tokens") > 0 && of("cached_tokens") < of("read_tokens"), "{told:#}");
        let share = of("cached_tokens") as f64 * 100.0 / of("read_tokens") as f64;
        let hits = worker["hit_percent"].as_f64().unwrap();
        assert!(hits <= share && share < hits + 0.01, "{share}: {told:#}");
    }

    #[test]
    fn what_is_ours_is_the_same_in_every_invocation_of_a_role() {
        let invocations = std::env::var("WINDLASS_CACHE_INVOCATIONS");
        let invocations = invocations.ok().and_then(|it| it.parse().ok()).unwrap_or(4);
        for who in Who::BOTH {
            let Shares { first, all, own } = measured(who, invocations);
            println!(
                "{}: {invocations} invocations; of what can be cached {:.2} % was there in first requests, {:.2} % in all; \
                 of our own bytes {:.2} % are the same",
                who.name(),
                first * 100.0,
                all * 100.0,
                own * 100.0
            );
            assert!(own >= 0.999, "{who:?}: {own}");
            assert!(first > 0.8 && all > 0.8, "{who:?}: {first}, {all}");
        }
    }
}
