//! Where a stream goes while the program runs.
//!
//! The first bytes lie in memory: most programs print little, and a file costs more than they are
//! worth. From then on they lie in a file without a name, or in the caller's file from the start,
//! so that what was printed is on disk if Windlass is killed. The file holds the head, and behind
//! it a ring for the tail. As long as the ring has not come round, the file simply is the stream.
//! If it has, it is put in order at the end, with a notice in between.
//!
//! A full disk does not stop the program: the stream is counted and digested on, and whoever asks
//! for the bytes is told why they are not there.

use std::{
    fs::{File, OpenOptions},
    io,
    os::unix::fs::{FileExt, OpenOptionsExt},
    path::{Path, PathBuf},
    sync::Arc,
};

use rustix::{
    fs::{CWD, Mode, OFlags, openat},
    io::Errno,
    rand::{GetRandomFlags, getrandom},
};

use crate::{
    error::SpawnError,
    output::{Captured, Kept, LeftOut, Output, Place},
};

/// How much of a stream without a file of its own stays in memory.
const MEMORY_BYTES: u64 = 16 << 10;

/// A stream that is being written.
pub(crate) struct Spool {
    head_bytes: u64,
    tail_bytes: u64,
    path: Option<PathBuf>,
    place: Place,
    total_bytes: u64,
    hasher: blake3::Hasher,
}

impl Spool {
    pub(crate) fn new(output: Output) -> Result<Spool, SpawnError> {
        let place = match &output.file {
            None => Place::Memory(Vec::new()),
            Some(path) => Place::File(
                named(path).map_err(|source| SpawnError::Spool { path: path.clone(), source })?,
            ),
        };
        Ok(Spool {
            head_bytes: output.head_bytes,
            tail_bytes: output.tail_bytes,
            path: output.file,
            place,
            total_bytes: 0,
            hasher: blake3::Hasher::new(),
        })
    }

    /// The next bytes of the stream.
    pub(crate) fn write(&mut self, chunk: &[u8]) {
        self.hasher.update(chunk);
        let mut rest = chunk;
        let mut at = self.total_bytes;
        self.total_bytes += chunk.len() as u64;
        while !rest.is_empty() {
            let Some((place, room)) = self.place_of(at) else { return };
            let length = rest.len().min(usize::try_from(room).unwrap_or(usize::MAX));
            let (now, later) = rest.split_at(length);
            if let Err(error) = self.put(place, now) {
                self.place = Place::Nowhere(error);
                return;
            }
            at += length as u64;
            rest = later;
        }
    }

    /// Where the stream's byte number `at` goes, and how many may follow there in one piece.
    fn place_of(&self, at: u64) -> Option<(u64, u64)> {
        if at < self.head_bytes {
            return Some((at, self.head_bytes - at));
        }
        let in_ring = (at - self.head_bytes).checked_rem(self.tail_bytes)?;
        Some((self.head_bytes + in_ring, self.tail_bytes - in_ring))
    }

    fn put(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        if let Place::Memory(kept) = &mut self.place {
            let end = at + bytes.len() as u64;
            if end <= MEMORY_BYTES {
                overwrite(kept, at, bytes);
                return Ok(());
            }
            let file = unnamed(&std::env::temp_dir())?;
            file.write_all_at(kept, 0)?;
            self.place = Place::File(file);
        }
        match &self.place {
            Place::File(file) => file.write_all_at(bytes, at),
            Place::Memory(_) | Place::Nowhere(_) => Ok(()),
        }
    }

    /// The stream has ended.
    pub(crate) fn finish(mut self) -> Captured {
        let digest = self.hasher.finalize();
        let kept_bytes = self.head_bytes.saturating_add(self.tail_bytes);
        let missing = self.total_bytes.saturating_sub(kept_bytes);
        let left_out =
            (missing > 0).then_some(LeftOut { after_bytes: self.head_bytes, bytes: missing });
        let mut notice = String::new();
        if let Some(left_out) = left_out {
            notice = notice_of(left_out, self.total_bytes, &digest);
            if let Err(error) = self.put_in_order(&notice) {
                self.place = Place::Nowhere(error);
            }
        }
        Captured {
            total_bytes: self.total_bytes,
            digest,
            left_out,
            tail_bytes: self.tail_bytes,
            kept: Arc::new(Kept {
                place: self.place,
                notice_bytes: notice.len() as u64,
                path: self.path,
            }),
        }
    }

    /// Turns the ring into the stream's last bytes, in order, behind the notice.
    fn put_in_order(&mut self, notice: &str) -> io::Result<()> {
        let length = usize::try_from(self.tail_bytes)
            .map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
        let mut ring = vec![0; length];
        match &self.place {
            Place::Memory(kept) => {
                let from = usize::try_from(self.head_bytes).unwrap_or(usize::MAX);
                ring.copy_from_slice(kept.get(from..).unwrap_or_default());
            }
            Place::File(file) => file.read_exact_at(&mut ring, self.head_bytes)?,
            Place::Nowhere(_) => return Ok(()),
        }
        let oldest = (self.total_bytes - self.head_bytes).checked_rem(self.tail_bytes);
        ring.rotate_left(usize::try_from(oldest.unwrap_or(0)).unwrap_or(0));
        self.put(self.head_bytes, notice.as_bytes())?;
        self.put(self.head_bytes + notice.len() as u64, &ring)
    }
}

fn notice_of(left_out: LeftOut, total_bytes: u64, digest: &blake3::Hash) -> String {
    let LeftOut { bytes, .. } = left_out;
    format!("\n[windlass left out {bytes} of {total_bytes} bytes here; blake3 of all: {digest}]\n")
}

