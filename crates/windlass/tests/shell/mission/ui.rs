//! A feature that people see, tried in a real browser: by the steps of its contract, and by whoever goes on from there (M5).

mod slow {
    use std::fs;
    use std::path::Path;

    use serde_json::Value;

    use crate::mission::rig::{CONTRACT, Rig, feature, says, val, who};

    /// A shop: it serves what was built, and sells.
    const APP: &str = r#"import http.server, os

class Shop(http.server.SimpleHTTPRequestHandler):
    def do_POST(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"Sold")

http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Shop).serve_forever()
"#;

    /// Tries the feature as its role says: looks at what the browser saw and at its picture, then starts the app in its own lane
    /// and does what the contract does not name.
    const TRIES: &str = r##"import json, os, re, subprocess, sys, time, urllib.request

told = sys.stdin.read()
browser = told.split("\n## browser\n")[1].split("\n## ")[0]
wrong = [line.strip() for line in browser.splitlines() if "the page reported" in line]
picture = re.search(r"A picture of VAL-SHOP-001, sold: (.*)", browser).group(1)
assert open(picture, "rb").read(4) == b"\x89PNG"
app = subprocess.Popen([sys.executable, "app.py"])
try:
    for _ in range(600):
        try:
            page = urllib.request.urlopen("http://127.0.0.1:%s/shop.html" % os.environ["PORT"]).read().decode()
            break
        except OSError:
            time.sleep(0.05)
    if "lang=" not in page:
        wrong.append("the page does not say which language it is in")
finally:
    app.kill()
findings = [{"id": str(at), "severity": "major", "title": one, "rationale": "opened /shop.html"} for at, one in enumerate(wrong)]
print(json.dumps({"verdict": "fail" if wrong else "pass", "summary": "%d things are wrong" % len(wrong), "findings": findings}))
"##;

    /// A page with a button; what it does, and what else happens, is another matter.
    fn page(attributes: &str, script: &str) -> String {
        format!(
            "<html{attributes}><title>Shop</title><button id=buy>Buy</button><p id=out></p><script>{script}</script></html>"
        )
    }

    const WORKS: &str = "buy.onclick = async () => { out.textContent = await (await fetch(\"/\", { method: \"POST\" })).text() + \" today\" };";

    fn rig() -> Rig {
        let config = "[agents.acted]\nkind = 'scripted'\nscript = 'script.toml'\n\
                      [agents.tries]\nkind = 'command'\ncommand = ['python3', 'tries.py']\ncost = 'none'\n\
                      [roles]\ndefault = 'acted'\nui-qa = 'tries'\n\
                      [checks]\ntest = 'sh test.sh'\nserve = 'exec python3 app.py'\n";
        let builds = |attempt: Option<u32>, page: &str| {
            let said = "verdict = 'built', summary = 'there is a shop'";
            says(&who("mission-worker", "F-SHOP", attempt), said, &[("shop.html", page)])
        };
        // First its button does nothing. Then it works, and something is wrong that no step of the contract is about.
        let noisy = format!("console.error(\"no such font\"); {WORKS}");
        let script = builds(Some(1), &page(" lang=en", ""))
            + &builds(Some(2), &page("", &noisy))
            + &builds(None, &page(" lang=en", WORKS));
        let files = [("windlass.toml", config), ("app.py", APP), ("tries.py", TRIES)];
        let rig = Rig::with(&[feature("F-SHOP")], &script, &files);
        let steps = "ui: open /shop.html; click \"Buy\"; see \"Sold today\"; shot sold";
        rig.write(CONTRACT, &format!("- {}: One can buy\n  - {steps}\n", val("F-SHOP")));
        rig
    }

    /// The picture that a prompt names.
    #[track_caller]
    fn picture<'a>(prompt: &'a str, name: &str) -> &'a Path {
        let before = format!("A picture of VAL-SHOP-001, {name}: ");
        let line = prompt.lines().find_map(|line| line.strip_prefix(before.as_str()));
        Path::new(line.unwrap_or_else(|| panic!("no picture {name}: {prompt}")))
    }

    #[test]
    fn a_dead_button_and_an_error_on_the_console_go_back_to_the_worker_with_pictures() {
        let mut rig = rig();
        rig.ends(&["--step", "ui-qa"], 0);
        let told = rig.prompts("mission-worker", "F-SHOP");
        assert_eq!(told.len(), 3, "{}", rig.told);
        assert!(!told[0].contains("## browser"), "{}", told[0]);
        assert!(
            told[0].contains("click \"Buy\"; see \"Sold today\""),
            "what is tried: {}",
            told[0]
        );
        // By Windlass itself, before anybody else was asked to look.
        assert!(
            told[1].contains("`see \"Sold today\"` failed: it is not to be seen"),
            "{}",
            told[1]
        );
        assert!(told[1].contains("click \"Buy\" — done"), "step by step: {}", told[1]);
        let failed = picture(&told[1], "failed");
        // By whoever went on from there.
        assert_eq!(rig.came("ui-qa", "F-SHOP"), ["fail", "pass"], "{}", rig.told);
        for finding in ["the page reported: no such font", "does not say which language it is in"] {
            assert!(told[2].contains(finding), "{finding}: {}", told[2]);
        }
        assert!(told[2].contains("ui-qa said `fail`: 2 things are wrong"), "{}", told[2]);
        let sold = picture(&told[2], "sold");
        assert_eq!(rig.standing(), "F-SHOP passed");
        assert_eq!(rig.scratch.git(&["show", "main:shop.html"]), page(" lang=en", WORKS));
        rig.was_always_sound();

        // All pictures are kept, each by itself, and a report lists them.
        let listed = rig.scratch.windlass(&["report", "--json"]).output().unwrap();
        let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
        let listed = listed["units"][0]["pictures"].as_array().unwrap();
        let files: Vec<&str> = listed.iter().map(|it| it["file"].as_str().unwrap()).collect();
        assert_eq!(files.len(), 3, "{listed:#?}");
        assert!(files[1] != files[2], "what the second attempt looked like is not lost: {files:?}");
        assert_eq!((Path::new(files[0]), Path::new(files[1])), (failed, sold));
        for file in &files {
            assert!(fs::read(file).unwrap().starts_with(b"\x89PNG"), "{file}");
        }
        let report = rig.scratch.windlass(&["report"]).output().unwrap().stdout;
        assert!(String::from_utf8(report).unwrap().contains(files[0]));
        assert_eq!(rig.scratch.processes(), [""; 0], "nothing is left running");
    }
}
