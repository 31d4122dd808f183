//! Objects on their way from one of our stores to another place.

use crate::{error::RepoError, git::Place, oid::Oid, store::Store};

/// Up to this many objects become files of their own; more stay together in a pack.
const LOOSE_MAX: u32 = 200;

impl Store {
    /// A pack of what `want` reaches and `have` does not.
    pub(crate) fn pack_of(
        &self,
        place: &Place,
        want: &Oid,
        have: &[&Oid],
    ) -> Result<Vec<u8>, RepoError> {
        let not = have.iter().map(|oid| format!("^{oid}\n"));
        let list: String = [format!("{want}\n")].into_iter().chain(not).collect();
        let call = self.git().call("pack-objects", place);
        let call = call.args(["pack-objects", "--revs", "--stdout", "-q", "--delta-base-offset"]);
        Ok(call.stdin(list).ok()?)
    }

    /// Takes a pack in, after looking at every object of it: nothing that git itself would call
    /// unsound, nothing that is not whole.
    pub(crate) fn unpack(
        &self,
        name: &'static str,
        place: &Place,
        pack: Vec<u8>,
    ) -> Result<(), RepoError> {
        let call = self.git().call(name, place);
        let call = match count(&pack) {
            Some(0) => return Ok(()),
            _ if is_little(&pack) => call.args(["unpack-objects", "-q", "--strict"]),
            _ => call.args(["index-pack", "--stdin", "--strict"]),
        };
        match call.stdin(pack).ok() {
            Ok(_) => Ok(()),
            Err(error) => match error.said() {
                Some(said) if said.contains("fsck") || said.contains("strict") => {
                    Err(RepoError::Unsound { said: said.to_owned() })
                }
                _ => Err(error.into()),
            },
        }
    }
}

/// How many objects a pack has.
fn count(pack: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(pack.get(8..12)?.try_into().ok()?))
}

/// Whether the objects of a pack become files of their own.
pub(crate) fn is_little(pack: &[u8]) -> bool {
    count(pack).is_some_and(|count| count <= LOOSE_MAX)
}
