//! Blobs: what is too large for an event, stored once and named by its content.
//!
//! A blob is staged first and referred to afterwards. Staging does the slow part (hashing, packing
//! and, for a large one, writing a file and syncing it), on whatever thread has the bytes and
//! without the database; the batch that refers to the blob then only adds a row. A crash in
//! between leaves a file that nothing names, which costs room and nothing else.
//!
//! Reading trusts nothing: the content is hashed on its way out and held against the name.

use std::{
    fmt,
    fs::{self, File, OpenOptions},
    io::{self, BufReader, BufWriter, Read, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    process,
    str::FromStr,
    sync::atomic::{AtomicU64, Ordering},
};

use lz4_flex::frame::{BlockSize, FrameDecoder, FrameEncoder, FrameInfo};
use rusqlite::{Connection, OptionalExtension, params};

use crate::{
    chain::{Hash, NotAHash},
    error::{BlobFlaw, Error},
    failpoint,
    journal::Journal,
    place,
};

/// Up to this size a blob lies in the database, above it in a file of its own.
pub const BLOB_INLINE_BYTES_MAX: usize = 64 * 1024;
const PIECE_BYTES: usize = 64 * 1024;

/// The name of a blob: the hash of its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlobId(Hash);

impl BlobId {
    /// The name that these bytes have.
    pub fn of(bytes: &[u8]) -> BlobId {
        BlobId(Hash::of(bytes))
    }

    /// The hash of the content.
    pub fn hash(self) -> Hash {
        self.0
    }
}

impl From<Hash> for BlobId {
    fn from(hash: Hash) -> BlobId {
        BlobId(hash)
    }
}

impl fmt::Display for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for BlobId {
    type Err = NotAHash;

    fn from_str(text: &str) -> Result<BlobId, NotAHash> {
        text.parse().map(BlobId)
    }
}

/// A blob that is ready to be referred to: put it in a [`Batch`](crate::Batch).
#[derive(Debug)]
#[must_use = "a staged blob exists only once a batch with it was committed"]
pub struct Staged {
    id: BlobId,
    bytes: u64,
    /// Packed, or in a file.
    data: Option<Vec<u8>>,
}

impl Staged {
    /// Its name.
    pub fn id(&self) -> BlobId {
        self.id
    }
}

impl Journal {
    /// Makes a blob of these bytes ready.
    ///
    /// # Errors
    ///
    /// When it is large and cannot be written.
    pub fn stage(&self, bytes: &[u8]) -> Result<Staged, Error> {
        self.stage_reader(bytes)
    }

    /// Makes a blob of a file's content ready, piece by piece.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, or the blob not be written.
    pub fn stage_file(&self, path: &Path) -> Result<Staged, Error> {
        let file = File::open(path).map_err(Error::io(path, "read"))?;
        self.stage_from(file, path)
    }

    /// Makes a blob of all that a reader gives ready, piece by piece.
    ///
    /// # Errors
    ///
    /// When the reader fails, or the blob cannot be written.
    pub fn stage_reader(&self, reader: impl Read) -> Result<Staged, Error> {
        self.stage_from(reader, Path::new("blob"))
    }

    fn stage_from(&self, mut reader: impl Read, from: &Path) -> Result<Staged, Error> {
        self.writable()?;
        let mut start = Vec::new();
        let most = BLOB_INLINE_BYTES_MAX as u64 + 1;
        reader.by_ref().take(most).read_to_end(&mut start).map_err(Error::io(from, "read"))?;
        if start.len() <= BLOB_INLINE_BYTES_MAX {
            let data = Some(pack(&start).map_err(Error::io(from, "pack"))?);
            return Ok(Staged { id: BlobId::of(&start), bytes: start.len() as u64, data });
        }
        write_file(self.dir(), start.chain(reader), from)
    }

    /// Stores a blob on its own, durably.
    ///
    /// # Errors
    ///
    /// As [`Journal::stage`] and [`Journal::commit`].
    pub fn put(&self, bytes: &[u8]) -> Result<BlobId, Error> {
        let staged = self.stage(bytes)?;
        self.writing(|conn| insert(conn, self.file(), &staged), |()| None)?;
        Ok(staged.id)
    }

    /// The content of a blob.
    ///
    /// # Errors
    ///
    /// When there is none with that name, or it is damaged.
    pub fn get(&self, id: BlobId) -> Result<Vec<u8>, Error> {
        let mut content = Vec::new();
        self.open_blob(id)?.read_all(|piece| content.extend_from_slice(piece))?;
        Ok(content)
    }

    /// The content of a blob, piece by piece. Only who has read it to its end knows that it is
    /// whole: damage is an error there at the latest.
    ///
    /// # Errors
    ///
    /// When there is none with that name, or its file is gone.
    pub fn open_blob(&self, id: BlobId) -> Result<BlobReader, Error> {
        type Row = (i64, Option<Vec<u8>>);
        let row: Option<Row> = self.reading(|conn| {
            conn.prepare_cached("SELECT bytes, data FROM blobs WHERE id = ?1")
                .and_then(|mut query| {
                    let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
                    query.query_row([id.0.as_bytes()], row).optional()
                })
                .map_err(Error::database(self.file(), "read"))
        })?;
        let (bytes, data) = row.ok_or(Error::NoSuchBlob { id })?;
        let path = path_of(self.dir(), id);
        let packed: Box<dyn Read + Send> = match data {
            Some(data) => Box::new(io::Cursor::new(data)),
            None => Box::new(BufReader::new(open_file(&path, id)?)),
        };
        let (packed, hasher) = (FrameDecoder::new(packed), blake3::Hasher::new());
        Ok(BlobReader { id, path, packed, hasher, left: bytes.cast_unsigned(), whole: false })
    }
}

pub(crate) fn insert(conn: &Connection, file: &Path, staged: &Staged) -> Result<(), Error> {
    let sql = "INSERT INTO blobs (id, bytes, data) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
    let row = params![staged.id.0.as_bytes(), staged.bytes.cast_signed(), staged.data];
    conn.prepare_cached(sql)
        .and_then(|mut insert| insert.execute(row))
        .map_err(Error::database(file, "append to"))?;
    Ok(())
}

/// Every name there is, for looking at them all.
pub(crate) fn ids(conn: &Connection, file: &Path) -> Result<Vec<BlobId>, Error> {
    let failed = |error| Error::database(file, "read")(error);
    let mut query = conn.prepare_cached("SELECT id FROM blobs NOT INDEXED").map_err(failed)?;
    let ids = query.query_map([], |row| Ok(BlobId(Hash::new(row.get(0)?)))).map_err(failed)?;
    ids.collect::<Result<_, _>>().map_err(failed)
}

fn open_file(path: &Path, id: BlobId) -> Result<File, Error> {
    File::open(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            Error::BlobDamaged { id, flaw: BlobFlaw::Missing(path.to_owned()) }
        }
        _ => Error::io(path, "read")(error),
    })
}

