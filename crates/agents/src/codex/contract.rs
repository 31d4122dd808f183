//! What Codex prints, and what it writes down.

use crate::contract::Contract;

pub(super) static CONTRACT: Contract = Contract {
    names: &["type", "item.type"],
    printed: &[
        ("thread.started", &["thread_id"]),
        ("turn.started", &[]),
        (
            "turn.completed",
            &["usage.input_tokens", "usage.cached_input_tokens", "usage.output_tokens"],
        ),
        ("turn.failed", &["error.message"]),
        ("error", &["message"]),
        ("item.completed/agent_message", &["item.text"]),
        ("item.started/command_execution", &["item.command"]),
        ("item.completed/command_execution", &["item.command"]),
        ("item.completed/file_change", &["item.changes.*.path"]),
        ("item.started/*", &["item.id"]),
        ("item.updated/*", &["item.id"]),
        ("item.completed/error", &["item.message"]),
        ("item.completed/reasoning", &[]),
        ("item.completed/mcp_tool_call", &[]),
        ("item.completed/collab_tool_call", &[]),
        ("item.completed/web_search", &[]),
        ("item.completed/todo_list", &[]),
    ],
    record_names: &["type", "payload.type"],
    written: &[
        (
            "token_usage_record",
            &[
                "payload.thread_token_usage.input_tokens",
                "payload.thread_token_usage.cached_input_tokens",
                "payload.thread_token_usage.output_tokens",
            ],
        ),
        ("turn_context", &["payload.model"]),
    ],
};
