//! What changed between two texts, line by line.

/// More pairs of lines than this are not compared: then everything has changed.
const PAIRS_MAX: usize = 1 << 22;

/// Lines that went (`- `), came (`+ `) and stayed (`  `).
pub fn between(before: &str, after: &str) -> Vec<String> {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    if old.len().saturating_mul(new.len()) > PAIRS_MAX {
        let gone = old.iter().map(|line| format!("- {line}"));
        return gone.chain(new.iter().map(|line| format!("+ {line}"))).collect();
    }
    let longest = longest(&old, &new);
    let (mut left, mut right, mut lines) = (0, 0, Vec::new());
    while left < old.len() || right < new.len() {
        let same = left < old.len() && right < new.len() && old[left] == new[right];
        if same {
            lines.push(format!("  {}", old[left]));
            (left, right) = (left + 1, right + 1);
        } else if right == new.len()
            || left < old.len() && longest[left + 1][right] >= longest[left][right + 1]
        {
            lines.push(format!("- {}", old[left]));
            left += 1;
        } else {
            lines.push(format!("+ {}", new[right]));
            right += 1;
        }
    }
    lines
}

/// How many lines are the same from each pair of lines on, at the most.
fn longest(old: &[&str], new: &[&str]) -> Vec<Vec<usize>> {
    let mut longest = vec![vec![0; new.len() + 1]; old.len() + 1];
    for left in (0..old.len()).rev() {
        for right in (0..new.len()).rev() {
            longest[left][right] = match old[left] == new[right] {
                true => longest[left + 1][right + 1] + 1,
                false => longest[left + 1][right].max(longest[left][right + 1]),
            };
        }
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_go_come_and_stay() {
        assert_eq!(between("a\nb\nc", "a\nx\nc\nd"), ["  a", "- b", "+ x", "  c", "+ d"]);
        assert_eq!(between("", "a"), ["+ a"]);
        assert_eq!(between("a", ""), ["- a"]);
        assert_eq!(between("same\n", "same"), ["  same"]);
        let many: String = (0..3_000).map(|number| format!("{number}\n")).collect();
        assert_eq!(between(&many, &many).len(), 6_000, "too many to be compared");
    }
}
