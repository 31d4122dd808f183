//! Reading an event of the journal back.
//!
//! What a derived reader does with a flattened event is to put everything into a tree of its own, copy that, and read the event
//! from the copy. For the list of a thousand tasks that takes several times as long as reading. Here the event is read where it
//! stands: number and time are set aside as they come along, and the three kinds that may be large are read at once.

use serde::{
    Deserialize, Deserializer,
    de::{
        DeserializeSeed, Error, IntoDeserializer, MapAccess, Visitor, value::MapAccessDeserializer,
    },
};

use super::{
    event::{Event, Recorded},
    time::Stamp,
};

/// What says which event it is.
const KIND: &str = "event";

impl<'de> Deserialize<'de> for Recorded {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Recorded;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an event with its number and its time")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Recorded, A::Error> {
        let mut place = Place::default();
        let event = event(Rest { map, place: &mut place, key: None, kind: None })?;
        let seq = place.seq.ok_or_else(|| A::Error::missing_field("seq"))?;
        let at = place.at.ok_or_else(|| A::Error::missing_field("at"))?;
        Ok(Recorded { seq, at, event })
    }
}

/// The event, of which `rest` has everything. We write its kind first; wherever it stands, it is the same event.
fn event<'de, A: MapAccess<'de>>(mut rest: Rest<'_, A>) -> Result<Event, A::Error> {
    let direct = MapAccessDeserializer::new;
    let key = rest.next_of_event()?;
    if key.as_deref() != Some(KIND) {
        rest.key = key;
        return Event::deserialize(direct(rest));
    }
    let kind: String = rest.map.next_value()?;
    match kind.as_str() {
        "started" => Deserialize::deserialize(direct(rest)).map(Event::Started),
        "reported" => Deserialize::deserialize(direct(rest)).map(Event::Reported),
        "moved" => Deserialize::deserialize(direct(rest)).map(Event::Moved),
        _ => {
            (rest.key, rest.kind) = (key, Some(kind));
            Event::deserialize(direct(rest))
        }
    }
}

/// What an event is recorded with.
#[derive(Default)]
struct Place {
    seq: Option<u64>,
    at: Option<Stamp>,
}

/// What is left to be read of an event: all but its place, which is set aside.
struct Rest<'p, A> {
    map: A,
    place: &'p mut Place,
    /// A key that was looked at and is to be read once more.
    key: Option<String>,
    /// The same for the kind of the event.
    kind: Option<String>,
}

