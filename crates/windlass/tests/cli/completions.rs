use crate::windlass::windlass;

#[test]
fn every_shell_gets_a_script_that_knows_the_verbs() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let output = windlass(&["completions", shell]).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{shell}");
        let script = String::from_utf8(output.stdout).unwrap();
        for verb in ["workflow", "simulate", "completions"] {
            assert!(script.contains(verb), "{shell} does not complete {verb}");
        }
    }
}
