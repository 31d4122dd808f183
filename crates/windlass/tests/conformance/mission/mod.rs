//! A whole mission by real agents of two vendors, on three lanes: planned, reviewed, built, mended, judged, merged and
//! remembered.

mod brain;

mod slow {
    use std::collections::{BTreeMap, BTreeSet};
    use std::fs;
    use std::process::Command;

    use serde_json::Value;
    use windlass_testkit::{Api, Exchange, Server};

    use super::brain::{Brain, DECISION, ISSUE, OVER, QUESTION, SUMMARY, TRICK, ids, note, val};
    use crate::actor::Wanted;
    use crate::cache::slow::{own, own_share};
    use crate::rig::{Rig, Who};
    use crate::scratch::Scratch;

    /// What the check says until greet.txt is as it should be: only from here its worker can know.
    const CHECK: &str = "if [ -e greet.txt ] && ! grep -qx 'hello, world' greet.txt; then\n  \
                         echo 'greet.txt has to say <hello, world>'; exit 1\nfi\n\
                         for one in $(grep -lx bad more-*.txt 2> /dev/null); do echo \"$one is bad\"; bad=1; done\n\
                         [ -z \"$bad\" ] && ! grep -q '^[<=>]' shared.txt\n";

    const SPEC: &str =
        "# A shed\n\nIt has a left and a right side, a greeting, a list and a unit of length.\n";

    /// Who is played by the second vendor's agent alone. All others are by the first's, as long as that is served.
    const SECOND: [&str; 4] = ["plan-reviewer", "validator", "crosscheck", "curator"];

    /// So many features has the mission of the tests. `WINDLASS_MISSION_FEATURES` says otherwise.
    const USUAL: usize = 8;

    fn wide() -> usize {
        std::env::var("WINDLASS_MISSION_FEATURES").map_or(USUAL, |it| it.parse().unwrap())
    }

    fn rig() -> Rig {
        let brain = Brain::planning(wide());
        let server = Server::start(move |request| brain.says(request)).unwrap();
        let second: String = SECOND.iter().map(|role| format!("{role} = 'codex'\n")).collect();
        let config = format!(
            "{}{}[roles]\ndefault = ['claude', 'codex']\n{second}[checks]\ntest = 'sh test.sh'\n\
             [budget]\nrun = {{ dollars = 200 }}\ninvocation = {{ tokens = 1000000 }}\n",
            Who::Claude.config(&server),
            Who::Codex.config(&server)
        );
        let files = [
            ("windlass.toml", config.as_str()),
            ("test.sh", CHECK),
            ("SPEC.md", SPEC),
            ("shared.txt", "begin\n"),
        ];
        Rig { who: Who::Claude, scratch: Scratch::with(&files), server }
    }

    /// With a subscription, to whose owner Claude Code says when it is there again.
    fn windlass(rig: &Rig, args: &[&str]) -> Command {
        let mut command = rig.windlass(args);
        command
            .env_remove("ANTHROPIC_API_KEY")
            .env("CLAUDE_CODE_OAUTH_TOKEN", "test-key-2")
            .env(Who::Codex.key(), "test-key-1");
        command
    }

