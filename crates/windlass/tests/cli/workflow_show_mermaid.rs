//! Pictures. That Mermaid itself takes them was tried by hand (11.17); what is tested here is that
//! nothing but our own few forms ever comes out.

use crate::windlass::{BUILT_IN, printed, seen, windlass};

/// Mermaid's own limits.
const TEXT_MAX: usize = 50_000;
const EDGES_MAX: usize = 500;

#[test]
fn a_picture_of_a_small_workflow() {
    insta::assert_snapshot!(seen(&mut windlass(&["workflow", "show", "tests/fixtures/tidy.toml", "--mermaid"])), @r#"
    exit 0
    --- stdout
    flowchart TD
      subgraph g0["intake"]
        direction TB
        b0(["start"])
        s0["list<br/>read plans-table"]
        e0(["end"])
        e1(["finish failed"])
      end
      subgraph g1["unit"]
        direction TB
        b1(["start"])
        s1["tidy<br/>role worker"]
        s2["prove<br/>checks test"]
        s3{{"ask<br/>There are no tests here. Land it unproved?"}}:::gate
        s4["land<br/>land"]:::land
        e2(["failed"])
        e3(["pause"])
        e4(["done"])
      end
      g0 ==> g1
      b0 --> s0
      s0 -->|"found"| e0
      s0 -->|"old_format, missing"| e1
      b1 --> s1
      s1 -->|"done"| s2
      s1 -->|"failed, unknown, no_output"| s1
      s1 -.->|"failed, attempts spent"| e2
      s1 -.->|"unknown, redo spent, no_output, redo spent"| e3
      s1 -->|"context_full, cut_short"| e3
      s2 -->|"pass"| s4
      s2 -->|"fail"| s1
      s2 -.->|"fail, attempts spent"| e2
      s2 -->|"skipped"| s3
      s3 -->|"yes"| s4
      s3 -->|"no"| e2
      s4 -->|"landed"| e4
      s4 -->|"moved"| s2
      s4 -.->|"moved, attempts spent"| e2
      s4 -->|"conflict"| e2
      classDef gate fill:#fff3c4,stroke:#b58900,color:#000
      classDef land fill:#d5f5e3,stroke:#1e8449,color:#000
    "#);
}

#[test]
fn hostile_names_cannot_break_it() {
    let (code, picture) =
        printed(&["workflow", "show", "tests/fixtures/hostile.toml", "--mermaid"]);
    assert_eq!(code, 0);
    well_formed("hostile", &picture);
    for trick in ["<script", "javascript:alert(1)\"", "`", "%%", "\u{1b}", "\u{202e}"] {
        assert!(!picture.contains(trick), "{trick}: {picture}");
    }
}

#[test]
fn every_built_in_workflow_makes_a_picture() {
    for name in BUILT_IN {
        let (code, picture) = printed(&["workflow", "show", name, "--mermaid"]);
        assert_eq!(code, 0, "{name}");
        well_formed(name, &picture);
    }
}

#[test]
fn what_is_not_well_formed_is_noticed() {
    let whole = "flowchart TD\n  subgraph g0[\"a\"]\n  end\n";
    well_formed("a", whole);
    for broken in [
        whole.replace("  end\n", ""),
        whole.replace("\"a\"", "\"a"),
        whole.replace("\"a\"", "\"a\"]; x[\""),
        whole.replace("  end", "  click g0 call()"),
    ] {
        assert!(std::panic::catch_unwind(|| well_formed("a", &broken)).is_err(), "{broken}");
    }
}

/// Only forms that we mean to write, with nothing in the labels that means anything.
fn well_formed(name: &str, picture: &str) {
    let mut lines = picture.lines();
    assert_eq!(lines.next(), Some("flowchart TD"), "{name}");
    let mut open = 0;
    let mut edges = 0;
    for line in lines {
        let (skeleton, labels) = without_labels(line);
        for label in labels {
            let harmless = |c: char| c.is_alphanumeric() || " _-.,:?!/()…→'#;".contains(c);
            assert!(label.replace("<br/>", "").chars().all(harmless), "{name}: {line}");
        }
        match skeleton.split_whitespace().collect::<Vec<_>>()[..] {
            ["subgraph", id] => {
                assert!(id.strip_suffix("[]").is_some_and(is_id), "{name}: {line}");
                open += 1;
            }
            ["end"] => open -= 1,
            ["direction", "TB"] => {}
            ["classDef", ..] => {}
            [from, arrow, to] => {
                let arrows = ["-->", "-.->", "==>", "-->||", "-.->||"];
                assert!(arrows.contains(&arrow), "{name}: {line}");
                assert!(is_id(from.trim_end_matches(">]")) && is_id(to), "{name}: {line}");
                edges += 1;
            }
            [node] => {
                let node = node.trim_end_matches(":::gate").trim_end_matches(":::land");
                let id = node.trim_end_matches(['[', ']', '{', '}', '(', ')']);
                assert!(is_id(id), "{name}: {line}");
            }
            _ => panic!("{name}: {line}"),
        }
    }
    assert_eq!(open, 0, "{name}: subgraphs end");
    assert!(picture.len() < TEXT_MAX && edges < EDGES_MAX, "{name}: {edges} edges");
}

fn is_id(id: &str) -> bool {
    let digits = id.strip_prefix(['b', 'e', 'g', 'n', 's']);
    digits.is_some_and(|digits| !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit()))
}

/// The line without what is in quotes, and what was.
fn without_labels(line: &str) -> (String, Vec<&str>) {
    let parts: Vec<&str> = line.split('"').collect();
    assert!(parts.len() % 2 == 1, "quotes come in pairs: {line}");
    let outside: String = parts.iter().step_by(2).copied().collect();
    (outside, parts.into_iter().skip(1).step_by(2).collect())
}
