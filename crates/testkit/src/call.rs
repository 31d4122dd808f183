//! Calls of tools by what they do, and which of the tools that an agent really offers does it.

use serde_json::{Value, json};

use crate::reply::{Bit, Use};
use crate::request::{Form, Request, Tool};

/// What a model wants a tool to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Call {
    /// Run a command.
    Shell(String),
    /// Write a file. (Claude Code wants a file that is there already to be read first.)
    Write {
        /// Which.
        path: String,
        /// What is to be in it.
        text: String,
    },
    /// Read a file.
    Read(String),
    /// Answer in the form that was asked for.
    Structured(Value),
    /// Call a tool by its name.
    Named {
        /// The tool.
        tool: String,
        /// What it is given: an object, or text for a tool that takes text.
        input: Value,
    },
    /// Call a tool that there may not be.
    MadeUp {
        /// The tool.
        tool: String,
        /// What it is given.
        input: Value,
    },
}

/// Tools that run a command, the best first.
const SHELLS: &[&str] =
    &["Bash", "bash", "exec_command", "shell_command", "shell", "run_shell_command", "local_shell"];

/// Tools that write a whole file.
const WRITERS: &[&str] = &["Write", "write", "write_file"];

/// Tools that read one.
const READERS: &[&str] = &["Read", "read", "read_file"];

/// Tools that an answer in a form is given with.
const ANSWERS: &[&str] = &["StructuredOutput", "answer"];

/// What tools call the command they are given.
const COMMANDS: &[&str] = &["command", "cmd"];

/// What they call a path.
const PATHS: &[&str] = &["file_path", "filePath", "absolute_path", "path"];

impl Call {
    /// Run a command.
    pub fn shell(command: impl Into<String>) -> Self {
        Call::Shell(command.into())
    }

    /// Write a file.
    pub fn write(path: impl Into<String>, text: impl Into<String>) -> Self {
        Call::Write { path: path.into(), text: text.into() }
    }

    /// Read a file.
    pub fn read(path: impl Into<String>) -> Self {
        Call::Read(path.into())
    }

    /// Answer in the form that was asked for.
    #[must_use]
    pub fn structured(answer: Value) -> Self {
        Call::Structured(answer)
    }

    /// Call a tool by its name.
    pub fn named(tool: impl Into<String>, input: Value) -> Self {
        Call::Named { tool: tool.into(), input }
    }

    /// Call a tool that there may not be: models make some up.
    pub fn made_up(tool: impl Into<String>, input: Value) -> Self {
        Call::MadeUp { tool: tool.into(), input }
    }

    /// The same in terms of what the agent offers. Where it offers nothing that would do, a text says so: an agent that
    /// was started without the tools that a script needs is a mistake in the test, and is seen at once that way.
    pub(crate) fn resolve(&self, request: &Request, id: String) -> Bit {
        let found = match self {
            Call::Shell(command) => shell(request, command),
            Call::Write { path, text } => write(request, path, text),
            Call::Read(path) => read(request, path),
            Call::Structured(answer) => return structured(request, answer, id),
            Call::MadeUp { tool, input } => {
                let (name, input) = (tool.clone(), input.clone());
                return Bit::Use(Use { id, name, namespace: None, form: Form::Function, input });
            }
            Call::Named { tool, input } => {
                request.tool(tool).map(|tool| (tool, with_required(tool, input.clone())))
            }
        };
        match found {
            Some((tool, input)) => Bit::Use(used(tool, input, id)),
            None => Bit::Text(format!("[the testkit found no tool for {self:?}]")),
        }
    }
}

fn used(tool: &Tool, input: Value, id: String) -> Use {
    let Tool { name, namespace, form, .. } = tool;
    Use { id, name: name.clone(), namespace: namespace.clone(), form: *form, input }
}

type Found<'a> = Option<(&'a Tool, Value)>;

fn shell<'a>(request: &'a Request, command: &str) -> Found<'a> {
    let known = SHELLS.iter().find_map(|name| request.tool(name));
    if let Some(tool) = known {
        return Some((tool, command_for(tool, command)));
    }
    let script = request.tool("exec").filter(|tool| tool.form == Form::Text)?;
    let given = json!({"cmd": command});
    let code = format!(
        "const said = await tools.exec_command({given});\n\
         text(typeof said === \"string\" ? said : (said.output ?? JSON.stringify(said)));\n"
    );
    Some((script, Value::String(code)))
}