fn path_of(dir: &Path, id: BlobId) -> PathBuf {
    let name = id.to_string();
    dir.join("blobs").join(&name[..2]).join(&name[2..])
}

/// Writes a large blob: whole and synced under a temporary name, then under its own. A file that
/// is there already is replaced by the same content.
fn write_file(dir: &Path, reader: impl Read, from: &Path) -> Result<Staged, Error> {
    let temp = Temp::create(dir)?;
    let failed = |error| Error::io(&temp.path, "write")(error);
    let info = FrameInfo::new().block_size(BlockSize::Max64KB);
    let mut packer = FrameEncoder::with_frame_info(info, BufWriter::new(&temp.file));
    let (mut hasher, mut bytes) = (blake3::Hasher::new(), 0);
    pieces(reader, |piece| {
        hasher.update(piece);
        bytes += piece.len() as u64;
        packer.write_all(piece)
    })
    .map_err(|error| match error {
        Stopped::Reading(error) => Error::io(from, "read")(error),
        Stopped::Taking(error) => failed(error),
    })?;
    packer.finish().map_err(|error| failed(error.into()))?.flush().map_err(failed)?;
    temp.file.sync_all().map_err(failed)?;

    let id = BlobId(Hash::new(*hasher.finalize().as_bytes()));
    let path = path_of(dir, id);
    let shelf = path.parent().unwrap_or(dir);
    place::make_private(shelf)?;
    failpoint::pass(failpoint::BEFORE_RENAME);
    fs::rename(&temp.path, &path).map_err(Error::io(&path, "name"))?;
    failpoint::pass(failpoint::AFTER_RENAME);
    place::sync_dir(shelf)?;
    Ok(Staged { id, bytes, data: None })
}

enum Stopped {
    Reading(io::Error),
    Taking(io::Error),
}

