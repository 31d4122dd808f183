//! Files of the lane that a server reads and writes through us, and nothing outside of it.
//!
//! The kernel itself sees to that (`beneath`): no path, no link and nothing that changes in between leads out. Links that stay
//! in the lane are followed for reading; nothing is written through one.

use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};
use windlass_process::beneath::{BeneathError, Links, Root};

use super::rpc::{Fault, text};

/// The files of a lane.
pub(crate) struct Files {
    read: Root,
    write: Root,
    /// Where the lane is, as it is called and as it really is.
    lane: Vec<PathBuf>,
}

/// A file that is longer is not for a model.
const FILE_BYTES: u64 = 10 << 20;

impl Files {
    pub fn of(lane: &Path) -> std::io::Result<Self> {
        let mut names = vec![lane.to_owned()];
        names.extend(lane.canonicalize());
        Ok(Files {
            read: Root::open(lane, Links::Follow)?,
            write: Root::open(lane, Links::Refuse)?,
            lane: names,
        })
    }

    /// A path as it is called from the lane.
    pub fn in_lane(&self, path: &str) -> Option<PathBuf> {
        let path = Path::new(path);
        let below = self.lane.iter().find_map(|lane| path.strip_prefix(lane).ok());
        below.map(Path::to_owned).or_else(|| path.is_relative().then(|| path.to_owned()))
    }

    fn place(&self, params: &Json) -> Result<PathBuf, Fault> {
        let path = text(params, "path");
        let path = path.ok_or_else(|| Fault::new(Fault::BAD_PARAMS, "there is no path"))?;
        let outside = || Fault::new(Fault::BAD_PARAMS, format!("{path} is outside of the lane"));
        self.in_lane(path).ok_or_else(outside)
    }

    /// `fs/read_text_file`: a file, or some lines of it.
    pub fn read(&self, params: &Json) -> Result<Json, Fault> {
        let place = self.place(params)?;
        let bytes = self.read.read(&place, FILE_BYTES).map_err(refused)?;
        let all = String::from_utf8(bytes)
            .map_err(|_| Fault::new(Fault::INTERNAL, format!("{} is no text", place.display())))?;
        let figure = |key: &str| {
            let figure = params.get(key).and_then(Json::as_u64);
            figure.map(|figure| usize::try_from(figure).unwrap_or(usize::MAX))
        };
        let (line, limit) = (figure("line"), figure("limit"));
        if line.is_none() && limit.is_none() {
            return Ok(json!({ "content": all }));
        }
        let from = line.unwrap_or(1).saturating_sub(1);
        let lines = all.split_inclusive('\n').skip(from).take(limit.unwrap_or(usize::MAX));
        Ok(json!({ "content": lines.collect::<String>() }))
    }

    /// `fs/write_text_file`: all of a file, whatever was there. Its path from the lane.
    pub fn write(&self, params: &Json) -> Result<PathBuf, Fault> {
        let place = self.place(params)?;
        let content = text(params, "content");
        let content =
            content.ok_or_else(|| Fault::new(Fault::BAD_PARAMS, "there is no content"))?;
        let before = match self.write.file(&place) {
            Ok(file) => file.metadata().ok().map(|known| known.permissions()),
            Err(error) if error.is_not_found() => None,
            Err(error) => return Err(refused(error)),
        };
        let above = place.parent().filter(|above| !above.as_os_str().is_empty());
        above.map_or(Ok(()), |above| self.write.make_directories(above)).map_err(refused)?;
        self.write.replace(&place, content.as_bytes()).map_err(refused)?;
        // What could be run before can be run again.
        if let Some(before) = before {
            let file = self.write.file(&place).map_err(refused)?;
            let kept = file.set_permissions(before);
            kept.map_err(|error| Fault::new(Fault::INTERNAL, error.to_string()))?;
        }
        Ok(place)
    }
}

