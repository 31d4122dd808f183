//! `linear-schema FILE`: the part of Linear's published schema that is kept here, on standard output.

use std::io::{self, Write};
use std::process::ExitCode;

use windlass_trackerkit::linear::part;

fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        _ = writeln!(io::stderr(), "usage: linear-schema FILE");
        return ExitCode::FAILURE;
    };
    let whole = std::fs::read_to_string(&path).map_err(|error| error.to_string());
    match whole.and_then(|whole| part::cut(&whole)) {
        Ok(part) => {
            _ = io::stdout().write_all(part.as_bytes());
            ExitCode::SUCCESS
        }
        Err(why) => {
            _ = writeln!(io::stderr(), "{path}: {why}");
            ExitCode::FAILURE
        }
    }
}
