//! Several roles on one question: each alone, then each on what the others said, then one on all of it.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use crate::agent::{hire, pipe};
use crate::crashes::killed;
use crate::scratch::{SCRIPT, Scratch, ended, fixture};

const TASKS: &str = "[[task]]\nid = 'hello'\ntitle = 'Say hello'\ncareful = false\n";
const CONFIG: &str = "[agents.acted]\nkind = 'scripted'\nscript = 'script.toml'\n\
                      [roles]\ndefault = 'acted'\n[checks]\ntest = 'sh test.sh'\n\
                      [budget]\nrun = { dollars = 100, tokens = 2000000000 }\nunit = { dollars = 100, tokens = 2000000000 }\n";
const MEMBERS: [&str; 3] = ["one", "two", "three"];

/// The usual workflow, after a panel.
fn scratch(script: &str) -> Scratch {
    let panel = "[[unit]]\nstage = \"plan\"\n\
                 panel = { roles = [\"one\", \"two\", \"three\"], critique = \"critic\", synthesis = \"maker\" }\n\
                 on = { written = \"next\" }\n\n[[unit]]\nstage = \"do\"\n";
    let flow = fixture("small.toml").replace("[[unit]]\nstage = \"do\"\n", panel);
    assert!(flow.contains("panel ="));
    let role = |name: &str| format!("[role.{name}]\nabout = 'thinks'\nverdicts = ['written']\n");
    let roles: String = MEMBERS.iter().chain(&["critic", "maker"]).map(|name| role(name)).collect();
    let catalogue = fixture("small-catalogue.toml") + &roles;
    Scratch::with(&[
        ("flow.toml", flow.as_str()),
        ("catalogue.toml", &catalogue),
        ("tasks.toml", TASKS),
        ("script.toml", script),
        // What was cut off counts as all that it might have cost.
        ("windlass.toml", CONFIG),
    ])
}

/// Keeps what it is asked, and says something that nobody else says. Members wait for each other before they say it.
const THINKER: &str = r#"#!/bin/sh
here="$(dirname "$0")"
kept="$(mktemp "$here/prompt-$WINDLASS_ROLE.XXXXXX")"
cat > "$kept"
# By its number: all of them see their own place under one name.
stat -c %i . > "$here/where-$(basename "$kept")"
if [ -p "$here/go-$WINDLASS_ROLE" ]; then
  echo "$WINDLASS_ROLE" > "$here/begun"
  read line < "$here/go-$WINDLASS_ROLE"
fi
echo "$WINDLASS_ROLE of $(basename "$kept") thinks so"
echo '{"verdict":"written"}'
"#;

const ROLES: &str = "[agents.acted]\nkind = 'scripted'\nscript = 'script.toml'\n[roles]\n\
                     one = 'own'\ntwo = 'own'\nthree = 'own'\ncritic = 'own'\nmaker = 'own'\ndefault = 'acted'\n";

/// What each of a role was asked, by the name that it was kept under.
fn asked(scratch: &Scratch, role: &str) -> Vec<(String, String)> {
    let all = fs::read_dir(scratch.path("talk")).unwrap().map(|entry| entry.unwrap().path());
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    let own = all.filter(|path| name(path).starts_with(&format!("prompt-{role}.")));
    own.map(|path| (name(&path), fs::read_to_string(&path).unwrap())).collect()
}

#[test]
fn each_thinks_alone_then_about_the_others_and_then_one_about_all() {
    let scratch = scratch(SCRIPT);
    pipe(&scratch, "begun");
    for name in MEMBERS {
        pipe(&scratch, &format!("go-{name}"));
    }
    hire(&scratch, THINKER, ROLES, "sh test.sh");
    let run = scratch.start().spawn().unwrap();
    // All of them are at work before any of them has said a word.
    let mut begun: Vec<String> = Vec::new();
    while begun.len() < MEMBERS.len() {
        let pipe = fs::File::open(scratch.path("talk/begun")).unwrap();
        begun.extend(BufReader::new(pipe).lines().map(Result::unwrap));
    }
    for name in MEMBERS {
        fs::write(scratch.path(&format!("talk/go-{name}")), "go\n").unwrap();
    }
    let (code, said) = ended(run.wait_with_output().unwrap());
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(scratch.landed()["hello.txt"], "hello");
    let said_by = |(name, _): &(String, String)| format!("of {name} thinks so");
    let proposals: Vec<_> = MEMBERS.iter().flat_map(|role| asked(&scratch, role)).collect();
    let critiques = asked(&scratch, "critic");
    let made = asked(&scratch, "maker");
    assert_eq!((proposals.len(), critiques.len(), made.len()), (3, 3, 1));
    for (name, prompt) in &proposals {
        assert!(!prompt.contains("thinks so"), "{name} knows what another thinks: {prompt}");
    }
    // Each knows what the other two propose, and no critique.
    let heard = |prompt: &str, of: &[(String, String)]| -> Vec<usize> {
        (0..of.len()).filter(|at| prompt.contains(&said_by(&of[*at]))).collect()
    };
    let mut pairs: Vec<_> = critiques.iter().map(|(_, prompt)| heard(prompt, &proposals)).collect();
    pairs.sort();
    assert_eq!(pairs, [vec![0, 1], vec![0, 2], vec![1, 2]]);
    assert!(critiques.iter().all(|(_, prompt)| heard(prompt, &critiques).is_empty()));
    assert_eq!(heard(&made[0].1, &proposals), [0, 1, 2]);
    assert_eq!(heard(&made[0].1, &critiques), [0, 1, 2]);
    // And nobody sits where another does.
    let place = |(name, _): &(String, String)| {
        fs::read_to_string(scratch.path(&format!("talk/where-{name}"))).unwrap()
    };
    let mut places: Vec<String> = proposals.iter().map(place).collect();
    places.sort();
    places.dedup();
    assert_eq!(places.len(), 3, "{places:?}");
    for name in MEMBERS {
        assert!(made[0].1.contains(&format!("proposal of {name}")), "each has a name");
        assert!(made[0].1.contains(&format!("critique of {name}")), "each has a name");
    }
}

mod slow {
    use super::*;

    #[test]
    fn killed_after_any_entry_a_panel_comes_to_the_same() {
        let says = |role: &str| {
            format!(
                "[[answer]]\nrole = '{role}'\nprint = 'so thinks {role}'\nsay = {{ verdict = 'written', cost_usd = 0.0, tokens = 1 }}\n"
            )
        };
        let script: String =
            MEMBERS.iter().chain(&["critic", "maker"]).map(|role| says(role)).collect();
        killed(
            || scratch(&format!("{SCRIPT}{script}")),
            6,
            |scratch, at| {
                assert_eq!(scratch.landed()["hello.txt"], "hello", "after entry {at}");
                let answers = scratch.notes("answered");
                let came = |role: &str| {
                    let own =
                        answers.iter().filter(|it| it["role"] == role && it["came"] == "written");
                    own.count()
                };
                let all = ["one", "two", "three", "critic", "maker"].map(came);
                assert_eq!(all, [1, 1, 1, 3, 1], "after entry {at}");
            },
        );
    }
}
