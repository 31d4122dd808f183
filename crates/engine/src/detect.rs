//! Which commands check a project: by the files it has, unless the configuration says.
//!
//! The tables are the task workflow's. What is not detected does not exist, and its check is SKIPPED: never a pass.

use serde::{Deserialize, Serialize};

/// The commands that check a project, each a line for the shell. `None` means there is none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commands {
    /// The language, for people and for agents: it stands in every prompt, so it is a word that says something there.
    pub language: String,
    /// Makes a clean checkout ready: dependencies and the like.
    pub setup: Option<String>,
    /// Builds it.
    pub build: Option<String>,
    /// Tests it.
    pub test: Option<String>,
    /// Lints it.
    pub lint: Option<String>,
    /// Checks its types, where the build does not.
    pub type_check: Option<String>,
}

/// What a project is made of.
pub trait Files {
    /// The names of the files at its top.
    fn names(&self) -> Vec<String>;
    /// The text of one of them.
    fn text(&self, name: &str) -> Option<String>;
}

/// Something that a project shows of itself.
#[derive(Clone, Copy)]
enum Sign {
    /// A file of this name.
    Has(&'static str),
    /// A file whose name begins so.
    Begins(&'static str),
    /// A file whose name ends so.
    Ends(&'static str),
    /// A script in package.json.
    Script(&'static str),
    /// A section for a tool in pyproject.toml.
    Tool(&'static str),
}

use Sign::{Begins, Ends, Has, Script, Tool};

/// A language, known by any of its signs.
struct Language {
    signs: &'static [Sign],
    /// What the project is written in, not what runs its commands: `identity` of every prompt shows it.
    name: &'static str,
    test: Command,
    build: Command,
}

/// A command that a language has.
enum Command {
    None,
    Is(&'static str),
    /// Only with this script: `npm test` without one fails, and that would be our doing.
    With(Sign, &'static str),
}

/// The first that shows counts. All tables here stand in docs/configuration.md, "Checks"; a test holds the two together.
const LANGUAGES: &[Language] = &[
    Language {
        signs: &[Has("build.gradle"), Has("build.gradle.kts")],
        name: "java",
        test: Command::Is("./gradlew test"),
        build: Command::Is("./gradlew build"),
    },
    Language {
        signs: &[Has("pom.xml")],
        name: "java",
        test: Command::Is("mvn test"),
        build: Command::Is("mvn compile"),
    },
    Language {
        signs: &[Has("pyproject.toml"), Has("setup.py")],
        name: "python",
        test: Command::Is("pytest"),
        build: Command::None,
    },
    Language {
        signs: &[Has("package.json")],
        name: "typescript",
        test: Command::With(Script("test"), "npm test"),
        build: Command::With(Script("build"), "npm run build"),
    },
    Language {
        signs: &[Ends(".csproj")],
        name: "csharp",
        test: Command::Is("dotnet test"),
        build: Command::Is("dotnet build"),
    },
    Language {
        signs: &[Has("go.mod")],
        name: "go",
        test: Command::Is("go test ./..."),
        build: Command::Is("go build ./..."),
    },
    Language {
        signs: &[Has("Cargo.toml")],
        name: "rust",
        test: Command::Is("cargo test"),
        build: Command::Is("cargo build"),
    },
];

/// Commands by their signs; the first that shows counts.
type Table = &'static [(&'static [Sign], &'static str)];

const LINTERS: Table = &[
    (&[Script("lint")], "npm run lint"),
    (&[Begins(".eslintrc"), Begins("eslint.config.")], "npx eslint ."),
    (&[Tool("ruff")], "ruff check ."),
    (&[Has(".pylintrc"), Tool("pylint")], "pylint ."),
    (&[Has(".golangci.yml"), Has(".golangci.yaml")], "golangci-lint run"),
    (&[Has("Cargo.toml")], "cargo clippy"),
];

const TYPE_CHECKERS: Table = &[
    (&[Has("tsconfig.json")], "npx tsc --noEmit"),
    (&[Has("mypy.ini"), Tool("mypy")], "mypy ."),
    (&[Has("pyrightconfig.json"), Tool("pyright")], "pyright"),
];

/// A clean checkout has no dependencies; the lock file says who brings them.
const SETUPS: Table = &[
    (&[Has("package-lock.json")], "npm ci"),
    (&[Has("pnpm-lock.yaml")], "pnpm install --frozen-lockfile"),
    (&[Has("yarn.lock")], "yarn install --frozen-lockfile"),
    (&[Has("uv.lock")], "uv sync --frozen"),
    (&[Has("poetry.lock")], "poetry install --no-interaction"),
];

/// The commands for a project.
pub fn detect(files: &dyn Files) -> Commands {
    let look = Look { names: files.names(), files };
    let language = LANGUAGES.iter().find(|language| look.any(language.signs));
    Commands {
        language: language.map_or("unknown", |language| language.name).to_owned(),
        setup: look.first(SETUPS),
        build: language.and_then(|language| look.command(&language.build)),
        test: language.and_then(|language| look.command(&language.test)),
        lint: look.first(LINTERS),
        type_check: look.first(TYPE_CHECKERS),
    }
}

struct Look<'a> {
    names: Vec<String>,
    files: &'a dyn Files,
}

impl Look<'_> {
    fn any(&self, signs: &[Sign]) -> bool {
        signs.iter().any(|sign| self.shows(*sign))
    }

    fn shows(&self, sign: Sign) -> bool {
        match sign {
            Has(name) => self.names.iter().any(|own| own == name),
            Begins(with) => self.names.iter().any(|own| own.starts_with(with)),
            Ends(with) => self.names.iter().any(|own| own.ends_with(with)),
            Script(name) => self.script(name),
            Tool(name) => self.tool(name),
        }
    }

    fn first(&self, table: Table) -> Option<String> {
        let (_, command) = table.iter().find(|(signs, _)| self.any(signs))?;
        Some((*command).to_owned())
    }

    fn command(&self, command: &Command) -> Option<String> {
        match command {
            Command::None => None,
            Command::Is(command) => Some((*command).to_owned()),
            Command::With(sign, command) => self.shows(*sign).then(|| (*command).to_owned()),
        }
    }

    /// Whether package.json has a script.
    fn script(&self, name: &str) -> bool {
        let text = self.files.text("package.json");
        let json = text.and_then(|text| serde_json::from_str::<serde_json::Value>(&text).ok());
        json.is_some_and(|json| json.get("scripts").and_then(|all| all.get(name)).is_some())
    }

    /// Whether pyproject.toml has a section for a tool.
    fn tool(&self, name: &str) -> bool {
        let text = self.files.text("pyproject.toml");
        let table = text.and_then(|text| text.parse::<toml::Table>().ok());
        table.is_some_and(|table| table.get("tool").and_then(|all| all.get(name)).is_some())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    struct Made(BTreeMap<&'static str, &'static str>);

    impl Files for Made {
        fn names(&self) -> Vec<String> {
            self.0.keys().map(|name| (*name).to_owned()).collect()
        }

        fn text(&self, name: &str) -> Option<String> {
            self.0.get(name).map(|text| (*text).to_owned())
        }
    }

    fn of(files: &[(&'static str, &'static str)]) -> Commands {
        detect(&Made(files.iter().copied().collect()))
    }

    /// language, test, build, lint, type check; `-` for none.
    fn row(files: &[(&'static str, &'static str)]) -> [String; 5] {
        let commands = of(files);
        let or_dash = |command: Option<String>| command.unwrap_or_else(|| "-".to_owned());
        [
            commands.language,
            or_dash(commands.test),
            or_dash(commands.build),
            or_dash(commands.lint),
            or_dash(commands.type_check),
        ]
    }

    #[test]
    fn languages_by_the_seeds_table() {
        let npm = r#"{"scripts":{"test":"x","build":"y"}}"#;
        let table = [
            (("build.gradle", ""), ["java", "./gradlew test", "./gradlew build", "-", "-"]),
            (("build.gradle.kts", ""), ["java", "./gradlew test", "./gradlew build", "-", "-"]),
            (("pom.xml", ""), ["java", "mvn test", "mvn compile", "-", "-"]),
            (("setup.py", ""), ["python", "pytest", "-", "-", "-"]),
            (("package.json", npm), ["typescript", "npm test", "npm run build", "-", "-"]),
            (("app.csproj", ""), ["csharp", "dotnet test", "dotnet build", "-", "-"]),
            (("go.mod", ""), ["go", "go test ./...", "go build ./...", "-", "-"]),
            (("Cargo.toml", ""), ["rust", "cargo test", "cargo build", "cargo clippy", "-"]),
            (("README.md", ""), ["unknown", "-", "-", "-", "-"]),
        ];
        for (file, want) in table {
            assert_eq!(row(&[file]), want, "{file:?}");
        }
    }

    #[test]
    fn linters_by_the_seeds_table_in_order() {
        let lint = |files: &[(&'static str, &'static str)]| of(files).lint;
        let script = ("package.json", r#"{"scripts":{"lint":"x"}}"#);
        assert_eq!(lint(&[script, (".eslintrc.js", "")]).as_deref(), Some("npm run lint"));
        assert_eq!(lint(&[("eslint.config.mjs", "")]).as_deref(), Some("npx eslint ."));
        assert_eq!(lint(&[("pyproject.toml", "[tool.ruff]")]).as_deref(), Some("ruff check ."));
        assert_eq!(lint(&[("pyproject.toml", "[tool.pylint.x]")]).as_deref(), Some("pylint ."));
        assert_eq!(lint(&[(".pylintrc", "")]).as_deref(), Some("pylint ."));
        assert_eq!(lint(&[(".golangci.yaml", "")]).as_deref(), Some("golangci-lint run"));
        assert_eq!(lint(&[("go.mod", "")]), None);
    }

    #[test]
    fn type_checkers_by_the_seeds_table_in_order() {
        let check = |files: &[(&'static str, &'static str)]| of(files).type_check;
        assert_eq!(check(&[("tsconfig.json", "{}")]).as_deref(), Some("npx tsc --noEmit"));
        assert_eq!(check(&[("mypy.ini", "")]).as_deref(), Some("mypy ."));
        assert_eq!(check(&[("pyproject.toml", "[tool.mypy]")]).as_deref(), Some("mypy ."));
        assert_eq!(check(&[("pyrightconfig.json", "{}")]).as_deref(), Some("pyright"));
        assert_eq!(check(&[("pyproject.toml", "[tool.pyright]")]).as_deref(), Some("pyright"));
        assert_eq!(check(&[("Cargo.toml", "")]), None, "the build includes it");
    }

    #[test]
    fn dependencies_are_brought_by_what_the_lock_file_says() {
        let setup = |name| of(&[("package.json", "{}"), (name, "")]).setup;
        assert_eq!(setup("package-lock.json").as_deref(), Some("npm ci"));
        assert_eq!(setup("uv.lock").as_deref(), Some("uv sync --frozen"));
        assert_eq!(setup("README.md"), None);
    }

    /// A sign as the document has it.
    fn written(sign: &Sign) -> String {
        match sign {
            Has(name) => format!("`{name}`"),
            Begins(with) => format!("`{with}*`"),
            Ends(with) => format!("`*{with}`"),
            Script(name) => format!("a script `{name}` in `package.json`"),
            Tool(name) => format!("`[tool.{name}]` in `pyproject.toml`"),
        }
    }

    fn documented() -> String {
        let signs = |signs: &[Sign]| signs.iter().map(written).collect::<Vec<_>>().join(", ");
        let command = |command: &Command| match command {
            Command::None => "–".to_owned(),
            Command::Is(line) => format!("`{line}`"),
            Command::With(sign, line) => format!("`{line}`, with {}", written(sign)),
        };
        let mut text =
            "| any of these files | language | `test` | `build` |\n|---|---|---|---|\n".to_owned();
        for Language { signs: of, name, test, build } in LANGUAGES {
            let (test, build) = (command(test), command(build));
            text.push_str(&format!("| {} | {name} | {test} | {build} |\n", signs(of)));
        }
        text.push_str("\n| check | any of these | command |\n|---|---|---|\n");
        for (check, table) in [("lint", LINTERS), ("type-check", TYPE_CHECKERS), ("setup", SETUPS)]
        {
            for (of, command) in table {
                text.push_str(&format!("| `{check}` | {} | `{command}` |\n", signs(of)));
            }
        }
        text
    }

    #[test]
    fn the_document_has_what_is_detected() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/configuration.md");
        let page = std::fs::read_to_string(path).unwrap();
        let want = documented();
        assert!(page.contains(&want), "docs/configuration.md, \"Checks\", is to have:\n\n{want}");
    }

    #[test]
    fn an_absent_or_broken_script_is_no_check() {
        assert_eq!(of(&[("package.json", "{}")]).test, None);
        assert_eq!(of(&[("package.json", "not json")]).lint, None);
        assert_eq!(of(&[("pyproject.toml", "[tool")]).lint, None);
    }
}
