//! What Claude Code prints.

use crate::contract::Contract;

const RESULT: [&str; 9] = [
    // One that fails before its first turn is without these.
    "result",
    "terminal_reason",
    "is_error",
    "stop_reason",
    "total_cost_usd",
    "modelUsage.*.inputTokens",
    "modelUsage.*.outputTokens",
    "modelUsage.*.cacheReadInputTokens",
    "modelUsage.*.cacheCreationInputTokens",
];

pub(super) static CONTRACT: Contract = Contract {
    names: &["type", "subtype"],
    printed: &[
        ("system/init", &["session_id"]),
        ("system/api_retry", &["retry_delay_ms"]),
        ("system/permission_denied", &["tool_name"]),
        // How it is doing: nobody listens to that.
        ("system/*", &[]),
        (
            "assistant",
            &[
                "message.id",
                "message.model",
                "message.content.*.type",
                "message.usage.input_tokens",
                "message.usage.output_tokens",
                "message.usage.cache_read_input_tokens",
                "message.usage.cache_creation_input_tokens",
            ],
        ),
        ("user", &["message.content"]),
        ("stream_event", &["event.type"]),
        ("rate_limit_event", &["rate_limit_info.status"]),
        ("result/success", &RESULT),
        ("result/*", RESULT.split_at(2).1),
        ("keep_alive", &[]),
        ("tool_progress", &[]),
        ("tool_use_summary", &[]),
        ("auth_status", &[]),
        ("prompt_suggestion", &[]),
    ],
    record_names: &[],
    written: &[],
};
