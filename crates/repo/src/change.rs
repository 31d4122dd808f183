//! The name of a change: what review is bound to.
//!
//! It is a digest of the patch with everything left out that depends on where the change sits: line
//! numbers, the function a hunk is in, the names of the blobs. So a change keeps its name when it is
//! rebuilt on another base without touching what is near it. Unlike git's own patch ids it counts
//! every blank (in some languages a blank is the program) and the mode of files, and a binary file
//! goes by its whole content.

/// The name of no change at all.
const NONE: &str = "none";

/// What differs between two trees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Difference {
    pub change: String,
    /// Whether a submodule is among it.
    pub submodules: bool,
}

impl Difference {
    pub fn none() -> Difference {
        Difference { change: NONE.to_owned(), submodules: false }
    }

    /// Reads what git prints for `--raw` and `-p` together: a line for each path, then the patch.
    pub fn read(said: &[u8]) -> Difference {
        let mut submodules = false;
        let mut patch = said;
        while let Some(line) = patch.strip_prefix(b":") {
            submodules |= line.starts_with(b"160000 ") || line.get(6..13) == Some(b" 160000");
            let end = line.iter().position(|b| *b == b'\n').map_or(line.len(), |at| at + 1);
            patch = &line[end..];
        }
        Difference { change: id(patch.strip_prefix(b"\n").unwrap_or(patch)), submodules }
    }
}

/// The name of the change that a patch makes. The patch must have whole blob names in it.
fn id(patch: &[u8]) -> String {
    if patch.is_empty() {
        return NONE.to_owned();
    }
    let mut digest = blake3::Hasher::new();
    let mut blobs: &[u8] = b"";
    for line in patch.split_inclusive(|b| *b == b'\n') {
        // Inside a hunk every line begins with a blank, `+`, `-` or `\`: no content looks like
        // one of these.
        if line.starts_with(b"index ") {
            blobs = line;
        } else if line.starts_with(b"@@ ") {
            digest.update(b"@@\n");
        } else {
            if line.starts_with(b"Binary files ") {
                digest.update(blobs);
            }
            digest.update(line);
        }
    }
    digest.finalize().to_hex()[..40].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATCH: &str = "diff --git a/x b/x\nindex 11..22 100644\n--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@ fn f\n a\n-b\n+c\n";

    #[test]
    fn no_change_has_a_name_of_its_own() {
        assert_eq!(id(b""), "none");
    }

    #[test]
    fn the_list_of_paths_is_no_part_of_the_name_but_tells_of_submodules() {
        let list = |old: &str, new: &str| {
            format!(":{old} {new} 11 22 M\tx\n:100644 100644 1 2 M\t160000\n\n{PATCH}")
        };
        let plain = Difference::read(list("100644", "100755").as_bytes());
        assert_eq!(plain, Difference { change: id(PATCH.as_bytes()), submodules: false });
        assert!(Difference::read(list("160000", "160000").as_bytes()).submodules);
        assert!(Difference::read(list("100644", "160000").as_bytes()).submodules);
        assert!(Difference::read(list("160000", "000000").as_bytes()).submodules);
        assert_eq!(Difference::read(b""), Difference::none());
    }

    #[test]
    fn where_a_change_sits_is_no_part_of_its_name() {
        let moved =
            PATCH.replace("11..22", "33..44").replace("-1,3 +1,3 @@ fn f", "-9,3 +9,3 @@ fn g");
        assert_eq!(id(PATCH.as_bytes()), id(moved.as_bytes()));
    }

    #[test]
    fn every_blank_mode_name_and_line_is_part_of_it() {
        for (from, to) in
            [("+c", "+ c"), ("-b", "-b "), (" a", "  a"), ("b/x", "b/y"), ("+c", "+c\n+d")]
        {
            let other = PATCH.replace(from, to);
            assert_ne!(id(PATCH.as_bytes()), id(other.as_bytes()), "{from:?} → {to:?}");
        }
        let mode = PATCH.replace("index", "old mode 100644\nnew mode 100755\nindex");
        assert_ne!(id(PATCH.as_bytes()), id(mode.as_bytes()));
    }

    #[test]
    fn a_binary_file_goes_by_its_content() {
        let patch = |blobs: &str| {
            format!("diff --git a/x b/x\nindex {blobs} 100644\nBinary files a/x and b/x differ\n")
        };
        assert_ne!(id(patch("11..22").as_bytes()), id(patch("11..33").as_bytes()));
    }

    #[test]
    fn a_line_that_looks_like_a_header_is_content() {
        let with = |line: &str| PATCH.replace("+c", &format!("+{line}"));
        assert_ne!(id(with("index 1..2").as_bytes()), id(with("index 3..4").as_bytes()));
        assert_ne!(id(with("@@ -1 +1 @@").as_bytes()), id(with("@@ -2 +2 @@").as_bytes()));
    }
}