fn overwrite(kept: &mut Vec<u8>, at: u64, bytes: &[u8]) {
    let at = usize::try_from(at).unwrap_or(usize::MAX);
    if kept.len() < at + bytes.len() {
        kept.resize(at + bytes.len(), 0);
    }
    kept[at..at + bytes.len()].copy_from_slice(bytes);
}

/// A file that was not there: what somebody else wrote is not overwritten.
fn named(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path)
}

/// A file that nobody can find and that is gone when it is closed.
fn unnamed(directory: &Path) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::TMPFILE;
    match openat(CWD, directory, flags, Mode::RUSR | Mode::WUSR) {
        Ok(file) => Ok(file.into()),
        // Not every file system can; then it has a name for a moment.
        Err(Errno::OPNOTSUPP | Errno::ISDIR) => {
            let mut random = [0; 16];
            getrandom(&mut random, GetRandomFlags::empty())?;
            let name = format!("windlass-{:032x}", u128::from_le_bytes(random));
            let path = directory.join(name);
            let file = named(&path)?;
            std::fs::remove_file(path)?;
            Ok(file)
        }
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::output::ReadError;

    fn captured(output: Output, chunks: &[&[u8]]) -> Captured {
        let mut spool = Spool::new(output).unwrap();
        chunks.iter().for_each(|chunk| spool.write(chunk));
        spool.finish()
    }

    #[test]
    fn a_short_stream_is_kept_whole() {
        let captured = captured(Output::keep(4, 3), &[b"abc", b"", b"defg"]);
        assert_eq!(captured.whole().unwrap(), b"abcdefg");
        assert_eq!(captured.head().unwrap(), b"abcdefg");
        assert_eq!(captured.tail().unwrap(), b"efg");
        assert_eq!(captured.left_out(), None);
        assert_eq!(captured.digest(), blake3::hash(b"abcdefg"));
    }

    #[test]
    fn of_a_long_stream_the_ends_are_kept_and_the_gap_is_named() {
        let captured = captured(Output::keep(4, 3), &[b"abcdefghij", b"klm"]);
        assert_eq!(captured.head().unwrap(), b"abcd");
        assert_eq!(captured.tail().unwrap(), b"klm");
        assert_eq!(captured.left_out(), Some(LeftOut { after_bytes: 4, bytes: 6 }));
        let text = String::from_utf8(captured.text().unwrap()).unwrap();
        let digest = blake3::hash(b"abcdefghijklm");
        let notice = "\n[windlass left out 6 of 13 bytes here; blake3 of all: ";
        assert_eq!(text, format!("abcd{notice}{digest}]\nklm"));
        assert!(matches!(captured.whole(), Err(ReadError::Truncated { total_bytes: 13, .. })));
    }

    #[test]
    fn nothing_need_be_kept() {
        let captured = captured(Output::keep(0, 0), &[b"abc"]);
        assert_eq!(captured.total_bytes(), 3);
        assert_eq!(captured.digest(), blake3::hash(b"abc"));
        assert_eq!((captured.head().unwrap(), captured.tail().unwrap()), (vec![], vec![]));
    }

    #[test]
    fn a_file_of_the_caller_holds_the_stream_while_it_is_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out");
        let mut spool = Spool::new(Output::keep(4, 3).in_file(&path)).unwrap();
        spool.write(b"abcdef");
        assert_eq!(std::fs::read(&path).unwrap(), b"abcdef");
        spool.write(b"ghij");
        let captured = spool.finish();
        assert_eq!(captured.path(), Some(path.as_path()));
        assert_eq!(std::fs::read(&path).unwrap(), captured.text().unwrap());
        assert_eq!(captured.tail().unwrap(), b"hij");
    }

    #[test]
    fn a_file_that_is_there_is_not_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out");
        std::fs::write(&path, "precious").unwrap();
        let refused = Spool::new(Output::default().in_file(&path));
        assert!(matches!(refused, Err(SpawnError::Spool { .. })));
        assert_eq!(std::fs::read(&path).unwrap(), b"precious");
    }

    #[test]
    fn a_full_disk_is_told_when_the_bytes_are_asked_for() {
        let full = File::options().read(true).write(true).open("/dev/full").unwrap();
        let mut spool = Spool::new(Output::default()).unwrap();
        spool.place = Place::File(full);
        spool.write(b"abc");
        spool.write(b"def");
        let captured = spool.finish();
        assert_eq!(captured.total_bytes(), 6);
        assert_eq!(captured.digest(), blake3::hash(b"abcdef"));
        let Err(ReadError::NotKept { kind, .. }) = captured.whole() else {
            panic!("bytes that were not written cannot be read");
        };
        assert_eq!(kind, io::ErrorKind::StorageFull);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]
        #[test]
        fn head_and_tail_are_those_of_the_stream(
            head in 0_u64..9_000,
            tail in 0_u64..9_000,
            chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..2_500), 0..12),
        ) {
            let stream = chunks.concat();
            let chunks: Vec<&[u8]> = chunks.iter().map(Vec::as_slice).collect();
            let captured = captured(Output::keep(head, tail), &chunks);
            let total = stream.len() as u64;
            prop_assert_eq!(captured.total_bytes(), total);
            prop_assert_eq!(captured.digest(), blake3::hash(&stream));
            let ending = &stream[stream.len() - tail.min(total) as usize..];
            prop_assert_eq!(captured.tail().unwrap(), ending);
            if total <= head + tail {
                prop_assert_eq!(captured.whole().unwrap(), stream);
            } else {
                prop_assert_eq!(captured.head().unwrap(), &stream[..head as usize]);
                prop_assert_eq!(captured.left_out().unwrap().bytes, total - head - tail);
            }
        }
    }
}
