//! Keeps a conversation within the model's window: older turns are summed up by the model itself, and the summary takes
//! their place. What stays as it was is the task and the last turns.

use std::fmt::Write as _;

use super::conversation::{Conversation, Message, Part, Who};
use super::tools::bounded;

/// What the model is told that sums up.
pub(super) const SYSTEM: &str = "You sum up the work of a programmer who is about to go on with it, and who will remember nothing but \
     what you write.";

/// What it is asked.
const WANTED: &str = "Sum up the work so far, for whoever goes on with it. Say what was found out (names of files, functions and \
     commands, exactly), what was done and how that went, what was decided and why, what is left to do, and what came last. \
     Leave out what does not matter any more. Write plain text, no more than a page.";

/// How a summary is introduced to the model.
const SO_FAR: &str = "# What you have done so far\n\nYou have worked on this for a while. What was said before was summed up, by \
     yourself:\n\n";

/// How a conversation is to be made shorter.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Plan {
    /// What was summed up before, and is the oldest that is known.
    before: Message,
    /// What is to be summed up.
    older: Vec<Message>,
    /// What stays as it is.
    last: Vec<Message>,
    /// The task.
    task: Part,
}

impl Plan {
    /// A plan for a window of so many tokens; none, if there is nothing that could be summed up. `all` says that the last
    /// turns may be summed up, too.
    pub fn of(talk: &Conversation, window: u64, all: bool) -> Option<Self> {
        let (first, rest) = talk.messages.split_first()?;
        let (task, more) = first.parts.split_first()?;
        let mut from = rest.len();
        let mut room = window / 4;
        // What stays begins with what the model said: what tools said belongs to who called them.
        for (at, message) in rest.iter().enumerate().rev() {
            let Some(left) = room.checked_sub(message.tokens()) else { break };
            room = left;
            if message.who == Who::Model {
                from = at;
            }
        }
        if from == 0 && all {
            from = rest.len();
        }
        let (older, last) = rest.split_at(from);
        let before = Message { who: Who::User, parts: more.to_vec() };
        let older = older.to_vec();
        let gain: u64 = older.iter().map(Message::tokens).sum();
        let is_worth_it = if all { !older.is_empty() } else { gain > window / 10 };
        is_worth_it.then(|| Plan { before, older, last: last.to_vec(), task: task.clone() })
    }

    /// What the model is asked to sum up, in no more than so many bytes.
    pub fn question(&self, bytes_max: usize) -> Vec<Message> {
        let task = Message { who: Who::User, parts: vec![self.task.clone()] };
        let [task, before] = [&task, &self.before].map(|it| bounded(&it.text(), bytes_max / 4));
        let work = transcript(&self.older, bytes_max / 2);
        vec![Message::user(format!(
            "<task>\n{task}\n</task>\n\n<before>\n{before}\n</before>\n\n<work>\n{work}\n</work>\n\n{WANTED}"
        ))]
    }

    /// The conversation with a summary in the place of what it is about.
    pub fn done(self, summary: &str) -> Conversation {
        let so_far = Part::text(format!("{SO_FAR}{}", summary.trim()));
        let first = Message { who: Who::User, parts: vec![self.task, so_far] };
        Conversation { messages: [first].into_iter().chain(self.last).collect() }
    }
}

/// What was said, as a text, in no more than so many bytes: of the older messages less and less is shown.
fn transcript(messages: &[Message], bytes_max: usize) -> String {
    let mut shown = Vec::new();
    let mut room = bytes_max;
    for message in messages.iter().rev() {
        let text = told(message, (bytes_max / 12).max(200));
        let text = bounded(&text, room.min(bytes_max / 4));
        room = room.saturating_sub(text.len());
        shown.push(text);
        if room < 100 {
            shown.push("[… what came before is left out …]\n".to_owned());
            break;
        }
    }
    shown.reverse();
    shown.concat()
}

fn told(message: &Message, part_bytes_max: usize) -> String {
    let mut text = String::new();
    for part in &message.parts {
        let short = |text: &str| bounded(text, part_bytes_max);
        let _ = match (message.who, part) {
            (Who::Model, Part::Text { text: said }) => writeln!(text, "[said] {}", short(said)),
            (Who::User, Part::Text { text: said }) => writeln!(text, "[was told] {}", short(said)),
            (_, Part::Call(call)) => {
                writeln!(text, "[used {}] {}", call.name, short(&call.input.to_string()))
            }
            (_, Part::Result(outcome)) => {
                let how = if outcome.failed { "failed" } else { "came" };
                writeln!(text, "[of {} {how}] {}", outcome.name, short(&outcome.text))
            }
            (_, Part::Kept { .. }) => Ok(()),
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::api::conversation::{Call, Outcome};

    fn exchange(talk: &mut Conversation, at: usize, bytes: usize) {
        let (id, name) = (format!("call {at}"), "read".to_owned());
        let input = json!({"path": format!("file-{at}")});
        let call = Call { id: id.clone(), name: name.clone(), input, signature: None };
        talk.push(Message {
            who: Who::Model,
            parts: vec![Part::text("I look."), Part::Call(call)],
        });
        let text = format!("{at} {}", "x".repeat(bytes));
        let outcome = Outcome { id, name, text, failed: false };
        talk.push(Message { who: Who::User, parts: vec![Part::Result(outcome)] });
    }

    fn talk(exchanges: usize, bytes: usize) -> Conversation {
        let mut talk = Conversation::default();
        talk.push(Message::user("the task"));
        (0..exchanges).for_each(|at| exchange(&mut talk, at, bytes));
        talk
    }

    #[test]
    fn the_task_and_the_last_turns_stay_and_calls_keep_what_came_of_them() {
        let long = talk(40, 400);
        let plan = Plan::of(&long, 2_000, false).unwrap();
        let short = plan.done(" all is well \n");
        assert!(short.tokens() < 700, "{}", short.tokens());
        assert_eq!(short.messages[0].parts[0], Part::text("the task"));
        assert!(short.messages[0].text().ends_with("yourself:\n\nall is well"));
        assert_eq!(short.messages[1].who, Who::Model);
        let kept = short.messages.len() - 1;
        assert!(kept >= 2 && kept.is_multiple_of(2), "{kept}");
        assert_eq!(short.messages[1..], long.messages[long.messages.len() - kept..]);
        // A second time the summary itself is summed up.
        let mut longer = short;
        (40..80).for_each(|at| exchange(&mut longer, at, 400));
        let plan = Plan::of(&longer, 2_000, false).unwrap();
        assert!(plan.question(10_000)[0].text().contains("all is well"));
        assert_eq!(plan.done("and so on").messages[0].parts.len(), 2);
    }

    #[test]
    fn what_is_to_be_summed_up_is_never_longer_than_it_may_be() {
        for (exchanges, bytes) in [(400, 400), (3, 100_000), (1, 10)] {
            let plan = Plan::of(&talk(exchanges, bytes), 2_000, true).unwrap();
            for most in [1_000, 8_000] {
                let question = plan.question(most);
                let length = question[0].text().len();
                assert!(length < most + 1_500, "{exchanges} {bytes} {most}: {length}");
                assert!(question[0].text().contains("[of read came]"));
            }
        }
    }

    #[test]
    fn where_there_is_nothing_to_gain_nothing_is_summed_up() {
        assert_eq!(Plan::of(&talk(0, 0), 2_000, true), None);
        assert_eq!(Plan::of(&talk(2, 10), 2_000, false), None);
        let all = Plan::of(&talk(1, 10), 2_000, true).unwrap();
        assert_eq!(all.done("short").messages.len(), 1);
    }
}
