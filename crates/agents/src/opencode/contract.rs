//! What opencode prints.

use crate::contract::Contract;

pub(super) static CONTRACT: Contract = Contract {
    names: &["type"],
    printed: &[
        ("step_start", &["sessionID", "part.id"]),
        ("text", &["sessionID", "part.text"]),
        ("reasoning", &["sessionID"]),
        ("tool_use", &["sessionID", "part.tool", "part.state.status", "part.state.input"]),
        (
            "step_finish",
            &[
                "sessionID",
                "part.id",
                "part.reason",
                "part.cost",
                "part.tokens.input",
                "part.tokens.output",
                "part.tokens.reasoning",
                "part.tokens.cache.read",
                "part.tokens.cache.write",
            ],
        ),
        ("error", &["error.name"]),
    ],
    record_names: &[],
    written: &[],
};
