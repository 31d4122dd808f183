//! What commands have printed, for people.

/// The line of an output that most likely says what is wrong: the last one that speaks of it, or else the last one.
pub fn telling_line(printed: &str) -> String {
    const WORDS: [&str; 7] =
        ["error", "fail", "panic", "assert", "exception", "not ok", "expected"];
    let lines = || printed.lines().map(str::trim).filter(|line| !line.is_empty());
    let speaks = |line: &&str| {
        let line = line.to_lowercase();
        WORDS.iter().any(|word| line.contains(word))
    };
    let line = lines().rfind(speaks).or_else(|| lines().next_back());
    windlass_agents::one_line(line.unwrap_or("it printed nothing"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_that_speaks_of_it_tells() {
        assert_eq!(telling_line("ok\nerror: no x\n\nsee the log\n"), "error: no x");
        assert_eq!(telling_line("one\ntwo\n"), "two");
        assert_eq!(telling_line(""), "it printed nothing");
    }
}
