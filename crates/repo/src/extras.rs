//! Files that lanes get a copy of although git does not know them, such as `.env`.

use std::{
    ffi::OsStr,
    fs,
    io::ErrorKind,
    os::unix::ffi::OsStrExt,
    path::{Component, Path},
};

use crate::{
    error::{Doing, RepoError},
    git::Place,
    store::Store,
};

/// Whether a path may be one: below the top, outside of every `.git`.
pub(crate) fn sound(path: &Path) -> Result<(), RepoError> {
    let bad = |why| Err(RepoError::BadExtra { path: path.into(), why });
    if path.as_os_str().as_bytes().contains(&b'\n') {
        return bad("there is a line break in its name");
    }
    if path.components().next().is_none() {
        return bad("it names no file");
    }
    for component in path.components() {
        match component {
            Component::Normal(name) if name.eq_ignore_ascii_case(OsStr::new(".git")) => {
                return bad("it is in a git directory");
            }
            Component::Normal(_) => {}
            _ => return bad("it must be a path below the top directory, without `.` and `..`"),
        }
    }
    Ok(())
}

/// A line of `info/exclude` that means exactly this path.
pub(crate) fn exclude_line(path: &Path) -> Vec<u8> {
    let mut line = vec![b'/'];
    for &byte in path.as_os_str().as_bytes() {
        if b"*?[]\\!# ".contains(&byte) {
            line.push(b'\\');
        }
        line.push(byte);
    }
    line.push(b'\n');
    line
}

impl Store {
    /// Copies the extras into a work tree that was just put right. One that the person does not
    /// have is left out.
    pub(crate) fn copy_extras(&self, work: &Path, place: &Place) -> Result<(), RepoError> {
        for extra in &self.settings.extras {
            let from = self.repository.top().join(extra);
            if !from.is_file() {
                continue;
            }
            let bad = |why| Err(RepoError::BadExtra { path: extra.clone(), why });
            let call = self.git().call("extras.ls-files", place);
            if !call.args(["ls-files", "-z", "--"]).arg(literal(extra)).ok()?.is_empty() {
                return bad("git knows it; only untracked files are copied");
            }
            // The tree may have symbolic links in it, and what is behind them is none of ours.
            let mut dir = work.to_owned();
            for component in extra.parent().into_iter().flat_map(Path::components) {
                dir.push(component);
                match dir.symlink_metadata() {
                    Ok(meta) if meta.is_dir() => {}
                    Ok(_) => return bad("something else than a directory is in its way"),
                    Err(_) => fs::create_dir(&dir).doing("made", &dir)?,
                }
            }
            let to = work.join(extra);
            match fs::remove_file(&to) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(error).doing("replaced", &to);
                }
                _ => fs::copy(&from, &to).doing("copied", &from)?,
            };
        }
        Ok(())
    }
}

/// A path as git takes it for itself and nothing else.
pub(crate) fn literal(path: &Path) -> std::ffi::OsString {
    let mut spec = std::ffi::OsString::from(":(top,literal)");
    spec.push(path);
    spec
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_below_the_top_are_sound() {
        for good in [".env", "config/local.toml", "a b/ü", "..."] {
            assert!(sound(Path::new(good)).is_ok(), "{good}");
        }
        for bad in ["", "/etc/passwd", "../x", "a/../../x", ".git/config", "a/.GIT/x", "a\nb"] {
            assert!(sound(Path::new(bad)).is_err(), "{bad}");
        }
    }

    #[test]
    fn an_exclude_line_means_one_path() {
        assert_eq!(exclude_line(Path::new("a[1]*/#x y")), b"/a\\[1\\]\\*/\\#x\\ y\n");
    }
}
