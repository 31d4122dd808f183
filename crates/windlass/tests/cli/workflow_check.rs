use std::fs;

use crate::windlass::{BUILT_IN, json, printed, seen, windlass};

const TIDY: &str = "tests/fixtures/tidy.toml";
const BROKEN: &str = "tests/fixtures/broken.toml";
const GARDEN: &str = "tests/fixtures/garden.toml";
const ROLES: &str = "tests/fixtures/roles.toml";

#[test]
fn a_sound_file_is_summed_up_in_a_line() {
    insta::assert_snapshot!(seen(&mut windlass(&["workflow", "check", "tests/fixtures/tidy.toml"])), @"
    exit 0
    --- stdout
    tests/fixtures/tidy.toml is sound: 2 scopes, 5 stages, 1 gate, 2 counters
    ");
}

#[test]
fn every_mistake_is_shown_where_it_is() {
    insta::assert_snapshot!(seen(&mut windlass(&["workflow", "check", "tests/fixtures/broken.toml"])), @r#"
    exit 4
    --- stdout
    error[unknown-role]: the catalogue has no role `wroker`
      --> tests/fixtures/broken.toml:24:10
       |
    24 | role  = "wroker"
       |          ^^^^^^
       |
       = help: did you mean `worker`?

    error[move-to-nowhere]: there is no stage `tidyy` in `[[unit]]`
      --> tests/fixtures/broken.toml:30:59
       |
    30 | on    = { pass = "done", skipped = "done", fail = { to = "tidyy", count = "attempts", spent ...
       |                                                           ^^^^^
       |
       = help: did you mean `tidy`?

    Roles, readers, checks and tells of your own are declared in a file that is given by --catalogue FILE.

    2 mistakes in tests/fixtures/broken.toml
    "#);
}

#[test]
fn a_file_that_cannot_be_read_does_not_hide_the_others() {
    insta::assert_snapshot!(seen(&mut windlass(&["workflow", "check", "no-such.toml", "tests/fixtures/garden.toml", "tests/fixtures/tidy.toml", "--catalogue", "tests/fixtures/roles.toml"])), @"
    exit 1
    --- stdout
    tests/fixtures/garden.toml is sound: 5 scopes, 8 stages, 1 gate, 2 counters
    tests/fixtures/tidy.toml is sound: 2 scopes, 5 stages, 1 gate, 2 counters
    3 files: 2 sound, 1 unreadable
    --- stderr
    error: cannot read no-such.toml
     |
     = cause: No such file or directory (os error 2)
     = help: is the path right, as seen from here?
    ");
}

#[test]
fn what_is_no_workflow_file_is_told_apart() {
    insta::assert_snapshot!(seen(&mut windlass(&["workflow", "check", "task"])), @"
    exit 1
    --- stderr
    error: cannot read task
     |
     = cause: No such file or directory (os error 2)
     = help: the built-in workflows are sound already: `windlass workflow show task`
    ");
    let file = std::env::temp_dir().join(format!("windlass-latin1-{}.toml", std::process::id()));
    fs::write(&file, b"workflow = 'x'\nabout = 'caf\xe9'\n").unwrap();
    let output = windlass(&["workflow", "check", file.to_str().unwrap()]).output().unwrap();
    fs::remove_file(&file).unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(
        stderr.contains("is not UTF-8: the first byte that is none stands in line 2"),
        "{stderr}"
    );
}

#[test]
fn mistakes_as_json_have_places_and_suggestions() {
    let (code, checked) = json(&["workflow", "check", "--json", BROKEN, TIDY, "no-such.toml"]);
    assert_eq!(code, 1, "one cannot be read");
    assert_eq!(checked["sound"], false);
    let files = checked["files"].as_array().unwrap();
    let mistakes = files[0]["mistakes"].as_array().unwrap();
    assert_eq!(mistakes.len(), 2, "{mistakes:#?}");
    let first = &mistakes[0];
    assert_eq!(first["code"], "unknown-role");
    assert_eq!((&first["line"], &first["column"]), (&24.into(), &10.into()));
    assert_eq!((&first["text"], &first["end_column"]), (&"wroker".into(), &16.into()));
    assert!(first["help"].as_str().unwrap().contains("`worker`"), "{first}");
    assert_eq!(files[1]["sound"], true);
    assert_eq!(files[1]["workflow"], "tidy");
    assert!(files[2]["error"].as_str().unwrap().contains("no-such.toml"));
}

#[test]
fn a_role_of_ones_own_comes_from_a_catalogue_of_ones_own() {
    assert_eq!(printed(&["workflow", "check", GARDEN]).0, 4);
    assert_eq!(printed(&["workflow", "check", GARDEN, "--catalogue", ROLES]).0, 0);
    let (code, text) = printed(&["workflow", "simulate", GARDEN, "--catalogue", ROLES]);
    assert_eq!(code, 0);
    assert!(text.contains("pruned → done"), "{text}");
    assert_eq!(printed(&["workflow", "show", GARDEN, "--catalogue", ROLES]).0, 0);
}

#[test]
fn a_mistake_in_a_catalogue_is_shown_like_any_other() {
    let mut check = windlass(&["workflow", "check", GARDEN, "--catalogue", BROKEN]);
    let output = check.output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(4));
    assert!(stderr.contains("tests/fixtures/broken.toml:1:1"), "{stderr}");
    assert!(stderr.contains("error: tests/fixtures/broken.toml is not sound"), "{stderr}");
}

#[test]
fn the_other_verbs_say_what_is_wrong_with_a_file_too() {
    for verb in ["show", "simulate"] {
        let output = windlass(&["workflow", verb, BROKEN]).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(4), "{verb}");
        assert!(stderr.contains("did you mean `worker`?"), "{verb}: {stderr}");
        assert!(stderr.contains("2 mistakes in tests/fixtures/broken.toml"), "{verb}: {stderr}");
    }
}

#[test]
fn every_built_in_workflow_is_sound() {
    for name in BUILT_IN {
        let file = format!("../../workflows/{name}.toml");
        let (code, text) = printed(&["workflow", "check", &file]);
        assert_eq!(code, 0, "{text}");
    }
}
