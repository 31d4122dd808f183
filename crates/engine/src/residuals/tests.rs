//! A corpus both ways: what is left behind, and what only looks like it.

use super::*;

fn file(path: &str, before: &str, now: &str) -> File {
    File { path: path.into(), before: before.as_bytes().into(), now: now.as_bytes().into() }
}

fn found(path: &str, before: &str, now: &str) -> Vec<(Kind, usize)> {
    let found = residuals(&[file(path, before, now)]);
    found.into_iter().map(|it| (it.kind, it.line)).collect()
}

/// Every line by itself, added to a file that had something else.
#[track_caller]
fn each(path: &str, lines: &[&str], want: Option<Kind>) {
    for line in lines {
        let now = format!("first\n{line}\n");
        let kinds: Vec<Kind> =
            found(path, "first\n", &now).into_iter().map(|(kind, _)| kind).collect();
        assert_eq!(kinds.first().copied(), want, "{path}: {line}");
    }
}

#[test]
fn debug_output_is_found() {
    let debug = Some(Kind::Debug);
    each(
        "src/a.ts",
        &[
            "  debugger;",
            "console.log(user);",
            "console.log('user', user);",
            "console.log(\"user:\", user)",
            "console.log({ user });",
            "console.debug(x)",
            "console.log('DEBUG: got', x);",
            "console.log('here');",
            "console.log('>>> before save');",
            "console.log(`### ${x}`);",
        ],
        debug,
    );
    each(
        "src/a.py",
        &[
            "breakpoint()",
            "import pdb; pdb.set_trace()",
            "print(user)",
            "    print(f\"{user=}\")",
            "print('DEBUG', x)",
            "print('user:', user)",
        ],
        debug,
    );
    each(
        "src/a.rs",
        &["dbg!(&x);", "let y = dbg!(x);", "eprintln!(\"{x:?} {y=}\");", "println!(\"here\");"],
        debug,
    );
    each("src/a.go", &["spew.Dump(x)", "fmt.Println(x)", "fmt.Println(\"DEBUG\", x)"], debug);
    each("src/A.java", &["e.printStackTrace();", "System.out.println(user);"], debug);
    each("src/a.rb", &["binding.pry", "byebug", "puts user"], debug);
    each("src/a.php", &["var_dump($x);"], debug);
}

#[test]
fn output_that_is_meant_is_none() {
    each(
        "src/a.ts",
        &[
            "console.log('Server listens on', port);",
            "console.error('failed', error);",
            "logger.debug(user);",
            "console.log(`${count} files`);",
            "console.log();",
            "const debuggers = [];",
            "log.debug('user', user);",
            "const text = 'debugger;';",
            "// how a debugger; works",
            "console.log('  ', rows.length);",
        ],
        None,
    );
    // Whoever tests or prints for a living may.
    each("src/a.test.ts", &["console.log(user);"], None);
    each("bin/tool.js", &["console.log(result);"], None);
    each("scripts/tool.py", &["print(result)"], None);
    each("src/main.rs", &["println!(\"{result}\");"], None);
    each("cmd/x/main.go", &["fmt.Println(result)"], None);
    // A new file may print, and one that did before.
    assert_eq!(found("src/hello.js", "", "console.log(greeting);\n"), []);
    assert_eq!(
        found("src/a.js", "console.log('a');\n", "console.log('a');\nconsole.log(b);\n"),
        []
    );
    each(
        "src/a.py",
        &[
            "print('done')",
            "print(f\"{count} files\")",
            "logging.debug(x)",
            "def magic(x):",
            "topic(x)",
            "print()",
        ],
        None,
    );
    each(
        "src/a.rs",
        &[
            "println!(\"{count} files\");",
            "tracing::debug!(x);",
            "let dbg = 1;",
            "write!(f, \"x\")",
        ],
        None,
    );
    each("src/a.go", &["fmt.Println(\"listening on\", port)", "log.Printf(\"%d files\", n)"], None);
    each("src/a.rb", &["puts \"done\"", "p_value = 3"], None);
    each("src/a.php", &["$this->add($x);", "odd($x);"], None);
}

