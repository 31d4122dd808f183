//! The language that a run is spoken in: that of its task, and then of the latest words of whoever answered.
//!
//! It is folded from the journal, like everything else, so that a run that is taken up again is spoken in what it was.

use windlass_core::run::{Event, Run};
use windlass_core::workflow::InputIx;
use windlass_engine::entry::Entry;
use windlass_words::{Lang, Words, detect};

/// The input that a person's own words are in, where a workflow has it.
const TASK: &str = "task";

/// The language of a run, as far as it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spoken {
    lang: Lang,
    /// Somebody said which it has to be: then it does not depend on what is written.
    fixed: bool,
}

impl Spoken {
    /// At the beginning of a run: what its task is written in, or what somebody wants it to be.
    pub fn at_first(run: &Run, wanted: Option<Lang>) -> Self {
        if let Some(lang) = wanted {
            return Spoken { lang, fixed: true };
        }
        let inputs = &run.workflow().inputs;
        let at = inputs.iter().position(|input| input.name == TASK);
        let task = at.and_then(|at| run.input(InputIx(u16::try_from(at).ok()?)));
        let mut spoken = Spoken::default();
        spoken.hear(&task.map_or(String::new(), ToString::to_string));
        spoken
    }

    /// Something was written by the person.
    pub fn hear(&mut self, text: &str) {
        if !self.fixed {
            self.lang = detect(text, self.lang);
        }
    }

    /// An entry of the journal: if it is an answer with words in it, they count.
    pub fn enter(&mut self, entry: &Entry) {
        if let Entry::Event(recorded) = entry
            && let Event::Answered { text: Some(text), .. } = &recorded.event
        {
            self.hear(text);
        }
    }

    /// The language.
    pub fn lang(self) -> Lang {
        self.lang
    }

    /// What is said in it.
    pub fn words(self) -> Words {
        Words::in_lang(self.lang)
    }

    /// Its name for agents, who write English unless they are told otherwise.
    pub fn for_agents(self) -> Option<String> {
        (self.lang != Lang::ENGLISH).then(|| self.lang.name().to_owned())
    }
}
