//! Which language a person writes.
//!
//! A wrong guess is worse than none: everything would be said in it, to somebody who never wrote a word of it. So a text
//! that is too short or not clear changes nothing, and what is no prose (code, paths, options, names) does not count.

use whatlang::{Detector, Info, Lang as Known, Script};

use crate::Lang;

/// Fewer words than these of an alphabet that many languages share say nothing.
const WORDS_MIN: usize = 4;
/// With so many words, a text that could be one of several related languages is taken for the likeliest, if it is
/// clearly neither English nor what was written before.
const WORDS_OF_A_SENTENCE: usize = 6;
/// And if that one is not quite as likely as another.
const LIKELIER_MIN: f64 = 0.2;
/// What hardly any other language has: English that is full of names looks like anything.
const ENGLISH_WORDS: &[&str] = &[
    "the", "and", "with", "from", "for", "that", "this", "it", "its", "not", "can", "may", "does",
    "should", "when",
];
/// Of so many words, one in another script tells the language: texts about programs are full of English names.
const FOREIGN_IN: usize = 4;
/// But of so many, where the English is a sentence: then what is in another script may be what it is about.
const FOREIGN_IN_A_SENTENCE: usize = 2;

/// The language of a text, or `so_far` where the text does not say.
pub fn detect(text: &str, so_far: Lang) -> Lang {
    let bare = without(&without(text, '`'), '"');
    let words: Vec<&str> = bare.split_whitespace().filter(|word| is_word(word)).collect();
    let (foreign, words): (Vec<&str>, Vec<&str>) =
        words.into_iter().partition(|word| is_foreign(word));
    let cited = words.iter().any(|word| is_english(word));
    let enough = if cited { FOREIGN_IN_A_SENTENCE } else { FOREIGN_IN };
    if !foreign.is_empty() && foreign.len() * enough >= foreign.len() + words.len() {
        let own: Vec<String> = foreign.iter().map(own).collect();
        return elsewhere(&own.join(" "), own.len(), so_far);
    }
    latin(&words.join(" "), words.len(), so_far)
}

/// The language of a text that is not in the Latin alphabet. Most scripts have one language only.
fn elsewhere(text: &str, words: usize, so_far: Lang) -> Lang {
    let Some(info) = whatlang::detect(text) else { return so_far };
    let script = info.script();
    let most_written = match script {
        // Han alone is Japanese as well, if that is what was written before.
        Script::Mandarin if so_far.0 == Known::Jpn => return so_far,
        Script::Cyrillic => Known::Rus,
        Script::Arabic => Known::Ara,
        Script::Devanagari => Known::Hin,
        Script::Hebrew => Known::Heb,
        _ => return Lang(info.lang()),
    };
    if words >= WORDS_MIN && info.is_reliable() {
        return Lang(info.lang());
    }
    // Which one cannot be told; that it is none of another script can.
    if script.langs().contains(&so_far.0) { so_far } else { Lang(most_written) }
}

/// The language of a text in the Latin alphabet, which dozens share and every name of a program is in.
fn latin(text: &str, words: usize, so_far: Lang) -> Lang {
    if words < WORDS_MIN {
        return so_far;
    }
    let Some(info) = whatlang::detect(text) else { return so_far };
    let lang = Lang(info.lang());
    if info.is_reliable() {
        return lang;
    }
    let likely = words >= WORDS_OF_A_SENTENCE && info.confidence() >= LIKELIER_MIN;
    let like_english = || lang != Lang::ENGLISH && text.split(' ').any(is_english);
    if likely && !like_english() && is_neither(text, lang, so_far) { lang } else { so_far }
}

/// Whether a text is clearly in `lang`, seen beside English and what was written before alone.
fn is_neither(text: &str, lang: Lang, so_far: Lang) -> bool {
    let detector = Detector::with_allowlist(vec![lang.0, so_far.0, Known::Eng]);
    let is_it = |info: &Info| info.lang() == lang.0 && info.is_reliable();
    detector.detect(text).as_ref().is_some_and(is_it)
}

fn is_english(word: &str) -> bool {
    ENGLISH_WORDS.iter().any(|english| word.eq_ignore_ascii_case(english))
}

