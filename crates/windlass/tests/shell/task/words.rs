//! The seed's words: each sentence that it quotes is one of ours, letter for letter. When it is said is the matter of the
//! flows beside this file.

use std::fs;
use std::path::Path;

/// Quoted by the seed; what it leaves open (`<path>`, `{skill}`) is a star.
const QUOTED: &[&str] = &[
    "[harness] ⚠ 1-line return parse failed — fallback: confidence Unknown",
    "A /* skill session is active in this directory.",
    "A /* session exists. Delete it and start /workflow?",
    "Delete .harness/ and proceed with /workflow",
    "Keep existing session and halt",
    "[harness] Previous session detected (v1).",
    "[harness] Previous session detected. Resume, restart, or stop?",
    "Continue from *",
    "Delete .harness/ and start fresh",
    "Delete .harness/ and halt",
    "[harness] ⚠ Recovered docs_path failed validation: *",
    "Run plan first",
    "Run generate first",
    "Run verify first",
    "Select workflow mode:",
    "2 specialists analyze + synthesize. ~1.5x tokens. Balanced depth",
    "1 agent. Fast, token-saving. Best for simple tasks",
    "3 specialists + cross-critique. ~2-2.5x tokens. Deepest analysis",
    "Select model configuration for sub-agents:",
    "Inherit parent model, no changes",
    "All sub-agents use Opus (highest quality)",
    "Sonnet executor + Opus advisor/evaluator (cost-efficient)",
    "Haiku executor + Sonnet advisor/evaluator (max savings)",
    "[harness] Task started!",
    "⚠ Verifier set to * — high cost for mechanical verification. haiku is usually sufficient.",
    "[harness] Conventions: CLAUDE.md detected (rich). Copied to .harness/conventions.md",
    "No rich CLAUDE.md found. Scan codebase to auto-detect project conventions (DB, API, file structure, test patterns)? \
     This helps the Planner align with existing patterns.",
    "Run convention scanner sub-agent (~1 token overhead)",
    "Proceed without convention data",
    "[harness] Conventions: skipped.",
    "Convention scan completed but output file not found.",
    "Output file missing. Retry or skip?",
    "Re-run scanner",
    "Proceed without conventions",
    "[harness] Conventions: scanned and saved to .harness/conventions.md",
    "Failed to read *: *. Discovery Notes will be empty for planner injection.",
    "[harness] Phase: Plan",
    "✓ * proposals generated",
    "✓ * cross-critiques completed",
    "[harness] Plan complete.",
    "Review the spec above. Implementation consumes significant tokens. Confirm to proceed.",
    "Start implementation as specified",
    "Edit the spec, then re-confirm",
    "Halt the workflow",
    "[harness] Phase: Generate",
    "Dispatching generator sub-agent...",
    "✓ Plan: *",
    "✓ Review: *",
    "✓ Code: *",
    "✓ Reviews: * advisors completed",
    "[harness] Generate complete.",
    "[harness] Phase: Verify (Layer 1 — Mechanical)",
    "[harness] Verify (Layer 1) complete.",
    "Result : *",
    "[harness] Verify (Layer 1) FAIL — retrying Generator (attempt */3)",
    "[harness] Verify (Layer 1) FAIL — max retries reached (*/*)",
    "Latest error: *",
    "See: *",
    "Mechanical verification failed after 3 attempts.",
    "Let AI (Opus) analyze the failure and propose a minimal diff (1 attempt only)",
    "Skip remaining verify issues, proceed to QA",
    "Halt for manual intervention. Review verify_report.md",
    "[harness] ⚠ Path validation failed: * — excluded from Proposer input",
    "[harness] ⚠ No valid file paths found — Proposer input will be empty",
    "[harness] ⚠ Patch file is empty or has no diff block — apply skipped",
    "[harness] ℹ Auto-fix model: *",
    "Proposed fix generated (confidence: *). Apply the patch?",
    "⚠ Low confidence — review the diff carefully before applying.",
    "Apply the proposed diff and re-run Layer 1 verification (retry counter unchanged)",
    "Discard proposal, return to previous gate (Auto-fix option hidden)",
    "Halt for manual intervention",
    "[harness] Applying patch to: *",
    "[harness] ✗ Diff path validation failed: *",
    "Apply failed — reverted to pre-apply state.",
    "[harness] Phase: Evaluate (Layer 2+3)",
    "Dispatching evaluator sub-agent...",
    "Layer 1 PASSED — build/test/lint/type-check verified. See *verify_report.md",
    "Layer 1 FAILED (user proceeded despite failures) — see *verify_report.md. Pay extra attention to build/test correctness.",
    "Layer 1 was not executed for this session.",
    "[harness] Evaluate complete.",
    "[harness] ✓ QA PASS — task complete.",
    "[harness] Evaluate FAIL (Layer 2) — retrying Generator (attempt */2)",
    "[harness] Evaluate FAIL (Layer 2) — max retries reached (*/*)",
    "Failing items: *",
    "Layer 2 structural verification failed after 2 retries.",
    "Run next round",
    "Finish without fixing",
    "QA result: FAIL (Layer 3).",
    "Run next round to fix FAIL items",
    "[harness] Max rounds reached. Remaining issues in qa_report.md.",
    "Contains team knowledge from /memory skill.",
    "docs/ is git-ignored — all artifacts permanently deleted.",
    "Implementation complete. Choose how to finish:",
    "Clean artifacts, commit code changes only",
    "Commit everything including artifacts",
    "Clean .harness/ only, keep changes in working tree",
    "Failed to stage *: *. Spec artifact may not be in git history.",
];

/// A text with everything that is filled in as a star, and spaces as they may be.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        plain.push_str(before);
        let (inside, behind) = after.split_once('}').unwrap_or((after, ""));
        let inside = inside.trim();
        // A space that a message file has to write out; a variable of its, or of a definition; a table.
        if inside.starts_with('"') {
            plain.push(' ');
        } else if inside.starts_with('$') || !inside.contains([' ', '=', '\n']) {
            plain.push('*');
        } else {
            plain.push('{');
            rest = after;
            continue;
        }
        rest = behind;
    }
    plain.push_str(rest);
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_sentence_that_the_seed_quotes_is_one_of_ours() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let files =
        ["messages/en.ftl", "workflows/task.toml", "crates/windlass/src/commands/task/mod.rs"];
    let ours: String =
        files.map(|file| plain(&fs::read_to_string(top.join(file)).unwrap())).join("\n");
    let missing: Vec<&&str> = QUOTED.iter().filter(|quote| !has(&ours, quote)).collect();
    assert!(missing.is_empty(), "{missing:#?}");
    // One that differs in a word is noticed.
    assert!(!has(&ours, "[harness] Plan completed.") && !has(&ours, "Latest errors: *"));
}

/// Whether a text has a sentence: where the seed leaves something open, ours has something filled in, or a name.
fn has(ours: &str, quote: &str) -> bool {
    if ours.contains(quote) {
        return true;
    }
    quote.contains("*verify_report.md")
        && ours.contains(&quote.replace("*verify_report.md", "verify_report.md"))
}