    fn said(rig: &Rig, args: &[&str]) -> String {
        let output = windlass(rig, args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn json_of(rig: &Rig, args: &[&str]) -> Value {
        serde_json::from_str(&said(rig, args)).unwrap()
    }

    #[test]
    fn claude_and_codex_carry_out_a_mission_on_three_lanes() {
        let rig = rig();
        let before = rig.scratch.git(&["rev-parse", "main"]);
        let args = ["mission", "--lanes", "3", "--step", "crosscheck"];
        let output = windlass(&rig, &args).output().unwrap();
        let told = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert_eq!(output.status.code(), Some(0), "{told}");
        assert_eq!(rig.scratch.processes(), [""; 0]);
        let requests: Vec<Exchange> =
            rig.server.requests().into_iter().filter(|it| !it.request.is_side()).collect();
        landed(&rig, &before);
        everybody_did_their_part(&rig, &requests);
        what_went_wrong_went_where_it_belongs(&rig, &requests);
        remembered(&rig);
        billed(&rig);
        reported(&rig);
        let found = cached(&rig, &requests);
        println!("{}\n{found}", said(&rig, &["log", "--cache"]));
    }

    /// Every feature has passed, every claim was found to hold, and the branch was never at anything that fails.
    fn landed(rig: &Rig, before: &str) {
        let git = |args: &[&str]| rig.scratch.git(args);
        let text = fs::read_to_string(rig.scratch.repo().join(".harness/features.json")).unwrap();
        let queue: Value = serde_json::from_str(&text).unwrap();
        let features = queue["features"].as_array().unwrap();
        let known: BTreeSet<&str> = features.iter().map(|it| it["id"].as_str().unwrap()).collect();
        let planned = ids(wide());
        let want = planned.iter().map(String::as_str).chain(["F-FIX-LIST-1"]).collect();
        assert_eq!(known, want, "{queue:#}");
        assert!(features.iter().all(|it| it["status"] == "passed"), "{queue:#}");
        for (file, holds) in [
            ("greet.txt", "hello, world"),
            ("unit.txt", "furlongs"),
            ("list.txt", "# A list\none\ntwo"),
            ("GUIDE.md", "# Guide\n\nAll of it is there."),
        ] {
            assert_eq!(git(&["show", &format!("main:{file}")]), holds, "{file}");
        }
        let lines = |file: &str| {
            let text = git(&["show", &format!("main:{file}")]);
            text.lines().map(str::to_owned).collect::<BTreeSet<_>>()
        };
        assert_eq!(lines("shared.txt"), ["begin", "left", "right"].map(str::to_owned).into());
        assert_eq!(lines("over.txt"), ["F-OVER-1", "F-OVER-2"].map(str::to_owned).into());
        let been = git(&["reflog", "show", "--format=%H", "main"]);
        let been: Vec<&str> = been.lines().filter(|commit| *commit != before).collect();
        assert!(been.len() >= 4, "{been:?}");
        for commit in been {
            let dir = rig.scratch.path(&format!("been/{commit}"));
            fs::create_dir_all(&dir).unwrap();
            rig.scratch.sh(&format!("git archive {commit} | tar -x -C '{}'", dir.display()));
            let test = Command::new("sh").arg("test.sh").current_dir(&dir).output().unwrap();
            assert!(test.status.success(), "the branch was at {commit}, where its check fails");
        }
        assert_eq!(git(&["status", "--porcelain", "--untracked-files=no"]), "");
    }

    /// Each role was played by whom it should be, and answered in a form that could be read at once.
    fn everybody_did_their_part(rig: &Rig, requests: &[Exchange]) {
        let mut by: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
        for exchange in requests {
            let role = exchange.request.role().unwrap_or_default();
            by.entry(role).or_default().insert(exchange.request.api.name());
        }
        for (role, by) in &by {
            let first = by.contains(Api::Messages.name());
            assert!(!first || !SECOND.contains(&role.as_str()), "{role}: {by:?}");
        }
        assert_eq!(by["mission-worker"].len(), 2, "it was handed over");
        assert!(by["mission-planner"].contains(Api::Messages.name()));
        let roles: Vec<&str> = by.keys().map(String::as_str).collect();
        let want = [
            "conflict-resolver",
            "crosscheck",
            "curator",
            "documenter",
            "mission-architect",
            "mission-planner",
            "mission-worker",
            "plan-reviewer",
            "validator",
        ];
        assert_eq!(roles, want);
        let answers = rig.scratch.notes("answered");
        let served = answers.iter().filter(|it| it["came"] != "limited");
        let remarks: Vec<&Value> = served.filter(|it| it.get("remarks").is_some()).collect();
        assert!(remarks.is_empty(), "{remarks:#?}");
    }

    /// Requests of a role about a feature, in their order.
    fn about<'a>(requests: &'a [Exchange], role: &str, unit: &str) -> Vec<&'a Exchange> {
        let fits = |it: &&Exchange| {
            let wanted = Wanted::of(&it.request);
            (wanted.role.as_str(), wanted.unit.as_str()) == (role, unit)
        };
        requests.iter().filter(fits).collect()
    }