fn command_for(tool: &Tool, command: &str) -> Value {
    if tool.form == Form::LocalShell {
        return json!(["bash", "-lc", command]);
    }
    let name = property(tool, COMMANDS);
    let value =
        if is(tool, name, "array") { json!(["bash", "-lc", command]) } else { json!(command) };
    with_required(tool, json!({name: value}))
}

fn write<'a>(request: &'a Request, path: &str, text: &str) -> Found<'a> {
    if let Some(tool) = WRITERS.iter().find_map(|name| request.tool(name)) {
        let input = json!({property(tool, PATHS): path, "content": text});
        return Some((tool, with_required(tool, input)));
    }
    let patch = request.tool("apply_patch").filter(|tool| tool.form == Form::Text);
    match patch {
        Some(tool) if text.ends_with('\n') => Some((tool, Value::String(added(path, text)))),
        _ => shell(request, &writing(path, text)),
    }
}

fn read<'a>(request: &'a Request, path: &str) -> Found<'a> {
    if let Some(tool) = READERS.iter().find_map(|name| request.tool(name)) {
        return Some((tool, with_required(tool, json!({property(tool, PATHS): path}))));
    }
    shell(request, &format!("cat -- {}", quoted(path)))
}

fn structured(request: &Request, answer: &Value, id: String) -> Bit {
    match ANSWERS.iter().find_map(|name| request.tool(name)) {
        Some(tool) => Bit::Use(used(tool, answer.clone(), id)),
        None => Bit::Text(answer.to_string()),
    }
}

/// The first of these names that the tool takes.
fn property<'a>(tool: &Tool, names: &[&'a str]) -> &'a str {
    let taken = |name: &&&str| tool.schema["properties"].get(**name).is_some();
    names.iter().find(taken).unwrap_or(&names[0])
}

/// Whether what a tool calls by that name is of this type. Some of Google's schemas have types in capitals.
fn is(tool: &Tool, name: &str, kind: &str) -> bool {
    let known = tool.schema["properties"][name]["type"].as_str();
    known.is_some_and(|known| known.eq_ignore_ascii_case(kind))
}

/// What a tool is given, with a text for each further text that it demands: a description, mostly.
fn with_required(tool: &Tool, input: Value) -> Value {
    let Value::Object(mut input) = input else { return input };
    for name in tool.schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if is(tool, name, "string") && !input.contains_key(name) {
            input.insert(name.to_owned(), Value::from("as the script says"));
        }
    }
    Value::Object(input)
}

/// A patch that adds a file, in the words of `apply_patch`.
fn added(path: &str, text: &str) -> String {
    let lines: String = text.lines().map(|line| format!("+{line}\n")).collect();
    format!("*** Begin Patch\n*** Add File: {path}\n{lines}*** End Patch\n")
}

/// A command that writes a file.
fn writing(path: &str, text: &str) -> String {
    let path = quoted(path);
    let dir = format!("mkdir -p -- \"$(dirname -- {path})\"");
    if !text.ends_with('\n') {
        return format!("{dir} && printf %s {} > {path}", quoted(text));
    }
    let mut end = "END".to_owned();
    while text.lines().any(|line| line == end) {
        end.push('_');
    }
    format!("{dir} && cat > {path} <<'{end}'\n{text}{end}\n")
}

