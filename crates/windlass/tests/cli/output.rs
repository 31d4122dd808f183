//! Where output goes and what happens when it cannot go there.

use crate::windlass::{seen, windlass};

#[test]
fn a_reader_that_has_gone_is_no_error() {
    for args in [
        &["completions", "bash"][..],
        &["--help"],
        &["workflow", "--help"],
        &["workflow", "list"],
        &["workflow", "show", "task"],
        &["workflow", "show", "task", "--json"],
        &["workflow", "check", "tests/fixtures/tidy.toml"],
        &["workflow", "simulate", "task"],
        &["workflow", "simulate", "tests/fixtures/tidy.toml", "--runs", "20"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = windlass(args).stdout(writer).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{args:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    insta::assert_snapshot!(seen(windlass(&["completions", "bash"]).stdout(full)), @"
    exit 1
    --- stderr
    error: cannot write the output
     |
     = cause: No space left on device (os error 28)
    ");
}

#[cfg(target_os = "linux")]
#[test]
fn help_that_nobody_can_read_is_an_error() {
    for args in [&["--help"][..], &["workflow", "simulate", "-h"], &["--version"]] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let output = windlass(args).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        assert!(String::from_utf8(output.stderr).unwrap().contains("No space left"), "{args:?}");
    }
}

#[test]
fn colour_only_where_it_is_wanted() {
    let mistake = ["workflow", "show", "no-such-workflow"];
    let coloured = |variables: &[(&str, &str)]| {
        let output = windlass(&mistake).envs(variables.iter().copied()).output().unwrap();
        output.stderr.contains(&b'\x1b')
    };
    assert!(!coloured(&[]), "no terminal");
    assert!(coloured(&[("CLICOLOR_FORCE", "1")]), "asked for");
    assert!(!coloured(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]), "NO_COLOR wins");
}

#[test]
fn results_are_coloured_like_errors() {
    for args in [
        &["workflow", "show", "tests/fixtures/tidy.toml"][..],
        &["workflow", "check", "tests/fixtures/broken.toml"],
        &["workflow", "simulate", "tests/fixtures/tidy.toml"],
        &["workflow", "list"],
    ] {
        let coloured = |variables: &[(&str, &str)]| {
            let output = windlass(args).envs(variables.iter().copied()).output().unwrap();
            output.stdout.contains(&b'\x1b')
        };
        assert!(!coloured(&[]), "{args:?}: no terminal");
        assert!(coloured(&[("CLICOLOR_FORCE", "1")]), "{args:?}: asked for");
        assert!(!coloured(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]), "{args:?}");
    }
}
