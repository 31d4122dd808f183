//! The patch in what somebody said: the blocks that are marked as one, or all of it, if it is one itself.

/// What is in the blocks of a text that are marked as a patch; all of it, if it begins like one. Nothing, if no line of
/// it says where a change goes.
pub(super) fn found_in(text: &str) -> Option<String> {
    let marked = blocks(text);
    let text = text.trim_start_matches(['\n', '\r']);
    let is_one = ["diff --git ", "--- "].iter().any(|start| text.starts_with(start));
    let patch = match (marked.is_empty(), is_one) {
        (false, _) => marked,
        (true, true) => text.to_owned(),
        (true, false) => return None,
    };
    let has_hunk = patch.lines().any(|line| line.starts_with("@@ "));
    let ends = if patch.ends_with('\n') { "" } else { "\n" };
    has_hunk.then(|| format!("{patch}{ends}"))
}

/// A path of a patch's headers that is not below the top, whatever would become of it.
pub(super) fn leads_out(patch: &str) -> Option<String> {
    let mut lines = patch.lines().peekable();
    while let Some(line) = lines.next() {
        // A header is two lines; what looks like one inside of a hunk has a line like any other after it.
        let Some(old) = line.strip_prefix("--- ") else { continue };
        let Some(new) = lines.peek().and_then(|next| next.strip_prefix("+++ ")) else { continue };
        for path in [old, new] {
            let path = path.split('\t').next().unwrap_or(path).trim_matches('"');
            if path.starts_with('/') && path != "/dev/null" {
                return Some(path.to_owned());
            }
        }
    }
    None
}

fn blocks(text: &str) -> String {
    let mut patch = String::new();
    // The fence that the block under way began with: it ends with one that is as long.
    let mut fence: Option<(usize, bool)> = None;
    for line in text.split_inclusive('\n') {
        let plain = line.trim();
        let ticks = plain.chars().take_while(|letter| *letter == '`').count();
        match fence {
            Some((long, _)) if ticks >= long && plain.len() == ticks => fence = None,
            Some((_, true)) => patch.push_str(line),
            Some((_, false)) => {}
            None if ticks >= 3 => {
                let word = plain[ticks..].trim();
                fence = Some((ticks, matches!(word, "diff" | "patch")));
            }
            None => {}
        }
    }
    patch
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFF: &str = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n";

    #[test]
    fn a_patch_is_what_is_marked_as_one_or_all_of_it() {
        assert_eq!(found_in(DIFF).as_deref(), Some(DIFF));
        assert_eq!(found_in(DIFF.trim_end()).as_deref(), Some(DIFF));
        let told =
            format!("Here it is.\n\n```diff\n{DIFF}```\n\nand\n\n````patch\n{DIFF}````\nSo.\n");
        assert_eq!(found_in(&told), Some(DIFF.repeat(2)));
        let other = format!("```rust\nfn a() {{}}\n```\n```diff\n{DIFF}```\n");
        assert_eq!(found_in(&other).as_deref(), Some(DIFF));
    }

    #[test]
    fn a_path_that_starts_at_a_root_is_noticed() {
        assert_eq!(leads_out(DIFF), None);
        assert_eq!(leads_out("--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+x\n"), None);
        let out = leads_out("--- /dev/null\n+++ /tmp/x\n@@ -0,0 +1 @@\n+x\n");
        assert_eq!(out.as_deref(), Some("/tmp/x"));
    }

    #[test]
    fn what_changes_nothing_is_no_patch() {
        for nothing in
            ["", "no diff here", "```diff\n```", "```diff\nnothing to do\n```", "--- a/x\n"]
        {
            assert_eq!(found_in(nothing), None, "{nothing:?}");
        }
        // A block that is not closed goes on to the end.
        assert!(found_in(&format!("```diff\n{DIFF}")).is_some());
    }
}
