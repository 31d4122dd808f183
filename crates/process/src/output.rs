//! What becomes of a stream: how much of it is kept before the program runs, and what was kept
//! once it has ended.
//!
//! A stream of any length takes bounded space. Its beginning and its end are kept as raw bytes,
//! with a line between them that says what was left out; all of it is counted and digested, so
//! that two runs can be compared byte for byte even if neither was kept whole.

use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
    sync::Arc,
};

/// The blake3 digest of a whole stream.
pub use blake3::Hash as Digest;

/// How much of a stream is kept, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    pub(crate) head_bytes: u64,
    pub(crate) tail_bytes: u64,
    pub(crate) file: Option<PathBuf>,
}

impl Default for Output {
    /// The first 1 MiB and the last 256 KiB, in a place without a name that is gone when nobody
    /// holds what was captured any more.
    fn default() -> Output {
        Output::keep(1 << 20, 256 << 10)
    }
}

impl Output {
    /// Keeps the first `head_bytes` and the last `tail_bytes`.
    ///
    /// The tail is taken into memory once, when the program has ended and more was printed than
    /// is kept; the head never is.
    pub fn keep(head_bytes: u64, tail_bytes: u64) -> Output {
        Output { head_bytes, tail_bytes, file: None }
    }

    /// Keeps everything, however much there is: for programs whose output is read by a program,
    /// and is of no use in parts.
    pub fn whole() -> Output {
        Output::keep(u64::MAX, 0)
    }

    /// Keeps it in this file, which must not exist yet and can be read while the program runs.
    /// Only its owner may read it.
    #[must_use]
    pub fn in_file(mut self, path: impl Into<PathBuf>) -> Output {
        self.file = Some(path.into());
        self
    }
}

/// How much of a stream is missing from what was kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// How many bytes were printed before the gap, and kept.
    pub after_bytes: u64,
    /// How many bytes are missing.
    pub bytes: u64,
}

/// What was captured of a stream. Copies are cheap and share what was kept.
#[derive(Clone, Debug)]
pub struct Captured {
    pub(crate) total_bytes: u64,
    pub(crate) digest: Digest,
    pub(crate) left_out: Option<LeftOut>,
    pub(crate) tail_bytes: u64,
    pub(crate) kept: Arc<Kept>,
}

/// Where the kept bytes are: the head, then the notice if anything was left out, then the tail.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) place: Place,
    pub(crate) notice_bytes: u64,
    pub(crate) path: Option<PathBuf>,
}

#[derive(Debug)]
pub(crate) enum Place {
    Memory(Vec<u8>),
    File(File),
    /// It could not be kept. The stream was counted and digested all the same.
    Nowhere(io::Error),
}

/// What was kept cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Part of the stream was left out.
    #[error(
        "only part of the output was kept: {} of {total_bytes} bytes are missing after byte {}; \
         keep more of it", left_out.bytes, left_out.after_bytes
    )]
    Truncated {
        /// What is missing.
        left_out: LeftOut,
        /// How much there was.
        total_bytes: u64,
    },
    /// It could not be written while the program ran.
    #[error("the output could not be kept: {reason}; make room and run it again")]
    NotKept {
        /// What the system said.
        reason: String,
        /// Its kind, to tell a full disk from others.
        kind: io::ErrorKind,
    },
    /// It cannot be read now.
    #[error("the kept output cannot be read: {0}")]
    Read(#[from] io::Error),
}

impl Captured {
    /// How many bytes were printed.
    pub fn total_bytes(&self) -> u64 {
        self.total_bytes
    }

    /// The digest of everything that was printed.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// What is missing from what was kept, if anything.
    pub fn left_out(&self) -> Option<LeftOut> {
        self.left_out
    }

    /// The file that it was kept in, if one was given.
    pub fn path(&self) -> Option<&Path> {
        self.kept.path.as_deref()
    }

    /// Everything that was printed. An error if anything was left out: what is parsed must be
    /// whole.
    pub fn whole(&self) -> Result<Vec<u8>, ReadError> {
        match self.left_out {
            Some(left_out) => Err(ReadError::Truncated { left_out, total_bytes: self.total_bytes }),
            None => self.range(0, self.total_bytes),
        }
    }

    /// What was kept of the beginning: all of it, if nothing was left out.
    pub fn head(&self) -> Result<Vec<u8>, ReadError> {
        self.range(0, self.left_out.map_or(self.total_bytes, |left_out| left_out.after_bytes))
    }

    /// The end, as much of it as was asked for.
    pub fn tail(&self) -> Result<Vec<u8>, ReadError> {
        let bytes = self.tail_bytes.min(self.total_bytes);
        self.range(self.kept_bytes() - bytes, bytes)
    }

    /// All that was kept, to show to somebody: with a notice where something was left out.
    pub fn text(&self) -> Result<Vec<u8>, ReadError> {
        self.range(0, self.kept_bytes())
    }

    /// The length of what was kept, with the notice.
    fn kept_bytes(&self) -> u64 {
        self.total_bytes - self.left_out.map_or(0, |left_out| left_out.bytes)
            + self.kept.notice_bytes
    }

    fn range(&self, from: u64, bytes: u64) -> Result<Vec<u8>, ReadError> {
        match &self.kept.place {
            Place::Memory(kept) => {
                let from = usize::try_from(from).unwrap_or(usize::MAX).min(kept.len());
                let to = from.saturating_add(usize::try_from(bytes).unwrap_or(usize::MAX));
                Ok(kept[from..to.min(kept.len())].to_vec())
            }
            Place::File(file) => {
                let mut range = Vec::new();
                At { file, at: from }.take(bytes).read_to_end(&mut range)?;
                if range.len() as u64 != bytes {
                    return Err(ReadError::Read(io::ErrorKind::UnexpectedEof.into()));
                }
                Ok(range)
            }
            Place::Nowhere(error) => {
                Err(ReadError::NotKept { reason: error.to_string(), kind: error.kind() })
            }
        }
    }
}

/// Reads a file from a position of its own: copies of what was captured share the file.
struct At<'a> {
    file: &'a File,
    at: u64,
}

impl Read for At<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = std::os::unix::fs::FileExt::read_at(self.file, buffer, self.at)?;
        self.at += length as u64;
        Ok(length)
    }
}
