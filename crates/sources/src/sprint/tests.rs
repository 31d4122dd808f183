use super::*;
use crate::plans::{Plans, Row};

fn row(content: &str, dod: &str) -> Row {
    let text = format!(
        "| Task | Content | DoD | Depends | Status |\n|---|---|---|---|---|\n\
         | 26.1 | {content} | {dod} | 25, 24.1 | cc:TODO |\n"
    );
    Plans::read(text).rows()[0].clone()
}

fn commands() -> BTreeMap<String, String> {
    [("test", "npm test"), ("lint", "npx eslint ."), ("serve", "npm start")]
        .map(|(name, command)| (name.to_owned(), command.to_owned()))
        .into()
}

fn number() -> Number {
    Number::of("26.1").unwrap()
}

#[test]
fn a_draft_has_what_follows_from_the_row_and_the_project() {
    let row = row(
        "Users can log in",
        "(a) `POST /login` answers 200, (b) a wrong password is 401; `npm run e2e` passes",
    );
    let contract = SprintContract::draft(&row, &commands());
    assert_eq!(
        contract.write(),
        r#"{
  "schema_version": "sprint-contract.v1",
  "task": {
    "id": "26.1",
    "title": "Users can log in",
    "definition_of_done": "(a) `POST /login` answers 200, (b) a wrong password is 401; `npm run e2e` passes",
    "depends_on": [
      "25",
      "24.1"
    ]
  },
  "contract": {
    "checks": [
      {
        "id": "check-1",
        "description": "`POST /login` answers 200",
        "source": "dod"
      },
      {
        "id": "check-2",
        "description": "a wrong password is 401",
        "source": "dod"
      },
      {
        "id": "check-3",
        "description": "`npm run e2e` passes",
        "source": "dod"
      }
    ],
    "non_goals": [],
    "runtime_validation": [
      {
        "label": "test",
        "command": "npm test"
      },
      {
        "label": "lint",
        "command": "npx eslint ."
      },
      {
        "label": "dod",
        "command": "npm run e2e"
      }
    ],
    "browser_validation": [],
    "risk_flags": [
      "security-sensitive"
    ]
  },
  "review": {
    "reviewer_profile": "runtime"
  },
  "approval": {
    "status": "draft"
  }
}
"#
    );
    assert_eq!(contract.flaws(&number()), [""; 0]);
}

#[test]
fn what_is_seen_in_a_browser_is_looked_at_in_one() {
    let row = row("Add a button", "the button is green; docs are there");
    let contract = SprintContract::draft(&row, &BTreeMap::new());
    assert_eq!(contract.review.reviewer_profile, Profile::Browser);
    assert_eq!(contract.review.browser_mode, Some(BrowserMode::Exploratory));
    assert_eq!(contract.contract.browser_validation[0].description, "the button is green");
    assert_eq!(contract.contract.browser_validation.len(), 1);
    assert_eq!(contract.contract.risk_flags, ["ux-regression"]);
    for content in ["Spike: another parser", "Evaluate three databases", "A prototype of it"] {
        let row = self::row(content, "there is an answer");
        let flags = SprintContract::draft(&row, &BTreeMap::new()).contract.risk_flags;
        assert_eq!(flags, ["needs-spike"], "{content}");
    }
    let plain = SprintContract::draft(&self::row("Build it", "-"), &BTreeMap::new());
    assert_eq!(plain.review.reviewer_profile, Profile::Static);
    assert_eq!(plain.contract.checks[0].description, "Build it");
    let none = BTreeMap::new();
    let some = BTreeMap::from([("test".to_owned(), "npm test".to_owned())]);
    for row in [row, self::row("Build it", "-"), self::row("Build it", "`cargo test` passes")] {
        for commands in [&none, &some] {
            let drafted = SprintContract::draft(&row, commands).review.reviewer_profile;
            assert_eq!(SprintContract::profile(&row, commands), drafted, "{row:?}");
        }
    }
    assert_eq!(plain.contract.risk_flags, [""; 0]);
}