    fn what_went_wrong_went_where_it_belongs(rig: &Rig, requests: &[Exchange]) {
        let worker = |unit: &str, part: &str| {
            let about = about(requests, "mission-worker", unit);
            assert!(about.iter().any(|it| it.request.text().contains(part)), "{unit}: {part}");
            assert!(!about[0].request.text().contains(part), "{unit} knew it before: {part}");
        };
        worker("F-GREET", "greet.txt has to say <hello, world>");
        worker("F-UNIT", DECISION);
        let architect = about(requests, "mission-architect", "F-UNIT");
        assert!(architect[0].request.text().contains(QUESTION));
        let fix = about(requests, "mission-worker", "F-FIX-LIST-1");
        assert!(fix[0].request.text().contains(ISSUE));
        let resolvers: Vec<Exchange> = ["F-LEFT", "F-RIGHT"]
            .into_iter()
            .flat_map(|unit| about(requests, "conflict-resolver", unit).into_iter().cloned())
            .collect();
        let text = resolvers[0].request.text();
        assert!(text.contains("shared.txt") && text.contains("Build F-LEFT"), "{text}");
        assert!(text.contains("Build F-RIGHT"), "both intents: {text}");
        // Who was limited handed over at once, and nobody on the account was asked again.
        let mut limited = rig.scratch.notes("answered");
        limited.retain(|it| it["came"] == "limited");
        assert!((1..=3).contains(&limited.len()), "no more than there are lanes: {limited:#?}");
        for one in limited {
            assert_eq!(
                (one["agent"].as_str(), one["handed_to"].as_str()),
                (Some("claude"), Some("codex"))
            );
        }
        // What says that it will change the same file is not under way at the same time.
        let entries = rig.scratch.entries();
        let place = |fits: &dyn Fn(&Value) -> bool| entries.iter().position(fits).unwrap();
        let begun = |unit: u64| place(&|it| it["event"] == "unit_started" && it["unit"] == unit);
        let landed = |unit: &str| place(&|it| it["note"] == "landed" && it["unit"] == unit);
        let apart = landed("F-OVER-1") < begun(OVER + 1) || landed("F-OVER-2") < begun(OVER);
        assert!(apart, "both at once");
    }

    /// What each role has noted is in raw.md, whoever plays it; what two features bear out is learned.
    fn remembered(rig: &Rig) {
        let raw = said(rig, &["memory", "show", "raw"]);
        for (role, unit) in [
            ("mission-planner", ""),
            ("plan-reviewer", ""),
            ("mission-worker", "F-LAST"),
            ("mission-worker", "F-FIX-LIST-1"),
            ("mission-architect", "F-UNIT"),
            ("validator", "F-GREET"),
            ("crosscheck", "F-LIST"),
            ("documenter", ""),
            ("curator", ""),
        ] {
            assert!(raw.contains(&note(role, unit)), "{role} {unit}: {raw}");
        }
        assert!(raw.contains("conflict-resolver was at F-"), "{raw}");
        assert_eq!(raw.matches(TRICK).count(), 2, "{raw}");
        assert_eq!(said(rig, &["memory", "show", "summary"]).trim(), SUMMARY);
        let learned = said(rig, &["memory", "show", "mission-worker"]);
        assert!(learned.contains(TRICK.trim_start_matches("TRICK: ")), "{learned}");
    }

    /// What was settled is what the server has counted, of each agent.
    fn billed(rig: &Rig) {
        let bill = json_of(rig, &["cost", "--json"]);
        let rows = bill["by"]["agent"].as_array().unwrap();
        for (agent, api) in [("claude", Api::Messages), ("codex", Api::Responses)] {
            let row = rows.iter().find(|it| it["agent"] == agent).unwrap();
            let figures = ["input_tokens", "cached_tokens", "cache_write_tokens", "output_tokens"];
            let settled: u64 = figures.iter().map(|name| row[*name].as_u64().unwrap()).sum();
            let all = rig.server.requests().into_iter().filter(|one| one.request.api == api);
            let usage = all.filter_map(|one| one.answered?.usage);
            let counted: u64 = usage.map(|usage| usage.input() + usage.output).sum();
            assert!(counted > 0);
            assert_eq!(settled, counted, "{agent}: {bill:#}");
        }
    }

