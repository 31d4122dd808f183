//! Why a feature stands where it stands, in the words that its file has of it.

use windlass_sources::features::{BY_HAND, LEFT_OUT};

/// It waits for another one.
pub const DEPENDS: &str = "it depends on ";

/// Behind the claim that something later has broken.
pub const BROKEN: &str = " does not hold any more";

pub const TAKEN_BACK: &str = "it had landed, and somebody has taken it back";

pub const GIVEN_UP: &str =
    "its landing waited for a person to take it, and was given up with the branch that it was on";

/// Records of `workflows/mission.toml` that settle a feature, and what each means.
const RECORDS: [(&str, &str); 8] = [
    ("stuck", "its attempts are used up"),
    (
        "outrun",
        "the branch moved on each time that it was about to land, until nobody tried any more",
    ),
    ("entangled", "it was in conflict with what had landed again and again"),
    ("contradicted", "nobody could resolve its conflict with what has landed"),
    ("unresolved", "the architect could not resolve an ambiguity"),
    ("override", BY_HAND),
    ("left_out", LEFT_OUT),
    ("removed", "a person took it out of features.json"),
];

/// What a record means.
pub fn of(record: &str) -> Option<&'static str> {
    RECORDS.iter().find(|(own, _)| *own == record).map(|(_, why)| *why)
}

/// Whether a record says that a person has settled it in the file.
pub fn is_by_hand(record: &str) -> bool {
    ["override", "left_out"].contains(&record)
}

/// Whether we have written it: then it is about how the feature stood before, once a person has set it otherwise.
pub fn is_ours(reason: &str) -> bool {
    RECORDS.iter().any(|(_, why)| *why == reason)
        || [TAKEN_BACK, GIVEN_UP].contains(&reason)
        || reason.starts_with(DEPENDS)
        || reason.ends_with(BROKEN)
}
