//! Which commands check a project: by the files it has, unless the configuration says.
//!
//! The tables are the task workflow's. What is not detected does not exist, and its check is SKIPPED: never a pass.

use serde::{Deserialize, Serialize};

/// The commands that check a project, each a line for the shell. `None` means there is none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commands {
    /// The language, for people.
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

/// The commands for a project.
pub fn detect(files: &dyn Files) -> Commands {
    let look = Look { names: files.names(), files };
    let (language, test, build) = look.language();
    let owned = |command: Option<&str>| command.map(str::to_owned);
    Commands {
        language: language.to_owned(),
        setup: owned(look.setup()),
        build: owned(build),
        test: owned(test),
        lint: owned(look.lint()),
        type_check: owned(look.type_check()),
    }
}

struct Look<'a> {
    names: Vec<String>,
    files: &'a dyn Files,
}

impl Look<'_> {
    fn has(&self, name: &str) -> bool {
        self.names.iter().any(|own| own == name)
    }

    fn has_like(&self, fits: impl Fn(&str) -> bool) -> bool {
        self.names.iter().any(|name| fits(name))
    }

    /// Language, test command, build command.
    fn language(&self) -> (&'static str, Option<&'static str>, Option<&'static str>) {
        if self.has("build.gradle") || self.has("build.gradle.kts") {
            ("java", Some("./gradlew test"), Some("./gradlew build"))
        } else if self.has("pom.xml") {
            ("java", Some("mvn test"), Some("mvn compile"))
        } else if self.has("pyproject.toml") || self.has("setup.py") {
            ("python", Some("pytest"), None)
        } else if self.has("package.json") {
            // An absent script is no check: `npm test` without one fails, and that would be our doing.
            let script = |name, command| self.script(name).then_some(command);
            ("typescript", script("test", "npm test"), script("build", "npm run build"))
        } else if self.has_like(|name| name.ends_with(".csproj")) {
            ("csharp", Some("dotnet test"), Some("dotnet build"))
        } else if self.has("go.mod") {
            ("go", Some("go test ./..."), Some("go build ./..."))
        } else if self.has("Cargo.toml") {
            ("rust", Some("cargo test"), Some("cargo build"))
        } else {
            ("unknown", None, None)
        }
    }

    fn lint(&self) -> Option<&'static str> {
        if self.script("lint") {
            Some("npm run lint")
        } else if self
            .has_like(|name| name.starts_with(".eslintrc") || name.starts_with("eslint.config."))
        {
            Some("npx eslint .")
        } else if self.tool("ruff") {
            Some("ruff check .")
        } else if self.has(".pylintrc") || self.tool("pylint") {
            Some("pylint .")
        } else if self.has(".golangci.yml") || self.has(".golangci.yaml") {
            Some("golangci-lint run")
        } else if self.has("Cargo.toml") {
            Some("cargo clippy")
        } else {
            None
        }
    }

    fn type_check(&self) -> Option<&'static str> {
        if self.has("tsconfig.json") {
            Some("npx tsc --noEmit")
        } else if self.has("mypy.ini") || self.tool("mypy") {
            Some("mypy .")
        } else if self.has("pyrightconfig.json") || self.tool("pyright") {
            Some("pyright")
        } else {
            None
        }
    }

    /// A clean checkout has no dependencies; the lock file says who brings them.
    fn setup(&self) -> Option<&'static str> {
        if self.has("package-lock.json") {
            Some("npm ci")
        } else if self.has("pnpm-lock.yaml") {
            Some("pnpm install --frozen-lockfile")
        } else if self.has("yarn.lock") {
            Some("yarn install --frozen-lockfile")
        } else if self.has("uv.lock") {
            Some("uv sync --frozen")
        } else if self.has("poetry.lock") {
            Some("poetry install --no-interaction")
        } else {
            None
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

    #[test]
    fn an_absent_or_broken_script_is_no_check() {
        assert_eq!(of(&[("package.json", "{}")]).test, None);
        assert_eq!(of(&[("package.json", "not json")]).lint, None);
        assert_eq!(of(&[("pyproject.toml", "[tool")]).lint, None);
    }
}
