//! What the model is told of the tools that it may use.

use serde_json::{Value, json};

use super::{ANSWER, shell};
use crate::api::wire::Tool;

/// What a role may use by the words that roles use, in an order that stays the same; everything, if there is none.
pub(super) fn offered(may_use: &[String], schema: &Value) -> Vec<Tool> {
    let may = |words: &[&str]| {
        may_use.is_empty() || words.iter().any(|word| may_use.iter().any(|own| own == word))
    };
    let all = [
        (may(&["read"]), read()),
        (may(&["read", "search"]), search()),
        (may(&["edit"]), edit()),
        (may(&["edit"]), write()),
        (may(&["run"]), run()),
        (true, answer(schema)),
    ];
    all.into_iter().filter(|(may, _)| *may).map(|(_, tool)| tool).collect()
}

fn object(properties: Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required})
}

fn path() -> Value {
    json!({"type": "string", "description": "from the working directory"})
}

fn read() -> Tool {
    let line = |if_not: &str| json!({"type": "integer", "minimum": 1, "description": if_not});
    let properties = json!({
        "path": path(),
        "first_line": line("1, if not said"),
        "last_line": line("the file's last, if not said"),
    });
    Tool {
        name: "read",
        about: "Reads a text file. Each line comes with its number and a tab, which are not part of it.",
        schema: object(properties, &["path"]),
    }
}

fn search() -> Tool {
    let properties = json!({
        "pattern": {"type": "string", "description": "a regular expression"},
        "glob": {"type": "string"},
        "path": {"type": "string", "description": "a directory; the working directory, if not said"},
    });
    Tool {
        name: "search",
        about: "Finds lines that match a regular expression, in all files below a directory or in those whose names \
                match a glob such as `*.rs` or `src/**/*.py`. Without a pattern it lists the files.",
        schema: object(properties, &[]),
    }
}

fn edit() -> Tool {
    let properties = json!({
        "path": path(),
        "old": {"type": "string", "description": "what is there now"},
        "new": {"type": "string", "description": "what is to be there instead"},
    });
    Tool {
        name: "edit",
        about: "Replaces a text in a file by another. The old text must be in the file exactly once, with every space \
                and line as it stands there.",
        schema: object(properties, &["path", "old", "new"]),
    }
}

fn write() -> Tool {
    let content = json!({"type": "string", "description": "all of the file"});
    Tool {
        name: "write",
        about: "Writes a whole file, with the directories above it, over whatever is there.",
        schema: object(json!({"path": path(), "content": content}), &["path", "content"]),
    }
}

fn run() -> Tool {
    let seconds = json!({
        "type": "integer",
        "minimum": 1,
        "maximum": shell::SECONDS_MAX,
        "description": format!("how long it may take; {}, if not said", shell::SECONDS),
    });
    Tool {
        name: "shell",
        about: "Runs a command with `sh -c` in the working directory, and says what it printed and how it ended. \
                Nothing that it starts outlives it.",
        schema: object(json!({"command": {"type": "string"}, "seconds": seconds}), &["command"]),
    }
}

fn answer(schema: &Value) -> Tool {
    Tool {
        name: ANSWER,
        about: "Gives your answer, when everything is done or cannot be done. It ends your work.",
        schema: schema.clone(),
    }
}