    /// The report has each feature and each claim.
    fn reported(rig: &Rig) {
        let report = said(rig, &["report"]);
        let page = rig.scratch.path("report.html");
        said(rig, &["report", "--html", page.to_str().unwrap()]);
        let page = fs::read_to_string(page).unwrap();
        for id in ids(wide()) {
            for (what, text) in [("Markdown", &report), ("HTML", &page)] {
                assert!(text.contains(&id), "{what}: {id}: {text}");
                assert!(text.contains(&val(&id)), "{what}: {}: {text}", val(&id));
            }
        }
        assert!(page.contains("<svg") && report.contains("F-FIX-LIST-1"), "{report}");
    }

    /// What the cache found is what the server has read from it, by role and agent, and what is ours is the same each time.
    /// Of what can be cached in all requests but the first, how much was found.
    fn cached(rig: &Rig, requests: &[Exchange]) -> String {
        let told = json_of(rig, &["log", "--cache", "--json"]);
        let rows = told["roles"].as_array().unwrap();
        let (mut often, mut found) = (BTreeSet::new(), String::new());
        let figures = rig.server.cache();
        for row in rows {
            let (role, agent) = (row["role"].as_str().unwrap(), row["agent"].as_str().unwrap());
            let api = if agent == "claude" { Api::Messages } else { Api::Responses };
            let own = requests
                .iter()
                .filter(|it| it.request.api == api && it.request.role().as_deref() == Some(role));
            let own: Vec<&Exchange> = own.collect();
            let usage = own.iter().filter_map(|one| one.answered.as_ref()?.usage);
            let read: u64 = usage.map(|usage| usage.read).sum();
            assert_eq!(row["cached_tokens"], read, "{role}, {agent}: {told:#}");
            let serials: Vec<u64> = own.iter().skip(1).map(|it| it.request.serial).collect();
            let later = figures.iter().filter(|it| serials.contains(&it.serial));
            let (read, all) =
                later.fold((0, 0), |(read, all), it| (read + it.read, all + it.cacheable));
            let firsts: Vec<&Exchange> =
                own.into_iter().filter(|it| it.request.answers() == 0).collect();
            if firsts.len() < 2 {
                continue;
            }
            // By what the journal has of our prompts, and by what has come to the server. What a curator has roles remember
            // stands in front: a prompt is another one once that has changed.
            let chapters = chapters(&firsts);
            let least = if chapters.len() == 1 { 99.9 } else { 98.0 };
            assert!(row["same_percent"].as_f64().unwrap() >= least, "{role}, {agent}: {told:#}");
            for chapter in chapters.values().filter(|chapter| chapter.len() > 1) {
                assert!(own_share(chapter) >= 0.999, "{role}, {agent}: {}", own_share(chapter));
            }
            // Whoever is asked now and then finds little.
            if firsts.len() >= 5 && role != "curator" {
                let share = 100.0 * read as f64 / all as f64;
                found.push_str(&format!("{role}, {agent}: {share:.2} % of what can be cached\n"));
                often.insert(format!("{role}, {agent}"));
                assert!(row["hit_percent"].as_f64().unwrap() > 80.0, "{role}, {agent}: {told:#}");
            }
        }
        let asked_often = ["crosscheck, codex", "mission-worker, claude", "validator, codex"];
        assert!(asked_often.iter().all(|it| often.contains(*it)), "{often:?}");
        found
    }

    /// What a role is asked first each time, by what it remembers then.
    fn chapters<'a>(firsts: &[&'a Exchange]) -> BTreeMap<[bool; 2], Vec<&'a Exchange>> {
        let mut chapters: BTreeMap<_, Vec<&Exchange>> = BTreeMap::new();
        for first in firsts {
            let own = own(first);
            let trick = TRICK.trim_start_matches("TRICK: ");
            chapters.entry([SUMMARY, trick].map(|it| own.contains(it))).or_default().push(*first);
        }
        chapters
    }
}