/// A text as a shell takes it for one word.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::wire;

    fn offering(tools: Value) -> Request {
        let body = json!({"model": "m", "tools": tools, "input": []});
        wire::example("/v1/responses", &body)
    }

    fn resolved(call: &Call, tools: Value) -> (String, Value) {
        match call.resolve(&offering(tools), "c".into()) {
            Bit::Use(call) => (call.name, call.input),
            Bit::Text(text) | Bit::Thinking(text) => ("text".into(), text.into()),
        }
    }

    fn function(name: &str, properties: Value, required: Value) -> Value {
        json!({"type": "function", "name": name, "parameters":
            {"type": "object", "properties": properties, "required": required}})
    }

    #[test]
    fn a_command_goes_to_whatever_runs_commands() {
        let string = json!({"type": "string"});
        let exec = function("exec_command", json!({"cmd": string}), json!(["cmd"]));
        let call = Call::shell("ls");
        assert_eq!(resolved(&call, json!([exec])), ("exec_command".into(), json!({"cmd": "ls"})));
        let list = function("shell", json!({"command": {"type": "array"}}), json!([]));
        let input = json!({"command": ["bash", "-lc", "ls"]});
        assert_eq!(resolved(&call, json!([list])), ("shell".into(), input));
        let local = json!({"type": "local_shell"});
        assert_eq!(
            resolved(&call, json!([local])),
            ("local_shell".into(), json!(["bash", "-lc", "ls"]))
        );
        let bash = json!({"command": string, "description": string});
        let bash = function("bash", bash, json!(["command", "description"]));
        let input = json!({"command": "ls", "description": "as the script says"});
        assert_eq!(resolved(&call, json!([bash])), ("bash".into(), input));
    }

    #[test]
    fn in_code_mode_a_command_is_a_line_of_javascript() {
        let (name, code) =
            resolved(&Call::shell("echo \"x\""), json!([{"type": "custom", "name": "exec"}]));
        assert_eq!(name, "exec");
        assert!(code.as_str().unwrap().contains(r#"tools.exec_command({"cmd":"echo \"x\""})"#));
    }

    #[test]
    fn a_file_is_written_with_a_tool_a_patch_or_a_command() {
        let path = json!({"filePath": {"type": "string"}, "content": {"type": "string"}});
        let write = function("write", path, json!(["filePath", "content"]));
        let call = Call::write("a/b", "x\ny\n");
        let input = json!({"filePath": "a/b", "content": "x\ny\n"});
        assert_eq!(resolved(&call, json!([write])), ("write".into(), input));
        let patch = json!({"type": "custom", "name": "apply_patch"});
        let exec = function("exec_command", json!({"cmd": {"type": "string"}}), json!(["cmd"]));
        let text = "*** Begin Patch\n*** Add File: a/b\n+x\n+y\n*** End Patch\n";
        let both = json!([exec.clone(), patch]);
        assert_eq!(resolved(&call, both.clone()), ("apply_patch".into(), text.into()));
        assert_eq!(resolved(&Call::write("a", "no line"), both).0, "exec_command");
        let (name, input) = resolved(&call, json!([exec]));
        assert_eq!(name, "exec_command");
        assert_eq!(
            input["cmd"],
            "mkdir -p -- \"$(dirname -- 'a/b')\" && cat > 'a/b' <<'END'\nx\ny\nEND\n"
        );
    }

    #[test]
    fn what_is_written_by_a_command_comes_out_as_it_was() {
        for text in ["", "a", "it's $HOME\n", "x\nEND\nEND_\ny\n", "`a` \\n\n\n", "'\n'"] {
            let command = writing("-", text);
            let dir = std::env::temp_dir();
            let dir = dir.join(format!("windlass-testkit-{}", std::process::id()));
            std::fs::create_dir_all(&dir).unwrap();
            let mut sh = Command::new("sh");
            assert!(sh.args(["-c", &command]).current_dir(&dir).status().unwrap().success());
            assert_eq!(std::fs::read_to_string(dir.join("-")).unwrap(), text);
            std::fs::remove_dir_all(&dir).unwrap();
        }
    }

    #[test]
    fn an_answer_in_a_form_is_a_tool_or_a_text() {
        let call = Call::structured(json!({"ok": true}));
        let tool = function("StructuredOutput", json!({}), json!([]));
        assert_eq!(
            resolved(&call, json!([tool])),
            ("StructuredOutput".into(), json!({"ok": true}))
        );
        assert_eq!(resolved(&call, json!([])), ("text".into(), r#"{"ok":true}"#.into()));
    }

    #[test]
    fn a_call_that_nothing_offered_can_do_says_so() {
        let (name, text) = resolved(&Call::shell("ls"), json!([]));
        assert_eq!(name, "text");
        assert!(text.as_str().unwrap().contains("no tool for Shell(\"ls\")"));
    }
}