impl<'de, A: MapAccess<'de>> Rest<'_, A> {
    /// The next key that is the event's own.
    fn next_of_event(&mut self) -> Result<Option<String>, A::Error> {
        while let Some(key) = self.map.next_key::<String>()? {
            match key.as_str() {
                "seq" if self.place.seq.is_some() => return Err(A::Error::duplicate_field("seq")),
                "at" if self.place.at.is_some() => return Err(A::Error::duplicate_field("at")),
                "seq" => self.place.seq = Some(self.map.next_value()?),
                "at" => self.place.at = Some(self.map.next_value()?),
                _ => return Ok(Some(key)),
            }
        }
        Ok(None)
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Rest<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        let key = match self.key.take() {
            Some(key) => Some(key),
            None => self.next_of_event()?,
        };
        key.map(|key| seed.deserialize(key.into_deserializer())).transpose()
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        match self.kind.take() {
            Some(kind) => seed.deserialize(kind.into_deserializer()),
            None => self.map.next_value_seed(seed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::event::Ending;
    use crate::run::input::{Ended, Item};
    use crate::run::{EffectId, FrameId, UnitIx};
    use crate::value::Value;
    use crate::workflow::RunOutcome;

    /// As a derived reader has it.
    #[derive(Debug, PartialEq, Deserialize)]
    struct Derived {
        seq: u64,
        at: Stamp,
        #[serde(flatten)]
        event: Event,
    }

    fn both(text: &str) -> Option<Recorded> {
        let (ours, derived) = (serde_json::from_str(text), serde_json::from_str::<Derived>(text));
        let same = match (&ours, &derived) {
            (Ok(Recorded { seq, at, event }), Ok(derived)) => {
                (seq, at, event) == (&derived.seq, &derived.at, &derived.event)
            }
            (ours, derived) => ours.is_err() && derived.is_err(),
        };
        assert!(same, "{text}: {ours:?}, {derived:?}");
        ours.ok()
    }

    fn reported() -> Event {
        let facts = [
            ("flag".to_owned(), Value::Flag(true)),
            ("number".to_owned(), Value::Number(-3)),
            ("text".to_owned(), Value::text("1")),
            ("set".to_owned(), Value::Set(vec!["a".into()])),
        ];
        let item =
            Item { id: "a".into(), title: "A".into(), facts: facts.into(), ..Item::default() };
        Event::Reported(Box::new(Ending {
            effect: EffectId(4),
            ended: Ended::Verdict("fine".into()),
            facts: Vec::new(),
            lists: vec![("tasks".into(), vec![item])],
            subject: None,
            settled: Default::default(),
            overrun: Default::default(),
            park_until_ms: Some(3),
            fault: None,
        }))
    }

    #[test]
    fn an_event_is_read_as_a_derived_reader_reads_it_in_whatever_order_it_stands() {
        let at = Stamp { mono_ms: 1, wall_ms: 2 };
        let events = [
            reported(),
            Event::Ended { outcome: RunOutcome::Done },
            Event::UnitWoken { unit: UnitIx(7) },
            Event::Resumed { frame: FrameId(3) },
        ];
        for event in events {
            let recorded = Recorded { seq: 7, at, event };
            let text = serde_json::to_string(&recorded).unwrap();
            assert_eq!(both(&text).as_ref(), Some(&recorded), "{text}");
            let whole: serde_json::Map<_, _> = serde_json::from_str(&text).unwrap();
            // Sorted by their names, and the other way round.
            let fields: Vec<String> =
                whole.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
            let mut fields = fields;
            for _ in 0..2 {
                fields.reverse();
                let text = format!("{{{}}}", fields.join(","));
                assert_eq!(both(&text).as_ref(), Some(&recorded), "{text}");
            }
            for (left_out, _) in &whole {
                let mut part = whole.clone();
                part.remove(left_out);
                let _ = both(&serde_json::to_string(&part).unwrap());
            }
        }
    }

    #[test]
    fn what_is_no_event_is_refused_as_a_derived_reader_refuses_it() {
        for text in [
            "{}",
            "[]",
            "7",
            r#"{"seq":1,"at":{"mono_ms":1,"wall_ms":2}}"#,
            r#"{"seq":1,"at":{"mono_ms":1,"wall_ms":2},"event":"unheard_of"}"#,
            r#"{"seq":1,"at":{"mono_ms":1,"wall_ms":2},"event":7}"#,
            r#"{"seq":1,"at":{"mono_ms":1,"wall_ms":2},"event":"reported"}"#,
            r#"{"seq":1,"seq":1,"at":{"mono_ms":1,"wall_ms":2},"event":"resumed","frame":1}"#,
            r#"{"seq":1,"at":{"mono_ms":1,"wall_ms":2},"event":"resumed","frame":1,"at":1}"#,
            r#"{"seq":1,"at":{"mono_ms":1,"wall_ms":2},"event":"resumed","frame":1} more"#,
            r#"{"event":"resumed","frame":1}"#,
            r#"{"event":"resumed","frame":1"#,
        ] {
            assert_eq!(both(text), None, "{text}");
        }
        let more = r#"{"seq":1,"at":{"mono_ms":1,"wall_ms":2},"event":"resumed","frame":1,"x":2}"#;
        assert!(both(more).is_some(), "what a later version adds is passed over");
    }
}
