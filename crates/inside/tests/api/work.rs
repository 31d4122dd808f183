//! Work that goes well, or nearly so.

use std::fs;

use serde_json::{Value, json};
use windlass_agents::api::Format;
use windlass_agents::own::{Fin, Said};
use windlass_testkit::{Call, Reply, Request, Tokens, Turn, Usage};

use crate::rig::Rig;

fn done() -> Reply {
    Reply::structured(json!({"verdict": "done", "summary": "It says hello."}))
}

#[test]
fn a_file_is_written_and_the_answer_is_what_the_model_gave() {
    for format in Format::ALL {
        let rig = Rig::new(format, |request: &Request| match request.answers() {
            0 => Turn::new()
                .thinking("A file.")
                .text("I write it.")
                .call(Call::write("a/hello.txt", "hello\n"))
                .into(),
            _ => done(),
        });
        let told = rig.run();
        assert_eq!(told.end.came, Fin::Done, "{format:?}: {:?}", told.end);
        let answer: Value = serde_json::from_str(&told.end.text).unwrap();
        assert_eq!(answer, json!({"verdict": "done", "summary": "It says hello."}));
        assert_eq!(fs::read_to_string(rig.lane("a/hello.txt")).unwrap(), "hello\n");
        assert!(told.said.contains(&Said::Session { id: "s".into() }));
        assert!(told.said.contains(&Said::Text { text: "I write it.".into() }));
        let about = "a/hello.txt".to_owned();
        assert!(told.said.contains(&Said::Tool { name: "write".into(), about: about.clone() }));
        assert!(told.said.contains(&Said::Change { path: about }));
        assert_eq!(told.turns(), 2);
        // What it used up is what the server says, to the token.
        let want: Vec<[u64; 4]> = rig
            .server
            .requests()
            .iter()
            .map(|exchange| {
                let Usage { fresh, read, written, output } =
                    exchange.answered.as_ref().unwrap().usage.unwrap();
                [fresh, read, written, output]
            })
            .collect();
        assert_eq!(told.used(), want, "{format:?}");
        assert!(told.end.accounted);
        let second = &rig.server.requests()[1].request;
        assert!(second.system.contains("# Your role: worker") && second.streamed);
        assert!(second.tool_results()[0].contains("is written"));
    }
}

#[test]
fn several_tools_that_are_called_at_once_are_all_used_and_answered_together() {
    for format in Format::ALL {
        let rig = Rig::new(format, |request: &Request| match request.answers() {
            0 => Turn::new()
                .call(Call::write("one", "1\n"))
                .call(Call::shell("cat one; echo and > two"))
                .call(Call::read("nowhere"))
                .call(Call::read("two"))
                .into(),
            _ => done(),
        });
        let told = rig.run();
        assert_eq!(told.end.came, Fin::Done, "{format:?}: {:?}", told.end);
        let requests = rig.server.requests();
        assert_eq!(requests.len(), 2);
        let results = requests[1].request.tool_results();
        assert_eq!(results.len(), 4, "{format:?}: {results:?}");
        assert_eq!((results[1], results[3]), ("1\n", "1\tand\n"));
        assert!(results[2].contains("No such file"), "{results:?}");
    }
}

#[test]
fn an_answer_beside_other_calls_comes_after_them() {
    let rig = Rig::new(Format::Openai, |_: &Request| {
        Turn::new()
            .call(Call::structured(json!({"verdict": "done"})))
            .call(Call::write("late", "x"))
            .into()
    });
    let told = rig.run();
    assert_eq!((told.end.came, told.turns()), (Fin::Done, 1));
    assert!(rig.lane("late").exists());
}

#[test]
fn an_answer_that_has_not_the_form_is_told_why_once() {
    for format in Format::ALL {
        let rig = Rig::new(format, |request: &Request| match request.answers() {
            0 => Reply::structured(json!({"verdict": "excellent"})),
            _ => done(),
        });
        let told = rig.run();
        assert_eq!((told.end.came, told.turns()), (Fin::Done, 2), "{format:?}");
        assert!(told.end.text.contains("\"done\""));
        let results = rig.server.requests()[1].request.tool_results().join(" ");
        assert!(results.contains("not one of \"done\", \"failed\""), "{results}");
        // Whoever says it again has said it.
        let stubborn =
            Rig::new(format, |_: &Request| Reply::structured(json!({"verdict": "excellent"})));
        let told = stubborn.run();
        assert_eq!((told.end.came, told.turns()), (Fin::Done, 2), "{format:?}");
        assert!(told.end.text.contains("excellent"));
    }
}

