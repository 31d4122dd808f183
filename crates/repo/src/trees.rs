//! In what two trees differ, found by walking through both at once. Where they are the same nothing is looked at, so this takes
//! as long as the change is large and not as the project is.

use std::{cmp::Ordering, collections::BTreeMap};

use crate::{
    changes::{Change, Entry},
    error::RepoError,
    objects::{Kind, Object},
    oid::Oid,
    store::Store,
    work::as_path,
};

/// An entry of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Node {
    name: Vec<u8>,
    mode: u32,
    oid: Oid,
}

const TREE: u32 = 0o040_000;
const DEPTH_MAX: usize = 1_000;

impl Node {
    fn is_tree(&self) -> bool {
        self.mode == TREE
    }

    /// The order in which git has them: that of their names, those of trees with a slash behind.
    fn compare(&self, other: &Node) -> Ordering {
        let key = |node: &Node| {
            let slash = node.is_tree().then_some(b'/');
            node.name.iter().copied().chain(slash).collect::<Vec<u8>>()
        };
        key(self).cmp(&key(other))
    }

    fn entry(&self) -> Entry {
        Entry { mode: format!("{:06o}", self.mode), blob: self.oid.clone() }
    }
}

/// A mode as git takes it, whatever an old git has written.
fn mode(said: u32) -> u32 {
    match said & 0o170_000 {
        0o100_000 if said & 0o100 == 0 => 0o100_644,
        0o100_000 => 0o100_755,
        0o120_000 => 0o120_000,
        0o040_000 => TREE,
        _ => 0o160_000,
    }
}

/// The entries of a tree; nothing if it is none.
fn nodes(object: &Object, digits: usize) -> Option<Vec<Node>> {
    if object.kind != Kind::Tree {
        return None;
    }
    let (mut nodes, mut rest) = (Vec::new(), &object.bytes[..]);
    while !rest.is_empty() {
        let blank = rest.iter().position(|byte| *byte == b' ')?;
        let end = rest.iter().position(|byte| *byte == 0).filter(|end| *end > blank)?;
        let said = u32::from_str_radix(std::str::from_utf8(&rest[..blank]).ok()?, 8).ok()?;
        let digest = rest.get(end + 1..end + 1 + digits / 2)?;
        let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        let name = rest[blank + 1..end].to_vec();
        nodes.push(Node { name, mode: mode(said), oid: Oid::parse(&hex).ok()? });
        rest = &rest[end + 1 + digits / 2..];
    }
    Some(nodes)
}

/// The names in a tree, each with the tree that it is, if it is one. Nothing if that is not known.
pub(crate) fn subtrees(object: &Object, tree: &Oid) -> Option<BTreeMap<Vec<u8>, Option<Oid>>> {
    let nodes = nodes(object, tree.as_str().len())?.into_iter();
    Some(nodes.map(|node| (node.name.clone(), node.is_tree().then_some(node.oid))).collect())
}

/// What two trees differ in.
#[derive(Debug, Default)]
pub(crate) struct Differing {
    /// The paths, in git's order.
    pub changes: Vec<Change>,
    /// The trees that only the second one has, those further down first.
    pub trees: Vec<Oid>,
}

impl Differing {
    /// The objects that only the second one has, those that others point to first.
    pub fn objects(&self) -> Vec<Oid> {
        // What a submodule points to is nowhere here.
        let files = self.changes.iter().map(|change| &change.new);
        let files = files.filter(|new| !new.is_absent() && new.mode != "160000");
        files.map(|new| new.blob.clone()).chain(self.trees.iter().cloned()).collect()
    }
}

/// Two directories at the same path, of which one may not be there.
struct Pair {
    path: Vec<u8>,
    old: Option<Oid>,
    new: Option<Oid>,
}

impl Store {
    /// What differs between two trees, or between nothing and a tree. Nothing if there is something about them that git has to
    /// say.
    pub(crate) fn differing(
        &self,
        old: Option<&Oid>,
        new: &Oid,
    ) -> Result<Option<Differing>, RepoError> {
        let mut differing = Differing::default();
        let pair = Pair { path: Vec::new(), old: old.cloned(), new: Some(new.clone()) };
        if old == Some(new) {
            return Ok(Some(differing));
        }
        // What is in a pack is fetched level by level, with one call for each.
        let mut level = vec![(pair.old.clone(), pair.new.clone())];
        for _ in 0..DEPTH_MAX {
            let both = |(old, new): &(Option<Oid>, Option<Oid>)| [old.clone(), new.clone()];
            let wanted: Vec<Oid> = level.iter().flat_map(both).flatten().collect();
            if wanted.is_empty() {
                break;
            }
            if !self.fetch(&wanted)? {
                return Ok(None);
            }
            let mut below = Vec::new();
            for (old, new) in &level {
                let Some(pairs) = self.paired(old.as_ref(), new.as_ref()) else { return Ok(None) };
                let trees = pairs.into_iter().map(|(old, new)| {
                    let tree = |node: Option<Node>| node.filter(Node::is_tree).map(|it| it.oid);
                    (tree(old), tree(new))
                });
                below.extend(trees.filter(|(old, new)| old.is_some() || new.is_some()));
            }
            level = below;
        }
        Ok(self.walk(&pair, &mut differing).then_some(differing))
    }