/// A text without what stands between two of these: code, and what others said.
fn without(text: &str, mark: char) -> String {
    if text.matches(mark).count() % 2 == 1 {
        return text.to_owned();
    }
    let rest: String = text.split(mark).step_by(2).collect::<Vec<_>>().join(" ");
    if rest.trim().is_empty() { text.to_owned() } else { rest }
}

/// Whether it is a word of somebody's language, as far as can be seen: no path, name, option or number.
fn is_word(word: &str) -> bool {
    if is_foreign(word) {
        return true;
    }
    let core = word.trim_matches(|c: char| !c.is_alphanumeric());
    let plain = |c: char| c.is_alphabetic() || matches!(c, '\'' | '’' | '-');
    let capitals = core.chars().skip(1).filter(|c| c.is_uppercase()).count();
    !core.is_empty()
        && !word.starts_with(['-', '/', '.'])
        && core.chars().all(plain)
        && capitals == 0
}

/// Whether something in it is of another script than Latin.
fn is_foreign(word: &str) -> bool {
    word.chars().any(is_of_another_script)
}

fn is_of_another_script(c: char) -> bool {
    // Latin with all its additions; the second part is where Vietnamese is.
    c.is_alphabetic() && !matches!(c, '\0'..='\u{24f}' | '\u{1e00}'..='\u{1eff}')
}