#[test]
fn a_contract_is_worked_on_as_it_was_approved_or_not_at_all() {
    let mut draft = SprintContract::draft(&row("a", "b"), &commands());
    assert_eq!(draft.standing(None), Standing::Unapproved);
    draft.enrich(["Verify DoD from reviewer perspective", " b ", "b", ""]);
    let checks: Vec<_> = draft
        .contract
        .checks
        .iter()
        .map(|it| (it.id.as_str(), it.description.as_str(), it.source))
        .collect();
    assert_eq!(
        checks,
        [
            ("check-1", "b", Origin::Dod),
            ("check-2", "Verify DoD from reviewer perspective", Origin::Reviewer)
        ]
    );
    let approved = draft.clone().approved("contract-reviewer");
    let digest = approved.digest.clone().unwrap();
    assert_eq!(approved.standing(Some(&digest)), Standing::Ready);
    // Read again it is the same.
    let read = SprintContract::read("c.json", &approved.write()).unwrap();
    assert_eq!((&read, read.standing(Some(&digest))), (&approved, Standing::Ready));
    // Whatever is changed is noticed, also by somebody who seals it anew.
    for change in [
        approved.write().replace("npm test", "true"),
        approved.write().replace("\"b\"", "\"c\""),
        approved.write().replace("\"runtime\"", "\"static\""),
        approved.write().replace("  \"approval\"", "  \"extra\": 1,\n  \"approval\""),
        approved.write().replace("contract-reviewer", "worker"),
        approved.write().replace(&digest, "00"),
    ] {
        let changed = SprintContract::read("c.json", &change).unwrap();
        assert_eq!(changed.standing(Some(&digest)), Standing::Changed, "{change}");
        let sealed = changed.clone().approved("contract-reviewer");
        if sealed.seal() != digest {
            assert_eq!(sealed.standing(Some(&digest)), Standing::Changed);
        }
    }
    // What only says that it is approved is not: nobody knows of it.
    assert_eq!(approved.standing(None), Standing::Unapproved);
    let taken_back = approved.write().replace("\"approved\"", "\"draft\"");
    let taken_back = SprintContract::read("c.json", &taken_back).unwrap();
    assert_eq!(taken_back.standing(Some(&digest)), Standing::Unapproved);
}

#[test]
fn what_a_role_writes_may_be_words_alone() {
    let text = r#"{ "task": { "id": "26.1" },
        "contract": { "checks": ["it works", {"id": "mine", "description": "fast", "source": "reviewer"}],
                      "runtime_validation": ["npm test", {"command": "npm run lint", "label": "lint"}],
                      "browser_validation": ["look at it"] },
        "review": { "reviewer_profile": "browser", "browser_mode": "scripted", "route": "agent-browser" },
        "note": 7 }"#;
    let contract = SprintContract::read("c.json", text).unwrap();
    assert_eq!(contract.contract.checks[0].description, "it works");
    assert_eq!(contract.contract.checks[1].source, Origin::Reviewer);
    assert_eq!(contract.contract.runtime_validation[1].label, "lint");
    assert_eq!(contract.review.route, Some(Route::AgentBrowser));
    assert_eq!(contract.more["note"], 7);
    let flaws = [
        "its browser is scripted, and no flow has steps",
        "its browser is scripted, which is by way of chrome-devtools, and its route is agent-browser",
    ];
    assert_eq!(contract.flaws(&number()), flaws);
    let named = contract.approved("x");
    assert_eq!(
        (named.contract.checks[0].id.as_str(), named.contract.checks[1].id.as_str()),
        ("check-1", "mine")
    );
}

#[test]
fn what_is_no_contract_is_said() {
    for (text, want) in [
        ("{", "c.json: EOF while parsing an object at line 1 column 1"),
        ("{}", "c.json: missing field `task` at line 1 column 2"),
        (
            r#"{"schema_version": "2", "task": {"id": "1"}, "contract": {"checks": []}, "review": {}}"#,
            "c.json: it is of form \"2\", and not \"sprint-contract.v1\"",
        ),
    ] {
        assert_eq!(SprintContract::read("c.json", text).unwrap_err().to_string(), want);
    }
    let empty = r#"{"task": {"id": "1"}, "contract": {"checks": [], "runtime_validation": [" "]}, "review": {}}"#;
    let contract = SprintContract::read("c.json", empty).unwrap();
    assert_eq!(
        contract.flaws(&number()),
        [
            "it is about task 1, and not about 26.1",
            "it checks nothing",
            "one of its commands is empty"
        ]
    );
    assert_eq!(path(&number()), ".claude/state/contracts/26.1.sprint-contract.json");
}

#[test]
fn the_published_schema_is_the_one_of_this_program() {
    let published = include_str!("../../../../docs/sprint-contract.schema.json");
    let published: Json = serde_json::from_str(published).unwrap();
    assert_eq!(
        published,
        schema(),
        "cargo run -p windlass-sources --example sprint-contract-schema > docs/sprint-contract.schema.json"
    );
}
