//! Tests that do not run, or keep others from running.

use super::Around;
use super::language::Language;

pub fn is_disabled(around: &Around<'_>, at: usize) -> bool {
    let line = &around.lines[at];
    let code = line.code.trim();
    match around.language {
        Language::JavaScript => is_javascript(code),
        Language::Python => {
            let always = ["@pytest.mark.skip", "@unittest.skip", "@skip("];
            let depends = ["@pytest.mark.skipif", "@unittest.skipIf", "@unittest.skipUnless"];
            always.iter().any(|mark| code.starts_with(mark))
                && !depends.iter().any(|mark| code.starts_with(mark))
        }
        Language::Rust => code == "#[ignore]" || code.starts_with("#[ignore ="),
        Language::Go => {
            let skips =
                ["t.Skip(", "t.SkipNow(", "t.Skipf("].iter().any(|call| code.starts_with(call));
            let before = around.lines[..at].iter().rev().find(|line| !line.whole.trim().is_empty());
            // Where it depends on something, it is a choice.
            let depends =
                before.is_some_and(|line| line.code.contains("if ") || line.code.contains("case "));
            skips && !depends
        }
        Language::Java => {
            let marks = ["@Disabled", "@Ignore", "[Ignore", "@XCTSkip"];
            let apart = |mark: &&&str| {
                let rest = &code[mark.len()..];
                !rest.starts_with(|it: char| it.is_alphanumeric())
            };
            marks.iter().filter(|mark| code.starts_with(**mark)).any(|mark| apart(&mark))
                || code.contains("Fact(Skip")
                || code.contains("Theory(Skip")
        }
        Language::Ruby => ["xit ", "xdescribe ", "xcontext ", "skip \"", "skip '"]
            .iter()
            .any(|it| code.starts_with(it)),
        Language::Php => code.contains("markTestSkipped(") || code.contains("markTestIncomplete("),
        Language::C => code.contains("TEST(") && code.contains("DISABLED_"),
        Language::Shell | Language::Page => false,
    }
}

/// `it.skip("…"`, `xit("…"`, `describe.only("…"`; what is skipped under a condition is not.
fn is_javascript(code: &str) -> bool {
    let who = ["it", "test", "describe", "suite", "context"];
    let begins = |call: &str| {
        let at = code.find(call)?;
        let apart = code[..at]
            .chars()
            .next_back()
            .is_none_or(|it| !(it.is_alphanumeric() || it == '_' || it == '.'));
        apart.then(|| code[at + call.len()..].trim_start())
    };
    let named = |rest: &str| rest.starts_with(['"', '\'', '`']);
    who.iter().any(|who| {
        let by_word = ["skip", "only"]
            .iter()
            .any(|word| begins(&format!("{who}.{word}(")).is_some_and(named));
        by_word || begins(&format!("x{who}(")).is_some_and(named)
    }) || ["fit(", "fdescribe("].iter().any(|call| begins(call).is_some_and(named))
}
