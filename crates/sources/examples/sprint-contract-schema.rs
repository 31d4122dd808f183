//! Writes the schema of `sprint-contract.json`, as docs/sprint-contract.schema.json has it.

use std::io::Write;

fn main() -> std::io::Result<()> {
    let schema = windlass_sources::sprint::schema();
    writeln!(std::io::stdout(), "{schema:#}")
}
