//! What a check is by the configuration.

use schemars::JsonSchema;
use serde::Deserialize;

/// A check's command.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "a check is its command, or `false`, or `{ run = \"…\", report = \"…\" }`"
)]
pub enum CheckConfig {
    /// This one.
    Command(String),
    /// `false`: none, whatever could be detected.
    Off(bool),
    /// With the report that it writes.
    Reporting(ReportingConfig),
}

/// A check that writes a report.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ReportingConfig {
    /// Its command; without one, what is detected.
    pub run: Option<String>,
    /// The file that it writes JUnit's XML into, below the top of its checkout.
    pub report: String,
}