#[test]
fn code_in_comments_is_found() {
    let dead = Some(Kind::DeadCode);
    each(
        "src/a.ts",
        &[
            "// foo(bar);",
            "  // const x = compute(y);",
            "// if (a && b) {",
            "// return x;",
            "//import { a } from 'b';",
            "// user.name = name;",
            "// await save(user);",
        ],
        dead,
    );
    each(
        "src/a.rs",
        &["// let x = y.clone();", "    // self.count += 1;", "// use std::fs;"],
        dead,
    );
    each(
        "src/a.py",
        &[
            "# x = foo(y)",
            "# print(x)",
            "# import os",
            "# from a import b",
            "# if x == 3:",
            "# for x in y.items():",
            "# return x.y",
            "    # self.a = b",
        ],
        dead,
    );
    each("src/a.go", &["// x := compute(y);", "// func old() {"], dead);
    each("src/a.rb", &["# user = User.find(id)"], dead);
}

#[test]
fn comments_that_say_something_are_none() {
    each(
        "src/a.ts",
        &[
            "// Calls foo(bar) before it saves.",
            "// e.g. foo(bar);",
            "// see https://example.com/a;",
            "/// const x = 1;",
            "/* documented */",
            " * foo(bar);",
            "// TODO: call foo(bar);",
            "// eslint-disable-next-line no-console",
            "// @ts-expect-error x = y;",
            "// returns early if empty;",
            "// it is done when all of them are saved;",
            "// 3 = three",
            "// --- helpers ---",
            "// x -> y",
            "// }",
            "const a = 1; // was 2;",
            "// 取得する(値);",
        ],
        None,
    );
    each(
        "src/a.rs",
        &["//! let x = 1;", "// SAFETY: ptr is valid (see above).", "// a, b and c = 3 in all"],
        None,
    );
    each(
        "src/a.py",
        &[
            "# type: ignore[attr]",
            "# noqa: E501",
            "# The default = 3 means nothing special here",
            "# if needed:",
            "# for example:",
            "# from here on it is theirs",
            "# return early",
            "#!/usr/bin/env python",
            "# see foo(bar)",
            "# import order matters here",
            "# functions (working)",
            "# array (of given size)",
        ],
        None,
    );
    // What a sentence leads up to is an example, all of it.
    assert_eq!(
        found(
            "src/a.ts",
            "",
            "// Use it like this:\n//   const a = open(b);\n//   a.close();\nexport {};\n"
        ),
        []
    );
    each("run.sh", &["# rm -rf \"$dir\""], None);
}

#[test]
fn made_up_data_is_found_outside_of_tests() {
    each(
        "src/a.ts",
        &[
            "const mockUsers = [",
            "return FAKE_DATA;",
            "let dummyResponse = {};",
            "name: 'John Doe',",
            "email: \"test@test.com\"",
        ],
        Some(Kind::MockData),
    );
    each("src/a.py", &["mock_data = {}", "user = 'Jane Doe'"], Some(Kind::MockData));
    each("src/a.test.ts", &["const mockUsers = [];", "name: 'John Doe'"], None);
    each("tests/fixtures/a.py", &["mock_data = {}"], None);
    each("src/__mocks__/a.ts", &["export const mockUsers = [];"], None);
    each(
        "src/a.ts",
        &[
            "jest.mock('./a');",
            "const mockery = 1;",
            "isFake(data)",
            "const hammock = 'data';",
            "to: 'ada@example.com'",
            "// John Doe wrote this",
        ],
        None,
    );
    assert_eq!(found("src/a.rs", "", "#[cfg(test)]\nmod tests {\n    let mock_data = 1;\n}\n"), []);
}

#[test]
fn text_that_stands_for_something_else_is_found() {
    let placeholder = Some(Kind::Placeholder);
    each(
        "src/a.ts",
        &[
            "const text = 'Lorem ipsum dolor';",
            "apiKey: 'your-api-key-here',",
            "// implementation goes here",
            "// ... existing code ...",
            "throw new Error('Not implemented');",
            "// this is a placeholder",
            "password: 'changeme'",
        ],
        placeholder,
    );
    each(
        "src/a.rs",
        &["todo!()", "    unimplemented!(\"later\")", "// placeholder implementation"],
        placeholder,
    );
    each("src/a.py", &["raise NotImplementedError", "raise NotImplementedError('x')"], placeholder);
    each("src/a.go", &["panic(\"not implemented\")"], placeholder);
    each("src/a.html", &["<p>Lorem ipsum dolor sit amet</p>"], placeholder);
}

