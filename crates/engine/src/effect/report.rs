//! The report that a check writes beside what it prints: JUnit's XML, say. Only this run's counts.

use std::path::Path;

use windlass_process::beneath::{Links, Root};

use crate::message::Trouble;

/// A report that is longer is not read.
const BYTES_MAX: u64 = 4 << 20;

/// Takes away what an earlier run, or the tree itself, has in its place.
pub(super) fn clear(top: &Path, path: &str) -> Result<(), Trouble> {
    let root = open(top)?;
    // What is no file of this checkout is not read afterwards either.
    if matches!(root.exists(path), Ok(true)) {
        root.remove(path).map_err(|error| Trouble::new(error.to_string()))?;
    }
    Ok(())
}

/// What a check has reported; nothing if it has written none. What cannot be read is said.
pub(super) fn read(top: &Path, path: &str) -> Result<Option<Vec<u8>>, Trouble> {
    let root = open(top)?;
    if matches!(root.exists(path), Ok(false)) {
        return Ok(None);
    }
    Ok(Some(match root.read(path, BYTES_MAX) {
        Ok(bytes) => bytes,
        Err(refused) if refused.is_not_found() => return Ok(None),
        Err(refused) => {
            format!("windlass: the report {path} is not read: {refused}\n").into_bytes()
        }
    }))
}

fn open(top: &Path) -> Result<Root, Trouble> {
    Root::open(top, Links::Refuse)
        .map_err(|error| Trouble::new(format!("{} cannot be opened: {error}", top.display())))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_report_is_read_where_it_is_and_nowhere_else() {
        let dir = tempfile::tempdir().unwrap();
        let (top, outside) = (dir.path().join("top"), dir.path().join("secret.xml"));
        fs::create_dir_all(top.join("out")).unwrap();
        fs::write(&outside, "a secret").unwrap();
        let said = |path: &str| read(&top, path).unwrap().map(|it| String::from_utf8(it).unwrap());
        assert_eq!(said("out/junit.xml"), None);
        fs::write(top.join("out/junit.xml"), "<testsuite/>").unwrap();
        assert_eq!(said("out/junit.xml").as_deref(), Some("<testsuite/>"));
        clear(&top, "out/junit.xml").unwrap();
        assert_eq!(said("out/junit.xml"), None, "only what this run writes counts");
        symlink(&outside, top.join("out/link.xml")).unwrap();
        for path in ["out/link.xml", "../secret.xml"] {
            let said = said(path).unwrap();
            assert!(said.contains("is not read") && !said.contains("a secret"), "{said}");
        }
        fs::write(top.join("big.xml"), vec![b'x'; (BYTES_MAX + 1) as usize]).unwrap();
        assert!(said("big.xml").unwrap().contains("is not read"));
        clear(&top, "../secret.xml").unwrap();
        assert!(outside.exists());
    }
}
