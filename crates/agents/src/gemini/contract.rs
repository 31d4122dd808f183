//! What Gemini CLI prints, and what it writes down.

use crate::contract::Contract;

pub(super) static CONTRACT: Contract = Contract {
    names: &["type", "role"],
    printed: &[
        ("init", &["session_id"]),
        ("message/assistant", &["content"]),
        ("message/user", &[]),
        ("tool_use", &["tool_name", "tool_id", "parameters"]),
        ("tool_result", &["tool_id"]),
        ("error", &["message"]),
        (
            "result",
            &[
                "status",
                "stats.models.*.input_tokens",
                "stats.models.*.cached",
                "stats.models.*.output_tokens",
                "stats.models.*.total_tokens",
            ],
        ),
    ],
    record_names: &["type"],
    written: &[("gemini", &["id"])],
};
