//! What `windlass.toml` says about lanes.

use schemars::JsonSchema;
use serde::Deserialize;
use windlass_engine::foresight::Policy;

/// Lanes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LaneConfig {
    /// Files that are not in git and that lanes need, such as `.env`.
    #[serde(default)]
    pub copy: Vec<String>,
    /// What is done about lanes that change the same: `show`, `tell` (whoever works in the later one) or `serialise` (the
    /// later one waits); `tell` if not said.
    pub conflicts: Option<ConflictConfig>,
    /// What lanes may take of the disk, all together, such as `20 GB`; `40 GB` if not said. Beyond that no unit begins.
    pub disk: Option<String>,
}

/// What is done about lanes that change the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ConflictConfig {
    /// It is shown.
    Show,
    /// Whoever works in the later lane is told.
    Tell,
    /// The later lane waits.
    Serialise,
}

/// What lanes may take of the disk if nobody says.
const LANES_BYTES: u64 = 40_000_000_000;

/// A size as people say it: a number and `kB`, `MB`, `GB` or `TB`.
fn bytes_said(text: &str) -> Option<u64> {
    let text = text.trim();
    let at = text.find(|c: char| c.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(at);
    let number: f64 = number.trim().parse().ok().filter(|it: &f64| it.is_finite() && *it >= 0.0)?;
    let size = match unit.to_ascii_lowercase().as_str() {
        "b" => 1.0,
        "kb" => 1e3,
        "mb" => 1e6,
        "gb" => 1e9,
        "tb" => 1e12,
        _ => return None,
    };
    Some((number * size) as u64)
}

impl LaneConfig {
    /// What is wrong with it, if anything is, and the word that shows it.
    pub fn flaw(&self) -> Option<(&str, String)> {
        let disk = self.disk.as_deref().filter(|disk| bytes_said(disk).is_none_or(|it| it == 0))?;
        Some((disk, format!("`{disk}` is no size: say it as in `20 GB` or `500 MB`")))
    }

    /// What lanes may take of the disk, in bytes.
    pub fn bytes_max(&self) -> u64 {
        self.disk.as_deref().and_then(bytes_said).unwrap_or(LANES_BYTES)
    }

    /// What is done about lanes that change the same.
    pub fn policy(&self) -> Policy {
        match self.conflicts {
            Some(ConflictConfig::Show) => Policy::Show,
            Some(ConflictConfig::Tell) => Policy::Tell,
            Some(ConflictConfig::Serialise) => Policy::Serialise,
            None => Policy::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_taken_as_people_say_it() {
        assert_eq!(bytes_said("20 GB"), Some(20_000_000_000));
        assert_eq!(bytes_said("1.5tb"), Some(1_500_000_000_000));
        assert_eq!(bytes_said("500 MB"), Some(500_000_000));
        for none in ["", "20", "GB", "-1 GB", "20 GiB", "nan GB", "20 GB more"] {
            assert_eq!(bytes_said(none), None, "{none}");
        }
        let config =
            |disk: &str| LaneConfig { disk: Some(disk.to_owned()), ..LaneConfig::default() };
        assert!(config("0 GB").flaw().is_some() && config("much").flaw().is_some());
        assert_eq!(config("1 MB").flaw(), None);
        assert_eq!(LaneConfig::default().bytes_max(), LANES_BYTES);
    }
}
