//! Looks again and again how much of the disk a child's directories take.
//!
//! A walk over many files takes its time, so it has a thread of its own, and no more of the processor than a twentieth.

use std::{
    fs, io,
    os::unix::fs::MetadataExt,
    path::Path,
    sync::{Arc, Condvar, Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use crate::bounds::Disk;

/// How long nobody looks, at least.
const PAUSE: Duration = Duration::from_millis(200);
/// So many times as long as a walk took nobody looks afterwards.
const REST: u32 = 20;

/// A look that goes on until this is dropped.
pub(crate) struct Gauge {
    stop: Arc<(Mutex<bool>, Condvar)>,
}

impl Gauge {
    /// Begins to look; calls `exceeded` once, when there is too much.
    pub(crate) fn start(disk: Disk, exceeded: impl FnOnce() + Send + 'static) -> Gauge {
        let stop = Arc::new((Mutex::new(false), Condvar::new()));
        let own = stop.clone();
        let look = move || {
            loop {
                let from = Instant::now();
                if disk.below.iter().map(|dir| taken(dir, 0)).sum::<u64>() > disk.bytes {
                    exceeded();
                    return;
                }
                let pause = PAUSE.max(from.elapsed().saturating_mul(REST));
                let (stopped, changed) = &*own;
                let stopped = stopped.lock().unwrap_or_else(PoisonError::into_inner);
                let waited = changed.wait_timeout_while(stopped, pause, |stopped| !*stopped);
                if *waited.unwrap_or_else(PoisonError::into_inner).0 {
                    return;
                }
            }
        };
        // Without a thread nobody looks; the machine has other troubles then.
        let _ = thread::Builder::new().name("disk gauge".to_owned()).spawn(look);
        Gauge { stop }
    }
}

impl Drop for Gauge {
    fn drop(&mut self) {
        let (stopped, changed) = &*self.stop;
        *stopped.lock().unwrap_or_else(PoisonError::into_inner) = true;
        changed.notify_all();
    }
}

/// How much of the disk a directory takes. Links are not followed. What goes away meanwhile takes nothing; where it is
/// deeper than anybody needs, it takes more than there is, because nobody can look there.
fn taken(dir: &Path, depth: u32) -> u64 {
    /// The unit in which the kernel counts, whatever the disk does.
    const BLOCK: u64 = 512;
    const DEPTH_MAX: u32 = 200;
    const TOO_MUCH: u64 = u64::MAX >> 16;
    if depth > DEPTH_MAX {
        return TOO_MUCH;
    }
    let entries = match fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::InvalidFilename => return TOO_MUCH,
        entries => entries.into_iter().flatten().flatten(),
    };
    let of = |entry: fs::DirEntry| {
        let Ok(meta) = entry.metadata() else { return 0 };
        // A file with many names takes its place once.
        let own = meta.blocks() * BLOCK / meta.nlink().max(1);
        if meta.is_dir() { own.max(BLOCK) + taken(&entry.path(), depth + 1) } else { own }
    };
    entries.map(of).sum()
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn too_much_is_noticed_and_enough_is_not() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("below")).unwrap();
        fs::write(dir.path().join("below/file"), vec![1; 100_000]).unwrap();
        std::os::unix::fs::symlink("/usr", dir.path().join("link")).unwrap();
        let before = taken(dir.path(), 0);
        assert!((100_000..200_000).contains(&before), "{before}");
        let (tell, told) = channel();
        let disk = Disk { below: vec![dir.path().into()], bytes: 300_000 };
        let _gauge = Gauge::start(disk, move || tell.send(()).unwrap());
        assert!(told.recv_timeout(PAUSE * 3).is_err(), "not yet");
        fs::write(dir.path().join("another"), vec![1; 300_000]).unwrap();
        told.recv_timeout(Duration::from_secs(20)).expect("it is noticed");
    }

    #[test]
    fn what_nobody_can_look_at_is_too_much() {
        let dir = tempfile::tempdir().unwrap();
        let mut deep = dir.path().to_owned();
        for _ in 0..250 {
            deep.push("d");
        }
        fs::create_dir_all(&deep).unwrap();
        assert!(taken(dir.path(), 0) > 1 << 40);
    }
}
