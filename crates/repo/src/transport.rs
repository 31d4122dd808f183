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
        let count =
            pack.get(8..12).and_then(|bytes| Some(u32::from_be_bytes(bytes.try_into().ok()?)));
        let call = self.git().call(name, place);
        let call = match count {
            Some(0) => return Ok(()),
            Some(count) if count <= LOOSE_MAX => call.args(["unpack-objects", "-q", "--strict"]),
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
