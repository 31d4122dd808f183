//! What Linear sends when something changes there says itself when that was.

use serde::Deserialize;

/// A message is from just now.
const AGE_MS_MAX: u64 = 60_000;

/// Whether Linear sent a message just now, as it says itself.
pub fn is_fresh(body: &[u8], now_ms: i64) -> bool {
    #[derive(Deserialize)]
    struct Stamped {
        #[serde(rename = "webhookTimestamp")]
        at_ms: i64,
    }
    let stamped: Result<Stamped, _> = serde_json::from_slice(body);
    stamped.is_ok_and(|it| it.at_ms.abs_diff(now_ms) <= AGE_MS_MAX)
}
