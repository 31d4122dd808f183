//! Whether a program can live where agents do, tried out before anybody is asked to.
//!
//! That a sandbox starts says nothing of what a person adds to it: files that are shown and are not there, limits that
//! nobody can live with. So the very place that an agent would get is made, with all of its limits, and something small is
//! started there.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use windlass_process::sandbox::Level;
use windlass_process::{Bounds, Command, Disk, Ending, Env, Finished, Limits, Spawner};

use crate::isolation::{self, Isolation, Sight, Stay, Workspace};

/// What lives there: the shell that runs checks. It needs its lane, its home and room for scratch files.
const LIFE: &str = "for place in . \"$HOME\" \"${TMPDIR:-/tmp}\"; do
[ -w \"$place\" ] || { echo \"$place cannot be written\" >&2; exit 1; }
done";

/// So long it may take.
const PATIENCE: Duration = Duration::from_secs(20);
const GRACE: Duration = Duration::from_secs(1);

/// Makes a lane and quarters below `dir`, which is nobody else's, and starts something there.
///
/// # Errors
///
/// What went wrong, in words.
pub fn try_out(
    isolation: &Isolation,
    bounds: &Bounds,
    spawner: &Spawner,
    dir: &Path,
    objects: &Path,
) -> Result<(), String> {
    let life = match isolation.sandbox().level() {
        // There the home is the person's, and none of our business.
        Level::None => ":",
        Level::Landlock | Level::Bubblewrap => LIFE,
    };
    let words = ["-c".to_owned(), life.to_owned()];
    let place = Place { isolation, bounds, spawner, dir, objects };
    place.run(Path::new("/bin/sh"), &words).and_then(|finished| lived(&finished))
}

/// What a program says of its version, where an agent would be.
///
/// # Errors
///
/// Why it says nothing, in words.
pub fn version(
    isolation: &Isolation,
    spawner: &Spawner,
    dir: &Path,
    program: &Path,
) -> Result<String, String> {
    let bounds = Bounds::default();
    let place = Place { isolation, bounds: &bounds, spawner, dir, objects: dir };
    let finished = place.run(program, &["--version".to_owned()])?;
    let said = finished.stdout.text().unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    let line = said.lines().map(str::trim).find(|line| !line.is_empty());
    match (finished.ending, line) {
        (Ending::Exited(0), Some(line)) => Ok(line.to_owned()),
        _ => Err("it does not tell its version".to_owned()),
    }
}

/// A place that is made for one program, and nobody else's.
struct Place<'a> {
    isolation: &'a Isolation,
    bounds: &'a Bounds,
    spawner: &'a Spawner,
    dir: &'a Path,
    objects: &'a Path,
}

impl Place<'_> {
    fn run(&self, program: &Path, words: &[String]) -> Result<Finished, String> {
        let Place { isolation, bounds, spawner, dir, objects } = *self;
        let (work, quarters) = (dir.join("lane"), dir.join("quarters"));
        let space = Workspace { work: &work, objects, quarters: &quarters };
        let unmade = |error: io::Error| format!("cannot make {}: {error}", dir.display());
        make(space).map_err(unmade)?;
        let (none, told) = (BTreeSet::new(), [program.to_owned()]);
        let stay = Stay { sight: Sight::Change, shown: &[], writable: &none, told: &told };
        let below = vec![work.clone(), quarters.clone()];
        let disk = bounds.disk.as_ref().map(|disk| Disk { below, bytes: disk.bytes });
        let limits = Limits {
            wall: Some(PATIENCE),
            grace: GRACE,
            bounds: Bounds { disk, ..bounds.clone() },
            ..Limits::default()
        };
        let command = Command::new(program, &work)
            .args(words.iter().cloned())
            .env(isolation.env(Env::inherited(), &quarters));
        let command = isolation.confine(command, limits, isolation.of_agent(space, stay));
        let ran = spawner.run(command);
        // What is left of it is in nobody's way, and goes the next time.
        let _ = isolation::remove(dir);
        ran.map_err(|error| error.to_string())
    }
}

/// A lane without any files, and quarters.
fn make(space: Workspace<'_>) -> io::Result<()> {
    isolation::remove(space.work)?;
    for part in ["objects/info", "info", "hooks"] {
        fs::create_dir_all(space.work.join(".git").join(part))?;
    }
    fs::write(space.work.join(".git/config"), "")?;
    isolation::make_quarters(space.quarters)
}

fn lived(finished: &Finished) -> Result<(), String> {
    let said = finished.stderr.text().unwrap_or_default();
    let said = String::from_utf8_lossy(&said).trim().to_owned();
    let said = if said.is_empty() { said } else { format!(": {said}") };
    Err(match finished.ending {
        Ending::Exited(0) => return Ok(()),
        Ending::Barred => finished.why.clone().unwrap_or_default(),
        Ending::Exceeded(resource) => {
            format!("what does next to nothing {}", isolation::too_much(resource))
        }
        Ending::TimedOut(_) => format!("nothing had ended after {} s", PATIENCE.as_secs()),
        Ending::Exited(code) => format!("/bin/sh exited with {code}{said}"),
        Ending::Signalled(signal) => format!("signal {signal} ended /bin/sh{said}"),
        Ending::Stopped => "it was stopped".to_owned(),
    })
}