/// What of a word is in another script: `README.md에` has one syllable of Korean.
fn own(word: &&str) -> String {
    word.chars().filter(|c| !c.is_ascii_alphanumeric()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lang(code: &str) -> Lang {
        code.parse().unwrap()
    }

    /// Tasks and answers as people write them, to somebody who was spoken to in English.
    const TASKS: &[(&str, &str)] = &[
        ("ko", "로그인 버그를 고쳐줘"),
        ("ko", "네"),
        ("ko", "login API 버그 fix 해줘"),
        ("ko", "README.md에 설치 방법을 추가하고 CI workflow도 업데이트해 주세요"),
        ("ko", "src/auth/login.rs 의 validate() 에서 panic 나는 문제 수정"),
        (
            "ko",
            "비밀번호가 비어 있을 때 로그인 오류를 수정하고 \"Invalid password\" 메시지를 보여줘",
        ),
        ("en", "Fix the login bug"),
        ("en", "Add a --verbose flag to the CLI"),
        (
            "en",
            "Rename the \"로그인\" button and the 확인 label in the login dialog of the settings page",
        ),
        ("en", "The message 로그인 실패 is wrong"),
        ("ko", "the 대신 a 를 쓰도록 문서를 고쳐줘"),
        ("en", "Translate the message \"Datei nicht gefunden\" to English"),
        ("en", "No, leave the config alone"),
        ("en", "How long it may take."),
        ("de", "Behebe den Fehler beim Anmelden mit leerem Passwort"),
        ("de", "Füge der Kommandozeile eine Option für ausführliche Ausgaben hinzu"),
        ("de", "bitte zuerst in zwei Teile aufteilen"),
        ("de", "Die Funktion `parse_date` in src/date.rs stürzt ab, wenn das Datum leer ist"),
        ("fr", "Corrige le bogue de connexion quand le mot de passe est vide"),
        ("fr", "Les tests échouent sous Windows parce que les chemins sont mal construits"),
        ("es", "Corrige el error de inicio de sesión cuando la contraseña está vacía"),
        ("es", "Añade paginación al endpoint de usuarios y escribe pruebas para ello"),
        ("pt", "Adicione paginação ao endpoint de usuários e escreva testes para isso"),
        ("it", "Correggi l'errore di accesso quando la password è vuota"),
        ("nl", "Los de fout op bij het inloggen met een leeg wachtwoord"),
        ("pl", "Napraw błąd logowania, gdy hasło jest puste"),
        ("sv", "Rätta felet vid inloggning med tomt lösenord och lägg till ett test"),
        ("tr", "Parola boş olduğunda oluşan giriş hatasını düzelt"),
        ("vi", "Sửa lỗi đăng nhập khi mật khẩu để trống và viết kiểm thử"),
        ("id", "Perbaiki kesalahan masuk ketika kata sandi kosong dan tulis pengujiannya"),
        ("cs", "Oprav chybu přihlášení, když je heslo prázdné"),
        ("ru", "Исправь ошибку входа, когда пароль пустой"),
        ("ru", "да, продолжай"),
        ("uk", "Виправ помилку входу, коли пароль порожній, і напиши тести"),
        ("ja", "ログインのバグを修正してください"),
        ("ja", "AuthService の login を refactor して、テストを追加する"),
        ("zh", "修复密码为空时的登录错误,并添加测试"),
        ("zh", "把 AuthService 里的 login 方法重构一下"),
        ("ar", "أصلح خطأ تسجيل الدخول عندما تكون كلمة المرور فارغة"),
        ("he", "תקן את שגיאת ההתחברות כשהסיסמה ריקה"),
        ("hi", "पासवर्ड खाली होने पर लॉगिन की गड़बड़ी ठीक करो"),
        ("el", "Διόρθωσε το σφάλμα σύνδεσης όταν ο κωδικός είναι κενός"),
        ("th", "แก้ไขข้อผิดพลาดในการเข้าสู่ระบบเมื่อรหัสผ่านว่างเปล่า"),
    ];

    #[test]
    fn tasks_are_understood_in_the_language_they_are_in() {
        let wrong: Vec<_> = TASKS
            .iter()
            .map(|(code, text)| (*code, detect(text, Lang::ENGLISH).code(), *text))
            .filter(|(code, found, _)| code != found)
            .collect();
        assert_eq!(wrong, [("", "", ""); 0]);
    }

    /// What changes nothing, whatever was spoken before.
    const SAYING_NOTHING: &[&str] = &[
        "",
        "  \n",
        "proceed",
        "stop",
        "yes",
        "ok",
        "źródło",
        "przepływ pracy",
        "commit_code_only",
        "42",
        "3.14 / 2",
        "src/main.rs",
        "crates/words/src/lang.rs:29:5",
        "--verbose --json",
        "cargo nextest run -p windlass-core",
        "`let x = foo(bar);`",
        "https://example.com/a/b?c=d",
        "HTTP 404, HTTP 500, TLS",
        "AuthService, LoginController, UserRepository, TokenStore, SessionManager",
        "```\nfn main() { println!(\"hello world, how are you today\"); }\n```",
        "🎉🎉",
    ];

    #[test]
    fn what_is_short_or_no_prose_changes_nothing() {
        for so_far in ["en", "ko", "de", "ja", "ru"].map(lang) {
            for text in SAYING_NOTHING {
                assert_eq!(detect(text, so_far), so_far, "{text:?}");
            }
        }
    }

    #[test]
    fn whoever_changes_their_language_is_followed() {
        let korean = detect("로그인 버그를 고쳐줘", Lang::ENGLISH);
        let english = detect("Please split this into two smaller steps before you go on", korean);
        assert_eq!((korean, english), (Lang::KOREAN, Lang::ENGLISH));
        assert_eq!(detect("좋아, 그렇게 해", english), Lang::KOREAN);
        let german =
            detect("Bitte zuerst die Tests schreiben und dann den Fehler beheben", english);
        assert_eq!(german, lang("de"));
        assert_eq!(
            detect("Keep the old name, and write the tests first, please", german),
            lang("en")
        );
    }

    #[test]
    fn what_two_languages_share_is_what_was_written_before() {
        assert_eq!(detect("修正完了", lang("ja")), lang("ja"));
        assert_eq!(detect("修正完了", lang("ko")), lang("zh"));
        assert_eq!(detect("так, далі", lang("uk")), lang("uk"));
        assert_eq!(detect("да, дальше", lang("en")), lang("ru"));
    }

    #[test]
    fn english_about_programs_is_english() {
        // Commit subjects: short, without articles, full of names.
        for text in [
            "Refactor auth middleware",
            "Add dark mode toggle to settings page",
            "Update README with install instructions",
            "Implement rate limiting per user",
            "Remove dead code in parser",
            "Upgrade tokio to 1.40 and fix breakage",
            "Support dates in ISO format",
            "use postgres instead of sqlite",
            "Cache image metadata in Redis",
            "Migrate database schema to UUID ids",
            "Add OAuth login via Google",
            "Delete stale branches nightly",
            "Optimize SQL query in report generator",
            "Convert callbacks to async/await",
            "Older SQLite libraries can lose a commit in WAL mode.",
        ] {
            assert_eq!(detect(text, Lang::ENGLISH), Lang::ENGLISH, "{text}");
        }
    }
}