#[test]
fn a_text_that_holds_the_answer_is_one_and_prose_is_asked_about_once() {
    for format in Format::ALL {
        let rig = Rig::new(format, |_: &Request| {
            Reply::text("Here it is:\n```json\n{\"verdict\": \"done\"}\n```")
        });
        let told = rig.run();
        assert_eq!((told.end.came, told.turns()), (Fin::Done, 1), "{format:?}");
        let prose = Rig::new(format, |_: &Request| Reply::text("done: it says hello"));
        let told = prose.run();
        assert_eq!((told.end.came, told.turns()), (Fin::Done, 2), "{format:?}");
        assert_eq!(told.end.text, "done: it says hello");
        assert!(prose.server.requests()[1].request.last_user_text().contains("call `answer`"));
        let silent = Rig::new(format, |_: &Request| Turn::new().into());
        let told = silent.run();
        assert_eq!((told.end.came, told.end.text.as_str()), (Fin::Done, ""), "{format:?}");
    }
}

#[test]
fn a_tool_that_is_not_offered_is_not_used() {
    let brain = |request: &Request| match request.answers() {
        0 => {
            assert!(request.tool("shell").is_none() && request.tool("read").is_some());
            let write = json!({ "path": "written.txt", "content": "x" });
            Turn::new()
                .call(Call::made_up("write", write))
                .call(Call::made_up("shell", json!({ "command": "echo > run.txt" })))
                .into()
        }
        _ => {
            let told = request.tool_results().join("\n");
            assert!(told.contains("no tool `write`") && told.contains("no tool `shell`"), "{told}");
            done()
        }
    };
    let mut rig = Rig::new(Format::Anthropic, brain);
    rig.errand.tools = vec!["read".to_owned(), "web".to_owned()];
    assert_eq!(rig.run().end.came, Fin::Done);
    for name in ["written.txt", "run.txt"] {
        assert!(!rig.lane(name).exists(), "{name}");
    }
    let names: Vec<String> =
        rig.server.requests()[0].request.tools.iter().map(|tool| tool.name.clone()).collect();
    assert_eq!(names, ["read", "search", "answer"]);
}

#[test]
fn a_command_does_not_get_the_key_that_the_model_gets() {
    let brain = |request: &Request| match request.answers() {
        0 => Reply::shell("echo \"[$CARGO_PKG_NAME]\""),
        _ => done(),
    };
    for format in Format::ALL {
        let mut rig = Rig::new(format, brain);
        // Whatever runs the tests sets this.
        rig.own.key = "CARGO_PKG_NAME".to_owned();
        assert_eq!(rig.run().end.came, Fin::Done);
        let requests = rig.server.requests();
        assert_eq!(requests[1].request.key.as_deref(), Some("windlass-inside"));
        assert_eq!(requests[1].request.tool_results(), ["[]\n"]);
        assert_eq!(Rig::new(format, brain).run().end.came, Fin::Done, "and none is needed");
    }
}

#[test]
fn what_a_tool_says_is_bounded() {
    let brain = |request: &Request| match request.answers() {
        0 => Reply::shell("yes | head -c 500000; echo the end"),
        _ => done(),
    };
    let rig = Rig::new(Format::Gemini, brain);
    assert_eq!(rig.run().end.came, Fin::Done);
    let requests = rig.server.requests();
    let result = requests[1].request.tool_results()[0].to_owned();
    assert!(result.len() < 40_000 && result.ends_with("the end\n"), "{}", result.len());
}

#[test]
fn who_says_nothing_of_what_was_used_up_leaves_it_unknown() {
    for format in Format::ALL {
        let rig = Rig::new(format, |_: &Request| {
            let answer = Call::structured(json!({"verdict": "done"}));
            Turn::new().call(answer).tokens(Tokens::Missing).into()
        });
        let told = rig.run();
        assert_eq!((told.end.came, told.end.accounted), (Fin::Done, false), "{format:?}");
        assert_eq!(told.used(), Vec::<[u64; 4]>::new());
    }
}

#[test]
fn turns_and_tokens_are_not_more_than_they_may_be() {
    for format in Format::ALL {
        let mut rig = Rig::new(format, |_: &Request| Reply::shell("true"));
        rig.errand.spend.turns = Some(3);
        let told = rig.run();
        assert_eq!((told.end.came, told.turns()), (Fin::Exhausted, 3), "{format:?}");
        assert!(told.end.accounted);
        rig.errand.spend.turns = None;
        rig.errand.spend.tokens = Some(1_500);
        let told = rig.run();
        assert_eq!(told.end.came, Fin::Exhausted, "{format:?}");
        let used: u64 = told.used().iter().flatten().sum();
        let before: u64 = told.used().iter().rev().skip(1).flatten().sum();
        assert!(used >= 1_500 && before < 1_500, "{format:?}: {used}, {before}");
    }
}
