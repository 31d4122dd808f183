//! The task as it is given: in words, in a file, or on standard input. A long one never passes through a command line.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::error::{Error, reading};

/// A task is no longer than this.
const BYTES_MAX: u64 = 1 << 20;

/// The task, if one was given.
pub fn task(words: &[String], file: Option<&PathBuf>) -> Result<Option<String>, Error> {
    let text = match (words, file) {
        ([], None) => return Ok(None),
        ([dash], None) if dash == "-" => {
            read(std::io::stdin().lock(), Path::new("standard input"))?
        }
        (words, None) => words.join(" "),
        ([], Some(path)) if path == Path::new("-") => {
            read(std::io::stdin().lock(), Path::new("standard input"))?
        }
        ([], Some(path)) => read(File::open(path).map_err(reading(path.clone()))?, path)?,
        (_, Some(_)) => {
            return Err(
                Error::usage("a task in words and one in a file").hint("give one of the two")
            );
        }
    };
    if text.trim().is_empty() {
        return Err(Error::usage("the task is empty")
            .hint("say what should be done: windlass task \"Add a --json flag\""));
    }
    Ok(Some(text.trim().to_owned()))
}

fn read(from: impl std::io::Read, path: &Path) -> Result<String, Error> {
    let mut bytes = Vec::new();
    from.take(BYTES_MAX + 1).read_to_end(&mut bytes).map_err(reading(path.to_owned()))?;
    if bytes.len() as u64 > BYTES_MAX {
        let what = format!("{} has more than {} KB", path.display(), BYTES_MAX >> 10);
        return Err(Error::usage(what)
            .hint("a task that long is a spec: `windlass autopilot` builds those"));
    }
    let text = String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
    text.ok_or_else(|| {
        Error::usage(format!("{} is no text", path.display())).hint("save it as UTF-8")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_words_or_a_file_and_not_nothing() {
        let words = |text: &str| vec![text.to_owned()];
        assert_eq!(task(&[], None).unwrap(), None);
        assert_eq!(task(&words(" Fix it "), None).unwrap().as_deref(), Some("Fix it"));
        assert!(task(&words("  "), None).is_err());
        assert!(task(&words("x"), Some(&PathBuf::from("y"))).is_err());
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "# Long\n\ntext\n").unwrap();
        let path = file.path().to_owned();
        assert_eq!(task(&[], Some(&path)).unwrap().as_deref(), Some("# Long\n\ntext"));
        std::fs::write(file.path(), [0xff, 0xfe]).unwrap();
        assert!(task(&[], Some(&path)).is_err());
    }
}
