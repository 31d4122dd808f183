//! The person's own editor, on a file of their checkout.

use std::io;
use std::path::Path;
use std::process::Command;

/// What a person calls it, if they do: `VISUAL`, or else `EDITOR`.
pub fn named() -> Option<String> {
    let named = |name| std::env::var(name).ok().filter(|it| !it.trim().is_empty());
    named("VISUAL").or_else(|| named("EDITOR"))
}

/// Opens a file, and waits until it is closed again. It has the terminal to itself meanwhile, so it is no process of a run.
///
/// # Errors
///
/// When there is none, it cannot be started, or it says that nothing was done.
pub fn open(path: &Path) -> io::Result<()> {
    let Some(editor) = named() else {
        return Err(io::Error::other("set VISUAL or EDITOR to your editor"));
    };
    // It may have options of its own, as in `code --wait`; the file's name is none of them.
    let line = format!("{editor} \"$1\"");
    let ended = Command::new("/bin/sh").args(["-c", &line, "sh"]).arg(path).status()?;
    match ended.success() {
        true => Ok(()),
        false => Err(io::Error::other(format!("`{editor}` ended with {ended}"))),
    }
}
