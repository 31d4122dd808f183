//! What an agent said: the one place where what it printed becomes what everybody else sees of it.

use std::borrow::Cow;

use windlass_agents::{Answer, Came, Fate, Heard, Listener, ModelUse};
use windlass_core::run::Usage;

use crate::clerk::Said;
use crate::mask::Mask;

/// What a program of an agent left behind, as it is.
pub(super) struct Printed {
    pub fate: Fate,
    pub ended: String,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

/// What an agent said, without secrets.
pub(super) struct HeardOf {
    pub answer: Answer,
    /// What was used of each model.
    pub models: Vec<ModelUse>,
    pub ended: String,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

/// Whoever knows what an answer is worth: the workflow's clerk, about the role that has given it.
pub(super) trait Judge {
    /// The verdict that counts instead of this one, and why.
    fn overrules(&self, verdict: &str, text: &str) -> Option<(String, String)>;

    /// Why a verdict and what was said besides do not go together.
    fn examine(&self, verdict: &str, said: Said<'_>) -> Option<String>;
}

impl HeardOf {
    /// Reads what an agent printed; `clerk` says which verdict counts, and why one and what was said besides do not go together.
    pub fn of(
        listener: Box<dyn Listener>,
        attempt: u32,
        printed: Printed,
        mask: &Mask,
        clerk: &impl Judge,
    ) -> Self {
        let Printed { fate, ended, stdout, stderr } = printed;
        // Before it is read: what an answer says goes into prompts and into the journal as well.
        let (stdout, stderr) = (mask.bytes(stdout), mask.bytes(stderr));
        let models = listener.models();
        let answer = listener.answer(&Heard { fate, stdout: &stdout });
        let mut heard = HeardOf { answer, models, ended, stdout, stderr };
        let text = heard.said().into_owned();
        let answer = &mut heard.answer;
        if let Came::Verdict(verdict) = &mut answer.came {
            if let Some((counts, why)) = clerk.overrules(verdict, &text) {
                *verdict = counts;
                answer.remarks.push(why);
            }
            let (facts, lists) = (&mut answer.facts, &mut answer.lists);
            let mut instead = None;
            let said = Said { attempt, text: &text, facts, lists, instead: &mut instead };
            if let Some(why) = clerk.examine(verdict, said) {
                answer.came = Came::Unknown;
                answer.remarks.push(why);
            } else if let Some((counts, why)) = instead {
                *verdict = counts;
                answer.remarks.push(why);
            }
        }
        // And after: how a kind of agent writes a text down is its own affair.
        mask.answer(answer);
        heard
    }

    /// What others see of it: the kind's own text, or else the stream as it is.
    pub fn said(&self) -> Cow<'_, str> {
        match &self.answer.text {
            Some(text) => Cow::Borrowed(text),
            None => String::from_utf8_lossy(&self.stdout),
        }
    }

    /// The second answer counts, and both cost. Both are on record, and others see both.
    pub fn and(self, again: HeardOf, why: &str) -> HeardOf {
        let both = format!("{}\n{}", self.said(), again.said());
        let own = self.answer.text.is_some() || again.answer.text.is_some();
        let mut answer = again.answer;
        answer.text = own.then_some(both);
        answer.usage = plus(self.answer.usage, answer.usage);
        answer.remarks.insert(0, why.to_owned());
        let mut stdout = self.stdout;
        stdout.extend_from_slice(b"\n");
        stdout.extend(again.stdout);
        let models = self.models.into_iter().chain(again.models).collect();
        HeardOf { answer, models, ended: again.ended, stdout, stderr: again.stderr }
    }
}

pub(super) fn plus(one: Usage, other: Usage) -> Usage {
    use windlass_core::run::Reported::{Known, Unknown};
    let add = |one, other| match (one, other) {
        (Known(one), Known(other)) => Known(one.saturating_add(other)),
        _ => Unknown,
    };
    Usage { cost: add(one.cost, other.cost), tokens: add(one.tokens, other.tokens) }
}

#[cfg(test)]
pub(super) mod tests {
    use std::cell::RefCell;

    use windlass_agents::{Event, Source};
    use windlass_core::lang::Reporter;

    use super::*;

    /// Listens to a kind of agent that prints an event in each line; what it says is in those that have a `text`.
    struct Events(Reporter);

    impl Listener for Events {
        fn line(&mut self, _: Source, _: &[u8]) -> Vec<Event> {
            Vec::new()
        }

        fn answer(self: Box<Self>, output: &Heard<'_>) -> Answer {
            let printed = String::from_utf8_lossy(output.stdout);
            let events = printed.lines().filter_map(windlass_agents::last_object);
            let texts = events.filter_map(|event| Some(event.get("text")?.as_str()?.to_owned()));
            Answer::of_text(output.fate, texts.collect::<Vec<_>>().join("\n"), &self.0)
        }
    }