fn refused(error: BeneathError) -> Fault {
    if error.is_not_found() {
        // Some look for these words to know that a file is new.
        return Fault::new(Fault::NOT_FOUND, format!("Resource not found: {error} (ENOENT)"));
    }
    match error {
        BeneathError::Outside { .. } | BeneathError::Link { .. } => {
            Fault::new(Fault::BAD_PARAMS, error.to_string())
        }
        other => Fault::new(Fault::INTERNAL, other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    /// A lane with a file of four lines in it, and a secret beside it.
    fn lane() -> (tempfile::TempDir, PathBuf, Files) {
        let dir = tempfile::tempdir().unwrap();
        let lane = dir.path().join("lane");
        fs::create_dir_all(lane.join("src")).unwrap();
        fs::write(lane.join("src/a.txt"), "one\ntwo\nthree\nfour").unwrap();
        fs::write(dir.path().join("secret"), "secret").unwrap();
        let files = Files::of(&lane).unwrap();
        (dir, lane, files)
    }

    #[test]
    fn a_file_is_read_whole_or_in_part() {
        let (_dir, lane, files) = lane();
        let path = lane.join("src/a.txt");
        let read = |mut params: Json| {
            params["path"] = json!(path);
            files.read(&params).unwrap()["content"].as_str().unwrap().to_owned()
        };
        assert_eq!(read(json!({})), "one\ntwo\nthree\nfour");
        assert_eq!(read(json!({ "line": 2, "limit": 2 })), "two\nthree\n");
        assert_eq!(read(json!({ "line": 3 })), "three\nfour");
        assert_eq!(read(json!({ "limit": 1 })), "one\n");
        assert_eq!(read(json!({ "line": 0, "limit": 0 })), "");
        assert_eq!(read(json!({ "line": u64::MAX, "limit": u64::MAX })), "");
        assert_eq!(read(json!({ "line": null, "limit": null })), "one\ntwo\nthree\nfour");
        let relative = files.read(&json!({ "path": "src/a.txt" })).unwrap();
        assert!(relative["content"].as_str().unwrap().starts_with("one"));
    }

    #[test]
    fn a_file_is_written_where_none_was_and_stays_what_it_was() {
        let (_dir, lane, files) = lane();
        let write = |name: &str, text: &str| {
            files.write(&json!({ "path": lane.join(name), "content": text })).unwrap()
        };
        assert_eq!(write("new/deep/b.txt", "b\n"), Path::new("new/deep/b.txt"));
        assert_eq!(fs::read_to_string(lane.join("new/deep/b.txt")).unwrap(), "b\n");
        let script = lane.join("run");
        fs::write(&script, "old").unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        write("run", "new");
        assert_eq!(fs::read_to_string(&script).unwrap(), "new");
        assert_eq!(fs::metadata(&script).unwrap().permissions().mode() & 0o777, 0o755);
    }

    #[test]
    fn nothing_outside_of_the_lane_is_read_or_written() {
        let (dir, lane, files) = lane();
        let secret = dir.path().join("secret");
        symlink("../secret", lane.join("up")).unwrap();
        symlink(&secret, lane.join("over")).unwrap();
        symlink("..", lane.join("parent")).unwrap();
        symlink("src/a.txt", lane.join("inside")).unwrap();
        let lane = lane.display();
        let paths = [
            secret.display().to_string(),
            format!("{lane}/../secret"),
            format!("{lane}/src/../../secret"),
            format!("{lane}/up"),
            format!("{lane}/over"),
            format!("{lane}/parent/secret"),
            "../secret".to_owned(),
            "/etc/passwd".to_owned(),
            String::new(),
            format!("{lane}"),
            format!("{lane}/src"),
        ];
        for path in paths {
            assert!(files.read(&json!({ "path": path })).is_err(), "{path}");
            let written = files.write(&json!({ "path": path, "content": "x" }));
            assert!(written.is_err(), "{path}");
        }
        assert_eq!(fs::read_to_string(&secret).unwrap(), "secret");
        let inside = json!({ "path": "inside", "content": "x" });
        assert!(files.read(&inside).is_ok(), "a link that stays in the lane can be read");
        assert_eq!(files.write(&inside).unwrap_err().code, Fault::BAD_PARAMS);
    }

    #[test]
    fn what_cannot_be_had_is_said() {
        let (_dir, lane, files) = lane();
        fs::write(lane.join("odd"), b"\xff\xfe").unwrap();
        let code = |params: Json| files.read(&params).unwrap_err().code;
        assert_eq!(code(json!({ "path": "none" })), Fault::NOT_FOUND);
        assert_eq!(code(json!({ "path": 1 })), Fault::BAD_PARAMS);
        assert_eq!(code(json!(null)), Fault::BAD_PARAMS);
        assert_eq!(code(json!({ "path": "odd" })), Fault::INTERNAL);
        assert!(files.write(&json!({ "path": "x" })).is_err());
        let said = files.read(&json!({ "path": "none" })).unwrap_err().message;
        assert!(said.contains("Resource not found") && said.contains("ENOENT"), "{said}");
    }
}
