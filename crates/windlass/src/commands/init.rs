//! `windlass init`: writes a windlass.toml to start from. It overwrites nothing.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

use clap::Args;

use crate::config;
use crate::error::{Error, writing};
use crate::exit::Exit;
use crate::render::Output;
use crate::workplace::Workplace;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  windlass init
  windlass init --schema > windlass.schema.json
")]
pub struct InitArgs {
    /// Print the JSON schema of windlass.toml instead, for editors
    #[arg(long)]
    schema: bool,
}

const TEMPLATE: &str = r#"# What Windlass works with here. It is read from the last commit of the branch, so commit it.

[agents.mine]
kind    = "command"             # the prompt comes on standard input; the answer ends with a JSON object
command = ["my-agent"]
# cost  = "none"                # say so if it costs nothing; otherwise unknown costs count in full

# [agents.claude]               # Claude Code, with ANTHROPIC_API_KEY; "codex" is Codex, with OPENAI_API_KEY
# kind   = "claude"
# models = { strong = "opus", standard = "sonnet", fast = "haiku" }

[roles]
default = "mine"                # who plays every role that is not named here

[checks]                        # what is not set is detected; `false` turns one off
# setup      = "npm ci"
# build      = "make"
# test       = "make test"
# lint       = "make lint"
# type-check = false

[lanes]
# copy = [".env"]               # files that git does not know and lanes need

[budget]
run        = { dollars = 20, minutes = 480 }
unit       = { dollars = 5 }
invocation = { dollars = 2, minutes = 30 }

# [policies.night]              # answers a gate for you when nothing is of concern: here, whether to go on
# stage  = "go_on"              # with the next phase
# answer = "yes"
"#;

pub fn run(args: &InitArgs, out: &mut Output) -> Result<Exit, Error> {
    if args.schema {
        out.json(&config::schema())?;
        return Ok(Exit::Done);
    }
    let place = Workplace::find(Path::new("."))?;
    let path = place.repository.top().join(config::FILE);
    let mut file = match OpenOptions::new().write(true).create_new(true).open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            return Err(Error::usage(format!("{} is there already", path.display()))
                .hint("edit it; it is not overwritten"));
        }
        Err(source) => return Err(Error::unwritable(&path, source)),
    };
    file.write_all(TEMPLATE.as_bytes()).map_err(writing(path.clone()))?;
    out.line(&format!("wrote {}: name your agent there, and commit it", path.display()))?;
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use crate::config::Config;

    #[test]
    fn the_published_schema_is_the_one_of_this_program() {
        let published = include_str!("../../../../docs/windlass.schema.json");
        let published: serde_json::Value = serde_json::from_str(published).unwrap();
        assert_eq!(
            published,
            crate::config::schema(),
            "windlass init --schema > docs/windlass.schema.json"
        );
    }

    #[test]
    fn what_is_written_can_be_read() {
        let config = Config::parse(super::TEMPLATE).unwrap();
        assert_eq!(config.roles["default"].names(), ["mine"]);
    }
}