    const STREAM: &str = concat!(
        r#"{"event":"begin","id":17}"#,
        "\n",
        r#"{"event":"text","text":"good: it is"}"#,
        "\n",
        r#"{"event":"text","text":"{\"verdict\":\"good\",\"summary\":\"made it\"}"}"#,
        "\n",
        r#"{"event":"end","cost":1}"#,
    );

    /// What a stream of events is heard as, and what `examine` was shown of it.
    fn heard(stdout: &str, refused: Option<&str>) -> (HeardOf, String) {
        let reporter = Reporter { verdicts: vec!["good".into()], ..Reporter::default() };
        let printed = Printed {
            fate: Fate::Exited(0),
            ended: "exited with 0".into(),
            stdout: stdout.into(),
            stderr: Vec::new(),
        };
        let mut mask = Mask::default();
        mask.file("A_KEY=hush-hush-1");
        let clerk = Strict { refused, instead: None, seen: RefCell::default() };
        let heard = HeardOf::of(Box::new(Events(reporter)), 1, printed, &mask, &clerk);
        (heard, clerk.seen.into_inner())
    }

    /// A clerk who holds something against every verdict, or has another one.
    struct Strict<'a> {
        refused: Option<&'a str>,
        instead: Option<&'a str>,
        seen: RefCell<String>,
    }

    impl Judge for Strict<'_> {
        fn overrules(&self, verdict: &str, _: &str) -> Option<(String, String)> {
            let why = format!("not {verdict}, hush-hush-1");
            self.instead.map(|instead| (instead.to_owned(), why))
        }

        fn examine(&self, _: &str, said: Said<'_>) -> Option<String> {
            self.seen.replace(said.text.to_owned());
            self.refused.map(str::to_owned)
        }
    }

    /// What a stream of events is heard as.
    pub(in crate::effect) fn a_stream() -> HeardOf {
        heard(STREAM, None).0
    }

    #[test]
    fn others_see_the_text_of_a_stream_and_the_stream_is_kept() {
        let (heard, examined) = heard(STREAM, None);
        let text = "good: it is\n{\"verdict\":\"good\",\"summary\":\"made it\"}";
        assert_eq!(heard.answer.came, Came::Verdict("good".into()));
        assert_eq!((heard.said().as_ref(), examined.as_str()), (text, text));
        assert_eq!(heard.stdout, STREAM.as_bytes());
    }

    #[test]
    fn a_verdict_that_follows_from_what_was_found_counts_instead() {
        let reporter = Reporter { verdicts: vec!["good".into()], ..Reporter::default() };
        let printed = Printed {
            fate: Fate::Exited(0),
            ended: "exited with 0".into(),
            stdout: STREAM.into(),
            stderr: Vec::new(),
        };
        let mut mask = Mask::default();
        mask.file("A_KEY=hush-hush-1");
        let clerk = Strict { refused: None, instead: Some("bad"), seen: RefCell::default() };
        let heard = HeardOf::of(Box::new(Events(reporter)), 1, printed, &mask, &clerk);
        assert_eq!(heard.answer.came, Came::Verdict("bad".into()));
        assert_eq!(heard.answer.remarks, ["not good, [masked]"]);
    }

    #[test]
    fn what_is_said_against_a_verdict_counts() {
        let (heard, _) = heard(STREAM, Some("it cannot be, hush-hush-1"));
        assert_eq!(heard.answer.came, Came::Unknown);
        assert_eq!(heard.answer.remarks, ["it cannot be, [masked]"]);
    }

    #[test]
    fn what_two_answers_used_up_is_counted_as_far_as_numbers_go() {
        use windlass_core::run::Reported::{Known, Unknown};
        let usage = |tokens| Usage { cost: Unknown, tokens };
        assert_eq!(plus(usage(Known(1)), usage(Known(2))), usage(Known(3)));
        assert_eq!(plus(usage(Known(u64::MAX)), usage(Known(2))), usage(Known(u64::MAX)));
        assert_eq!(plus(usage(Known(1)), usage(Unknown)), usage(Unknown));
    }

    #[test]
    fn an_answer_that_was_asked_for_twice_is_seen_with_both_texts() {
        let unclear = heard(r#"{"text":"well, hush-hush-1"}"#, None).0;
        assert_eq!(unclear.answer.came, Came::Unknown);
        assert_eq!(unclear.said(), "well, [masked]");
        let whole = unclear.and(heard(STREAM, None).0, "it was asked again");
        assert!(whole.said().starts_with("well, [masked]\ngood: it is\n"), "{}", whole.said());
        let stream = String::from_utf8(whole.stdout.clone()).unwrap();
        assert!(stream.contains(r#""event":"begin""#) && stream.starts_with(r#"{"text":"#));
    }
}