#[test]
fn text_that_is_meant_is_none() {
    each(
        "src/a.tsx",
        &[
            "<input placeholder=\"Your name\" />",
            "const placeholder = t('search');",
            "throw new Error(`no ${x}`);",
            "// the placeholder is grey",
            "// this way the rest of the code can ignore it",
            "const s = 'implemented';",
        ],
        None,
    );
    each("src/a.html", &["<input placeholder=\"Email\">"], None);
    each("README.md", &["Lorem ipsum your-api-key"], None);
    each("src/a.test.ts", &["const key = 'your-api-key';"], None);
    assert_eq!(
        found(
            "src/a.py",
            "",
            "from abc import ABC\nclass A(ABC):\n    def f(self):\n        raise NotImplementedError\n"
        ),
        []
    );
    each("src/a.rs", &["let todo = list();", "// todo!() would panic; so it does not"], None);
}

#[test]
fn tests_that_do_not_run_are_found() {
    let disabled = Some(Kind::DisabledTest);
    each(
        "src/a.test.ts",
        &[
            "it.skip('works', () => {",
            "describe.only(\"a\", () => {",
            "xit('works', f);",
            "  test.skip(`a`, f);",
            "fdescribe('a', f)",
        ],
        disabled,
    );
    each(
        "tests/test_a.py",
        &["@pytest.mark.skip", "@pytest.mark.skip(reason='flaky')", "@unittest.skip('x')"],
        disabled,
    );
    each("src/a.rs", &["    #[ignore]", "#[ignore = \"flaky\"]"], disabled);
    each("a_test.go", &["\tt.Skip(\"flaky\")"], disabled);
    each("src/ATest.java", &["@Disabled", "@Ignore(\"x\")", "[Fact(Skip = \"x\")]"], disabled);
    each("spec/a_spec.rb", &["  xit 'works' do"], disabled);
    each("tests/ATest.php", &["$this->markTestSkipped();"], disabled);
}

#[test]
fn tests_that_are_skipped_by_choice_are_none() {
    each(
        "src/a.test.ts",
        &[
            "test.skip(isCI, 'needs a screen');",
            "it('skips', () => {",
            "exit('x');",
            "list.skip('a');",
            "await.only(1)",
        ],
        None,
    );
    each("tests/test_a.py", &["@pytest.mark.skipif(sys.platform == 'win32', reason='x')"], None);
    assert_eq!(
        found(
            "a_test.go",
            "",
            "func TestA(t *testing.T) {\n\tif testing.Short() {\n\t\tt.Skip(\"long\")\n\t}\n}\n"
        ),
        []
    );
    each("src/ATest.java", &["@IgnoreCase"], None);
}

#[test]
fn only_lines_that_are_new_are_looked_at() {
    let before = "debugger;\nfirst();\n";
    assert_eq!(found("a.js", before, "first();\n\n  debugger;\n"), []);
    assert_eq!(found("a.js", before, "debugger;\nfirst();\ndebugger;\n"), [(Kind::Debug, 3)]);
    // What moved to another file was there before.
    let moved = [file("a.js", before, "first();\n"), file("b.js", "", "debugger;\n")];
    assert_eq!(residuals(&moved), []);
    // What is somebody else's, too long, or no text is not looked at.
    for path in [
        "node_modules/a/b.js",
        "dist/a.js",
        "src/a.min.js",
        "src/a.generated.ts",
        "a.md",
        "a.json",
        "Makefile",
    ] {
        assert_eq!(found(path, "", "debugger;\n"), [], "{path}");
    }
    assert_eq!(
        residuals(&[File {
            path: "a.js".into(),
            before: Vec::new(),
            now: b"debugger;\0".to_vec()
        }]),
        []
    );
}

#[test]
fn what_stands_in_texts_of_several_lines_is_text() {
    assert_eq!(found("src/a.py", "", "\"\"\"\n>>> breakpoint()\nx = 1\n\"\"\"\ny = 2\n"), []);
    assert_eq!(found("src/a.ts", "", "/*\n debugger;\n*/\nlet a = 1;\n"), []);
    assert_eq!(found("src/a.rs", "", "let a = r#\"\ndbg!(x)\n\"#;\n"), []);
    assert_eq!(found("src/a.ts", "", "/* one */ debugger;\n"), [(Kind::Debug, 1)]);
}