    /// No if there is something that is no tree.
    fn walk(&self, pair: &Pair, into: &mut Differing) -> bool {
        let Some(pairs) = self.paired(pair.old.as_ref(), pair.new.as_ref()) else { return false };
        for (old, new) in pairs {
            let Some(name) = old.as_ref().or(new.as_ref()).map(|node| &node.name) else { continue };
            let mut path = pair.path.clone();
            path.extend(name);
            let is_tree = |node: &Option<Node>| node.as_ref().is_some_and(Node::is_tree);
            if is_tree(&old) || is_tree(&new) {
                path.push(b'/');
                let oid = |node: Option<Node>| node.map(|node| node.oid);
                if !self.walk(&Pair { path, old: oid(old), new: oid(new) }, into) {
                    return false;
                }
                continue;
            }
            let Some(like) = old.as_ref().or(new.as_ref()).map(|node| node.oid.clone()) else {
                continue;
            };
            let none = || Entry { mode: "000000".to_owned(), blob: like.nought() };
            into.changes.push(Change {
                path: as_path(&path),
                old: old.as_ref().map_or_else(none, Node::entry),
                new: new.as_ref().map_or_else(none, Node::entry),
            });
        }
        into.trees.extend(pair.new.clone());
        true
    }

    /// The entries in which two trees differ, side by side. A file and a directory of one name are two entries.
    fn paired(
        &self,
        old: Option<&Oid>,
        new: Option<&Oid>,
    ) -> Option<Vec<(Option<Node>, Option<Node>)>> {
        let nodes = |oid: Option<&Oid>| match oid {
            Some(oid) => nodes(&self.objects.read(oid)?, oid.as_str().len()),
            None => Some(Vec::new()),
        };
        let (mut old, mut new) =
            (nodes(old)?.into_iter().peekable(), nodes(new)?.into_iter().peekable());
        let mut pairs = Vec::new();
        loop {
            let order = match (old.peek(), new.peek()) {
                (Some(old), Some(new)) => old.compare(new),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => return Some(pairs),
            };
            let pair = match order {
                Ordering::Less => (old.next(), None),
                Ordering::Greater => (None, new.next()),
                Ordering::Equal => (old.next(), new.next()),
            };
            if pair.0 != pair.1 {
                pairs.push(pair);
            }
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::{fs, os::unix::fs::PermissionsExt, path::Path, process::Command, sync::Arc};

    use super::*;
    use crate::{
        git::{Git, Host},
        person::{Person, When},
        repository::Repository,
        std_run::StdRun,
        store::{Commit, Settings},
    };

    fn git(dir: &Path, args: &[&str]) -> String {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=Zoë", "-c", "user.email=z@x.org"]).args(args).current_dir(dir);
        let output = git.output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// A repository whose every commit writes, removes and turns into something else a few of these names, and their commits.
    pub(crate) fn restless(top: &Path, format: &str, commits: u64) -> Vec<Oid> {
        const NAMES: [&str; 9] =
            ["a", "a-b", "a.b", "a/b", "a/b/c", "a0", "deep/er/and/deeper", "Z", "deep/er-2"];
        fs::create_dir_all(top).unwrap();
        git(top, &["init", "-q", "-b", "main", &format!("--object-format={format}")]);
        let mut dice = 7_u64;
        let mut made = Vec::new();
        for nth in 0..commits {
            for _ in 0..3 {
                dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(nth | 1);
                let (name, what) = (NAMES[(dice >> 33) as usize % NAMES.len()], (dice >> 50) % 5);
                let path = top.join(name);
                // Whatever is there, or above it, makes room.
                for above in path.ancestors().take_while(|above| *above != top) {
                    match above.symlink_metadata() {
                        Ok(meta) if meta.is_dir() && above != path => {}
                        Ok(meta) if meta.is_dir() => fs::remove_dir_all(above).unwrap(),
                        Ok(_) => fs::remove_file(above).unwrap(),
                        Err(_) => {}
                    }
                }
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                match what {
                    0 => continue,
                    1 => std::os::unix::fs::symlink("a", &path).unwrap(),
                    _ => fs::write(&path, format!("{nth}\n")).unwrap(),
                }
                if what == 2 {
                    fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
                }
            }
            git(top, &["add", "-A"]);
            if nth % 4 == 3 {
                let head = made.last().map_or("", Oid::as_str);
                let linked = format!("160000,{head},linked");
                git(top, &["update-index", "--add", "--cacheinfo", &linked]);
            }
            made.push(commit(top));
        }
        made
    }

    fn commit(top: &Path) -> Oid {
        git(top, &["commit", "-qm", "again", "--allow-empty"]);
        Oid::parse(&git(top, &["rev-parse", "HEAD"])).unwrap()
    }

    pub(crate) fn commit_all(top: &Path) -> Oid {
        git(top, &["add", "-A"]);
        commit(top)
    }

    pub(crate) fn store(dir: &Path) -> Store {
        let found = Git::find(Arc::new(StdRun), Host::of_this_process()).unwrap();
        let repository = Repository::find(&found, &dir.join("top")).unwrap();
        Store::open(repository, &dir.join("state"), Settings::default()).unwrap()
    }

    #[test]
    fn two_trees_differ_in_what_git_says_whether_they_are_files_or_in_a_pack() {
        for (format, packed) in [("sha1", false), ("sha1", true), ("sha256", false)] {
            let dir = tempfile::tempdir().unwrap();
            let commits = restless(&dir.path().join("top"), format, 24);
            if packed {
                git(&dir.path().join("top"), &["gc", "-q"]);
            }
            let store = store(dir.path());
            store.sync().unwrap();
            let mut differing = 0;
            for (at, from) in commits.iter().enumerate() {
                for to in &commits[at.saturating_sub(6)..(at + 6).min(commits.len())] {
                    let by_git = store.changes_by_git(from, to).unwrap();
                    let (old, new) = (store.tree_of(from).unwrap(), store.tree_of(to).unwrap());
                    let ours = store.differing(Some(&old), &new).unwrap().unwrap();
                    assert_eq!(ours.changes, by_git, "{from} {to}");
                    differing += ours.changes.len();
                }
            }
            assert!(differing > 300, "{differing}");
        }
    }

    #[test]
    fn a_commit_is_what_git_would_have_made_of_it() {
        let messages =
            ["one", " two \n\nthree\n\n\n", "nul\0l", "\n", "", "한국어 \u{fffe}", "# no"];
        let people = [("Zoë O'Neill", "z@x.org"), ("a \"b\" c", "d"), ("한", "국")];
        for format in ["sha1", "sha256"] {
            let dir = tempfile::tempdir().unwrap();
            let commits = restless(&dir.path().join("top"), format, 3);
            let store = store(dir.path());
            store.sync().unwrap();
            let tree = store.tree_of(&commits[0]).unwrap();
            for (nth, message) in messages.into_iter().enumerate() {
                let (name, email) = people[nth % people.len()];
                let author = &Person::new(name, email).unwrap();
                let twice = [commits[0].clone(), commits[1].clone(), commits[0].clone()];
                for (parents, seconds) in
                    [(&commits[..0], 0), (&commits[..2], 1_700_000_000), (&twice[..], u64::MAX / 4)]
                {
                    let when = When { seconds, offset_minutes: -210 };
                    let commit = Commit { tree: &tree, parents, message, author, when };
                    let by_git = store.commit_at(&store.results(), &commit).ok();
                    assert_eq!(store.commit(&commit).ok(), by_git, "{message:?} {parents:?}");
                }
            }
        }
    }

    #[test]
    fn what_is_missing_is_gits_to_tell() {
        let dir = tempfile::tempdir().unwrap();
        let commits = restless(&dir.path().join("top"), "sha1", 2);
        let store = store(dir.path());
        store.sync().unwrap();
        let tree = store.tree_of(&commits[0]).unwrap();
        let none = Oid::parse(&"1".repeat(40)).unwrap();
        assert!(store.differing(Some(&tree), &none).unwrap().is_none());
        assert!(store.changes(&commits[0], &none).is_err());
        assert!(store.changes(&none, &commits[0]).is_err());
    }

    #[test]
    fn modes_are_those_that_git_takes() {
        for (said, taken) in [
            (0o100_664, 0o100_644),
            (0o100_744, 0o100_755),
            (0o120_777, 0o120_000),
            (0o040_755, TREE),
            (0o160_000, 0o160_000),
        ] {
            assert_eq!(mode(said), taken, "{said:o}");
        }
    }

    #[test]
    fn what_is_no_tree_is_none() {
        let object = |kind, bytes: &[u8]| Object { kind, bytes: bytes.into() };
        let whole = [&b"100644 a\0"[..], &[7; 20]].concat();
        assert_eq!(nodes(&object(Kind::Tree, &whole), 40).map(|nodes| nodes.len()), Some(1));
        for broken in [&whole[..10], b"100644", b"9 a\0", b"\0 "] {
            assert_eq!(nodes(&object(Kind::Tree, broken), 40), None, "{broken:?}");
        }
        assert_eq!(nodes(&object(Kind::Blob, &whole), 40), None);
    }
}
