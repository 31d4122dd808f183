//! What `jest` prints: `FAIL path`, and below it `● suite › title` for each test that fails, with what is wrong further in.

use super::{Class, Failure};

/// What stands for a file that could not be run.
const NO_SUITE: &str = "Test suite failed to run";

pub fn read(text: &str) -> Vec<Failure> {
    let lines: Vec<&str> = text.lines().collect();
    let mut file = None;
    let mut failures: Vec<Failure> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        if let Some(path) = line.strip_prefix("FAIL ") {
            file = path.split_whitespace().next();
            continue;
        }
        // It says which file failed before it says why.
        let (Some(file), Some(name)) = (file, line.trim_start().strip_prefix("● ")) else {
            continue;
        };
        let test =
            if name.trim() == NO_SUITE { file.to_owned() } else { format!("{file} › {name}") };
        // All of it is told once more at the end.
        if failures.iter().any(|it| it.test.as_deref() == Some(test.trim())) {
            continue;
        }
        let ends = |line: &&&str| {
            let line = line.trim_start();
            !["● ", "FAIL ", "PASS ", "Test Suites:"].iter().any(|it| line.starts_with(it))
        };
        let said = lines[at + 1..].iter().take_while(ends).map(|line| line.trim());
        let said: Vec<&str> = said.filter(|line| !line.is_empty()).take(4).collect();
        failures.push(Failure::of(Some(&test), &said.join("\n"), Class::RuntimeError));
    }
    failures
}
