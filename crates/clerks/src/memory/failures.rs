//! `.harness/failures.md`: what was given up, with every attempt, so that nobody tries the same again.

/// Where it is.
pub const PATH: &str = ".harness/failures.md";

/// An entry: a line as the seed's harness writes it, and each attempt below it.
pub fn entry(date: &str, skill: &str, kind: &str, what: &str, attempts: &[String]) -> String {
    let line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut text = format!("- **{date} [skill:{skill}] [type:{kind}]:** {}\n", line(what));
    for attempt in attempts {
        text.push_str(&format!("  - {}\n", line(attempt)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_one_line_and_one_for_each_attempt() {
        let text = entry(
            "2026-03-19",
            "harness-autopilot",
            "retries",
            "Task 4:\nwire parser",
            &["Attempt 1: a".into(), "Attempt 2: b\nc".into()],
        );
        assert_eq!(
            text,
            "- **2026-03-19 [skill:harness-autopilot] [type:retries]:** Task 4: wire parser\n  \
             - Attempt 1: a\n  - Attempt 2: b c\n"
        );
    }
}
