//! What is in a directory of a commit.

use std::collections::BTreeMap;
use std::path::Path;

use crate::{
    error::RepoError,
    git::{Git, GitError, Place},
    oid::Oid,
    repository::Repository,
    store::Store,
};

impl Store {
    /// The names in a directory of a commit or tree; none where there is no such directory. Names
    /// that are not UTF-8 are left out.
    pub fn names_at(&self, tree: &Oid, dir: &Path) -> Result<Vec<String>, RepoError> {
        let place = self.results();
        let spec = match dir.to_str() {
            Some("") => tree.to_string(),
            Some(dir) => format!("{tree}:{dir}"),
            None => return Ok(vec![]),
        };
        let call = self.git().call("names-at", &place);
        let output = call.args(["ls-tree", "-z", "--name-only", "--end-of-options", spec.as_str()]);
        let output = output.output()?;
        if output.code != Some(0) {
            return self.tree_of(tree).map(|_| vec![]);
        }
        let names = output.stdout.split(|b| *b == 0).filter(|name| !name.is_empty());
        Ok(names.filter_map(|name| String::from_utf8(name.to_vec()).ok()).collect())
    }

    /// The files below a directory of a commit that was made in a lane, by path, with what is in them. Links, and names that
    /// are not UTF-8, are left out.
    pub fn files_below(
        &self,
        tree: &Oid,
        dir: &str,
    ) -> Result<BTreeMap<String, Vec<u8>>, RepoError> {
        files_below(self.git(), &self.results(), tree, dir)
    }
}

impl Repository {
    /// The same for a commit that the person has.
    pub fn files_below(
        &self,
        tree: &Oid,
        dir: &str,
    ) -> Result<BTreeMap<String, Vec<u8>>, RepoError> {
        files_below(&self.git, &self.refs(), tree, dir)
    }
}

fn files_below(
    git: &Git,
    place: &Place,
    tree: &Oid,
    dir: &str,
) -> Result<BTreeMap<String, Vec<u8>>, RepoError> {
    let call = git.call("files-below", place);
    let said = call.args(["ls-tree", "-r", "-z", "--full-tree", tree.as_str(), dir]).ok()?;
    let mut files = Vec::new();
    let mut asked = Vec::new();
    for line in said.split(|byte| *byte == 0) {
        let Ok(line) = std::str::from_utf8(line) else { continue };
        let Some((head, path)) = line.split_once('\t') else { continue };
        let [mode, "blob", blob] = head.split(' ').collect::<Vec<_>>()[..] else { continue };
        if mode.starts_with("100") {
            files.push(path.to_owned());
            asked.extend(blob.bytes().chain([b'\n']));
        }
    }
    let call = git.call("files-below-read", place);
    let said = call.args(["cat-file", "--batch"]).stdin(asked).ok()?;
    let strange = || GitError::Strange { name: "files-below-read", what: tree.to_string() };
    let mut read = BTreeMap::new();
    let mut rest = said.as_slice();
    for path in files {
        let end = rest.iter().position(|byte| *byte == b'\n').ok_or_else(strange)?;
        let head = String::from_utf8_lossy(&rest[..end]);
        let length: Option<usize> = head.rsplit(' ').next().and_then(|word| word.parse().ok());
        let from = end + 1;
        let to = from + length.ok_or_else(strange)?;
        read.insert(path, rest.get(from..to).ok_or_else(strange)?.to_vec());
        rest = rest.get(to + 1..).unwrap_or_default();
    }
    Ok(read)
}
