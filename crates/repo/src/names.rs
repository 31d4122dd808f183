//! What is in a directory of a commit.

use std::path::Path;

use crate::{error::RepoError, oid::Oid, store::Store};

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
}
