//! What OpenAI says when it cannot, in both of its ways to be asked.

use serde_json::json;

use super::Complained;
use crate::fault::Complaint;
use crate::request::Request;

/// What OpenAI says when it cannot.
pub(super) fn complain(request: &Request, complaint: Complaint) -> Complained {
    let (status, kind, code, message) = words(complaint);
    let mut error = json!({"message": message, "type": kind, "code": code, "param": null});
    if let Complaint::RateLimited { reset_unix_s: Some(at), .. } = complaint {
        error = json!({
            "type": "usage_limit_reached",
            "message": "The usage limit has been reached",
            "plan_type": "plus",
            "resets_at": at,
        });
    }
    let headers = vec![("x-request-id".to_owned(), format!("req_{:06}", request.serial))];
    Complained { status, headers, body: json!({"error": error}) }
}

/// The status, type, code and message of a complaint.
pub(super) fn words(complaint: Complaint) -> (u16, &'static str, &'static str, &'static str) {
    match complaint {
        Complaint::RateLimited { .. } => (
            429,
            "requests",
            "rate_limit_exceeded",
            "Rate limit reached for requests. Please try again in 1s.",
        ),
        Complaint::Overloaded => (
            503,
            "server_error",
            "server_is_overloaded",
            "Our servers are currently overloaded. Please try again later.",
        ),
        Complaint::Internal => (
            500,
            "server_error",
            "server_error",
            "The server had an error while processing your request. Sorry about that!",
        ),
        Complaint::Unauthorized => {
            (401, "invalid_request_error", "invalid_api_key", "Incorrect API key provided.")
        }
        Complaint::Overflow => (
            400,
            "invalid_request_error",
            "context_length_exceeded",
            "Your input exceeds the context window of this model. Please adjust your input and try again.",
        ),
    }
}
