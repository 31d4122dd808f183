//! Which language a person is spoken to in: what `WINDLASS_LANG` says, or else what they wrote last.

use windlass_clerks::Spoken;
use windlass_core::run::{Event, Run};
use windlass_engine::entry::Entry;
use windlass_journal::{Journal, RunId};
use windlass_words::{Lang, Words};

use crate::error::Error;
use crate::known::Known;

const VARIABLE: &str = "WINDLASS_LANG";

/// The language that the environment asks for, if it does.
pub fn wanted() -> Result<Option<Lang>, Error> {
    read(std::env::var(VARIABLE).ok().as_deref())
}

fn read(said: Option<&str>) -> Result<Option<Lang>, Error> {
    let Some(code) = said.map(str::trim).filter(|code| !code.is_empty()) else { return Ok(None) };
    code.parse().map(Some).map_err(|unknown| {
        Error::usage(format!("{VARIABLE}: {unknown}"))
            .hint("without it, people are spoken to in the language that they write")
    })
}

/// The language of a run, from its journal.
pub fn spoken(journal: &Journal, id: &RunId, run: &Run) -> Result<Spoken, Error> {
    let wanted = wanted()?;
    let mut spoken = Spoken::at_first(run, wanted);
    if wanted.is_none() {
        answers(journal, id, |entry| spoken.enter(entry));
    }
    Ok(spoken)
}

/// The words for what is said about a run. What is about none is said like what is about the newest one, which has the
/// person's latest words.
pub fn words_about(journal: Option<&Journal>, known: Option<&Known>) -> Result<Words, Error> {
    let Some((journal, known)) = journal.zip(known) else {
        return Ok(Words::in_lang(wanted()?.unwrap_or_default()));
    };
    Ok(spoken(journal, &known.id, &known.run)?.words())
}

/// The answers of a run, without folding all of it: there are few among many entries. Where the journal is damaged it is
/// for others to complain; so far as it can be read, it says what people wrote.
pub fn answers(journal: &Journal, id: &RunId, mut look: impl FnMut(&Entry)) {
    let entries = journal.read(id, 0).into_iter().flatten().map_while(Result::ok);
    let may_be = entries.filter(|entry| may_be_an_answer(&entry.bytes));
    for entry in may_be.filter_map(|entry| Entry::read(&entry.bytes).ok()) {
        if let Entry::Event(recorded) = &entry
            && matches!(recorded.event, Event::Answered { .. })
        {
            look(&entry);
        }
    }
}

fn may_be_an_answer(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| text.contains("\"answered\""))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use windlass_core::run::{GateId, Recorded, Stamp};
    use windlass_core::workflow::VerdictIx;

    use super::*;

    #[test]
    fn a_language_that_nobody_knows_is_refused() {
        assert!(read(None).unwrap().is_none() && read(Some(" ")).unwrap().is_none());
        assert_eq!(read(Some("ko")).unwrap(), Some(Lang::KOREAN));
        let refused = read(Some("klingon")).unwrap_err().to_string();
        assert!(refused.starts_with("WINDLASS_LANG: `klingon` is no language"), "{refused}");
    }

    #[test]
    fn an_answer_is_known_by_its_bytes() {
        let event = Event::Answered {
            gate: GateId(1),
            verdict: VerdictIx(0),
            text: Some(Arc::from("먼저 둘로 나눠줘")),
            who: Arc::from("somebody"),
            shown: Arc::from(""),
            subject: None,
        };
        let at = Stamp { mono_ms: 0, wall_ms: 0 };
        let entry = Entry::Event(Box::new(Recorded { seq: 3, at, event }));
        assert!(may_be_an_answer(&entry.bytes().unwrap()));
        let mut spoken = Spoken::default();
        spoken.enter(&entry);
        assert_eq!(spoken.lang(), Lang::KOREAN);
    }
}