fn pieces(
    mut reader: impl Read,
    mut take: impl FnMut(&[u8]) -> io::Result<()>,
) -> Result<(), Stopped> {
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        match reader.read(&mut piece) {
            Ok(0) => return Ok(()),
            Ok(n) => take(&piece[..n]).map_err(Stopped::Taking)?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Stopped::Reading(error)),
        }
    }
}

/// A file that is gone with its value, unless it was given a name.
struct Temp {
    path: PathBuf,
    file: File,
}

fn temp_dir(dir: &Path) -> PathBuf {
    dir.join("blobs").join("tmp")
}

impl Temp {
    fn create(dir: &Path) -> Result<Temp, Error> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let dir = temp_dir(dir);
        place::make_private(&dir)?;
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = dir.join(format!("{}-{number}", process::id()));
            match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
                Ok(file) => return Ok(Temp { path, file }),
                // Left behind by an earlier process with our number.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(Error::io(&path, "create")(error)),
            }
        }
    }
}

impl Drop for Temp {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Removes what processes that died left half written. Only for who holds the lock: then nobody
/// but this process is writing.
pub(crate) fn sweep(dir: &Path) -> Result<(), Error> {
    let dir = temp_dir(dir);
    let entries = match fs::read_dir(&dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(Error::io(&dir, "read"))?,
    };
    let ours = format!("{}-", process::id());
    for entry in entries {
        let entry = entry.map_err(Error::io(&dir, "read"))?;
        if !entry.file_name().to_string_lossy().starts_with(&ours) {
            fs::remove_file(entry.path()).map_err(Error::io(&entry.path(), "remove"))?;
        }
    }
    Ok(())
}

pub(crate) fn pack(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut packer = FrameEncoder::new(Vec::new());
    packer.write_all(bytes)?;
    Ok(packer.finish()?)
}

/// The content of a blob, piece by piece, verified at its end.
pub struct BlobReader {
    id: BlobId,
    path: PathBuf,
    packed: FrameDecoder<Box<dyn Read + Send>>,
    hasher: blake3::Hasher,
    left: u64,
    whole: bool,
}

impl BlobReader {
    fn damaged(&self, flaw: BlobFlaw) -> Error {
        Error::BlobDamaged { id: self.id, flaw }
    }

    fn read_piece(&mut self, piece: &mut [u8]) -> Result<usize, Error> {
        if self.whole || piece.is_empty() {
            return Ok(0);
        }
        let n = self.packed.read(piece).map_err(|error| match error.raw_os_error() {
            Some(_) => Error::io(&self.path, "read")(error),
            None => self.damaged(BlobFlaw::Packed),
        })?;
        self.left =
            self.left.checked_sub(n as u64).ok_or_else(|| self.damaged(BlobFlaw::Length))?;
        self.hasher.update(&piece[..n]);
        if n > 0 {
            return Ok(n);
        }
        if self.left > 0 {
            return Err(self.damaged(BlobFlaw::Length));
        }
        if self.hasher.finalize().as_bytes() != self.id.0.as_bytes() {
            return Err(self.damaged(BlobFlaw::Mismatch));
        }
        self.whole = true;
        Ok(0)
    }

    /// Reads it to its end.
    pub(crate) fn read_all(&mut self, mut take: impl FnMut(&[u8])) -> Result<(), Error> {
        let mut piece = vec![0; PIECE_BYTES];
        loop {
            match self.read_piece(&mut piece)? {
                0 => return Ok(()),
                n => take(&piece[..n]),
            }
        }
    }
}

impl Read for BlobReader {
    fn read(&mut self, piece: &mut [u8]) -> io::Result<usize> {
        self.read_piece(piece).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    }
}

impl fmt::Debug for BlobReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlobReader").field("id", &self.id).field("left", &self.left).finish()
    }
}

/// What was packed, if it can be unpacked at all.
pub(crate) fn unpack(packed: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    FrameDecoder::new(packed).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_earlier_process_with_our_number_left_is_passed_over() {
        let dir = tempfile::tempdir().unwrap();
        let first = Temp::create(dir.path()).unwrap();
        let name = first.path.file_name().unwrap().to_str().unwrap();
        let (ours, number) = name.split_once('-').unwrap();
        let number: u64 = number.parse().unwrap();
        // Other threads may take some of the numbers meanwhile, but not all of them.
        let left = |number: u64| temp_dir(dir.path()).join(format!("{ours}-{number}"));
        (number + 1..number + 100).for_each(|number| fs::write(left(number), "left").unwrap());
        let next = Temp::create(dir.path()).unwrap();
        assert_eq!(next.file.metadata().unwrap().len(), 0);
    }
}
