//! Which rows are meant, and in what order: `all`, `next`, `3`, `3-6`, `3, 5-7`, `26` for all below it.
//!
//! The order is what Depends says. Where it is silent, a row with `[P]` waits for nobody, and one without waits for the selected
//! row before it: if that has `[P]`, for the whole run of such rows and the one before them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use windlass_core::run::Item;
use windlass_core::value::Value;

use super::depends::On;
use super::{Effort, Number, Plans, Row, Status, effort};

/// What somebody wants to be worked on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Targets {
    /// All that is not done.
    All,
    /// The next row that can be worked on.
    Next,
    /// Rows by their numbers.
    Some(Vec<Said>),
}

/// Some rows by their numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// As it was said.
    text: String,
    /// If it can be the number of a row.
    one: Option<Number>,
    /// If it can be a range.
    range: Option<(Number, Number)>,
}

impl Targets {
    /// What a person says.
    ///
    /// # Errors
    ///
    /// When it is none of the forms.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        let parts = parts(text);
        match parts.iter().map(|part| part.to_lowercase()).collect::<Vec<_>>().as_slice() {
            [] => return Err(Refusal::Unclear(text.trim().to_owned())),
            [one] if one == "all" => return Ok(Targets::All),
            [one] if one == "next" => return Ok(Targets::Next),
            _ => {}
        }
        parts.into_iter().map(Said::of).collect::<Result<_, _>>().map(Targets::Some)
    }
}

/// As it can be said again.
impl std::fmt::Display for Targets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Targets::All => f.write_str("all"),
            Targets::Next => f.write_str("next"),
            Targets::Some(said) => {
                let parts: Vec<&str> = said.iter().map(|said| said.text.as_str()).collect();
                f.write_str(&parts.join(","))
            }
        }
    }
}

impl Said {
    fn of(text: String) -> Result<Self, Refusal> {
        let one = Number::of(&text);
        let range = text.split_once('-').and_then(|(from, to)| {
            let (from, to) = (Number::of(from)?, Number::of(to)?);
            (from.is_numeric() && to.is_numeric()).then_some((from, to))
        });
        let is_word = ["all", "next"].contains(&text.to_lowercase().as_str());
        if is_word || (one.is_none() && range.is_none()) {
            return Err(Refusal::Unclear(text));
        }
        match range {
            Some((from, to)) if from > to => Err(Refusal::Backwards { from, to }),
            range => Ok(Said { text, one, range }),
        }
    }
}

/// What stands between commas and spaces; those around a dash are no matter.
fn parts(text: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let text = text.replace(['–', '—'], "-").replace('、', ",");
    for word in text.split(|letter: char| letter.is_whitespace() || letter == ',') {
        match parts.last_mut() {
            _ if word.is_empty() => {}
            Some(last) if last.ends_with('-') || word.starts_with('-') => last.push_str(word),
            _ => parts.push(word.to_owned()),
        }
    }
    parts
}

/// Rows that were selected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    /// From top to bottom.
    pub picked: Vec<Picked>,
    /// What a person should know.
    pub remarks: Vec<String>,
}

/// A row that was selected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picked {
    /// Which.
    pub row: Row,
    /// The selected rows that it waits for.
    pub waits: Vec<Number>,
}

impl Picked {
    /// The unit that it is to be.
    pub fn item(&self, effort: &Effort) -> Item {
        let facts = [
            ("skip_tdd".to_owned(), Value::Flag(self.row.tags.skip_tdd)),
            ("effort_score".to_owned(), Value::Number(effort.score())),
            ("redo".to_owned(), Value::Flag(self.row.status.is_done())),
        ];
        Item {
            id: self.row.number.as_str().into(),
            title: self.row.content.as_str().into(),
            depends: self.waits.iter().map(|number| number.as_str().into()).collect(),
            files: effort::files(&self.row).into_iter().map(Arc::from).collect(),
            facts: facts.into(),
            ..Item::default()
        }
    }
}

/// Why nothing can be selected like that.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It is none of the forms.
    #[error(
        "{0:?} is neither the number of a task (3, 26.1), a range (3-6), a list (3, 5-7), `all` nor `next`"
    )]
    Unclear(String),
    /// A range that ends before it begins.
    #[error("the range {from}-{to} ends before it begins")]
    Backwards {
        /// Where it begins.
        from: Number,
        /// Where it ends.
        to: Number,
    },
    /// There is no such row.
    #[error("there is no task {said}{}", there(.rows))]
    NoSuch {
        /// What was said.
        said: String,
        /// The first and the last that there are.
        rows: Option<(Number, Number)>,
    },
    /// Its row says nothing but its number.
    #[error("task {number} says nothing but its number, on line {line}")]
    Bare {
        /// Which.
        number: Number,
        /// Its line, from 1.
        line: usize,
    },
    /// More than one row has that number.
    #[error("the number {number} is there twice, on lines {} and {}", lines.0, lines.1)]
    Twice {
        /// Which.
        number: Number,
        /// Where.
        lines: (usize, usize),
    },
    /// Something is waited for that is neither done nor selected.
    #[error("{}", unfinished(.waits))]
    Unfinished {
        /// Who waits for whom.
        waits: Vec<(Number, Number)>,
        /// What to select instead.
        targets: String,
    },
    /// Rows wait for each other.
    #[error("tasks wait for each other in a circle: {}", circle(.0))]
    Circle(Vec<Number>),
}

impl Refusal {
    /// What to do about it; `verb` is what somebody said before the targets.
    pub fn next_step(&self, verb: &str) -> String {
        match self {
            Refusal::Unclear(_) | Refusal::NoSuch { .. } => {
                format!("name tasks by the numbers of their rows: {verb} 3, or {verb} all")
            }
            Refusal::Backwards { from, to } => format!("{verb} {to}-{from}"),
            Refusal::Bare { .. } => {
                "say in its row what is to be done and when it is, or take the row out".to_owned()
            }
            Refusal::Twice { .. } => "give each of them a number of its own".to_owned(),
            Refusal::Unfinished { targets, .. } => {
                format!("to include what is waited for: {verb} {targets}")
            }
            Refusal::Circle(_) => "take one of them out of the Depends column".to_owned(),
        }
    }
}

fn there(rows: &Option<(Number, Number)>) -> String {
    match rows {
        Some((first, last)) if first == last => format!(": there is {first} only"),
        Some((first, last)) => format!(": they go from {first} to {last}"),
        None => ": there is none at all".to_owned(),
    }
}

fn unfinished(waits: &[(Number, Number)]) -> String {
    let one = |(row, on): &(Number, Number)| {
        format!("task {row} depends on {on}, which is neither done nor selected")
    };
    waits.iter().map(one).collect::<Vec<_>>().join("; ")
}

fn circle(numbers: &[Number]) -> String {
    numbers.iter().map(Number::as_str).collect::<Vec<_>>().join(" → ")
}

impl Plans {
    /// The rows that are meant, each with those that it waits for.
    ///
    /// # Errors
    ///
    /// When nothing can be selected like that.
    pub fn select(&self, targets: &Targets) -> Result<Chosen, Refusal> {
        let mut choice = Choice::of(self);
        let chosen = choice.rows(targets)?;
        for &at in &chosen {
            choice.alone(at)?;
        }
        let explicit = choice.explicit(&chosen)?;
        choice.all_there(targets, &chosen, &explicit)?;
        let within = |(at, on): (&usize, &Vec<usize>)| {
            (*at, on.iter().copied().filter(|on| chosen.contains(on)).collect::<BTreeSet<_>>())
        };
        let mut waits: BTreeMap<usize, BTreeSet<usize>> = explicit.iter().map(within).collect();
        if let Some(circle) = circle_in(&waits) {
            return Err(Refusal::Circle(
                circle.iter().map(|at| self.rows()[*at].number.clone()).collect(),
            ));
        }
        choice.implicit(&chosen, &mut waits);
        let number = |at: &usize| self.rows()[*at].number.clone();
        let picked = chosen.iter().map(|at| Picked {
            row: self.rows()[*at].clone(),
            waits: waits.get(at).into_iter().flatten().map(number).collect(),
        });
        Ok(Chosen { picked: picked.collect(), remarks: choice.remarks })
    }
}

/// Who is choosing.
struct Choice<'p> {
    rows: &'p [Row],
    by_number: BTreeMap<&'p Number, Vec<usize>>,
    bare: &'p [(Number, usize)],
    remarks: Vec<String>,
}

impl<'p> Choice<'p> {
    fn of(plans: &'p Plans) -> Self {
        let mut by_number: BTreeMap<&Number, Vec<usize>> = BTreeMap::new();
        for (at, row) in plans.rows().iter().enumerate() {
            by_number.entry(&row.number).or_default().push(at);
        }
        Choice { rows: plans.rows(), by_number, bare: &plans.bare, remarks: Vec::new() }
    }

    /// The rows that are meant.
    fn rows(&mut self, targets: &Targets) -> Result<BTreeSet<usize>, Refusal> {
        let mut chosen = BTreeSet::new();
        match targets {
            Targets::All => chosen.extend(self.open(0..self.rows.len())),
            Targets::Next => chosen.extend(self.next()),
            Targets::Some(said) => {
                for said in said {
                    chosen.extend(self.said(said)?);
                }
            }
        }
        Ok(chosen)
    }

    fn said(&mut self, said: &Said) -> Result<Vec<usize>, Refusal> {
        let exact = said.one.as_ref().and_then(|one| self.by_number.get(one)).cloned();
        let meant: Vec<usize> = match (&exact, &said.range, &said.one) {
            (None, Some((from, to)), _) => self.which(|number| On::spans(from, to, number)),
            (_, _, Some(one)) => self.which(|number| number.is_below(one)),
            (_, _, None) => Vec::new(),
        };
        if exact.is_none() && meant.is_empty() {
            let bare = said.one.as_ref().and_then(|one| self.bare.iter().find(|it| it.0 == *one));
            if let Some((number, line)) = bare.cloned() {
                return Err(Refusal::Bare { number, line });
            }
            let first = self.rows.iter().map(|row| &row.number).min().cloned();
            let last = self.rows.iter().map(|row| &row.number).max().cloned();
            return Err(Refusal::NoSuch { said: said.text.clone(), rows: first.zip(last) });
        }
        let mut chosen = exact.unwrap_or_default();
        for &at in &chosen {
            let row = &self.rows[at];
            if row.status.is_done() {
                self.remarks.push(format!(
                    "task {} is done, and is done again, for it was named",
                    row.number
                ));
            }
        }
        chosen.extend(self.open(meant));
        Ok(chosen)
    }

    fn which(&self, is: impl Fn(&Number) -> bool) -> Vec<usize> {
        (0..self.rows.len()).filter(|at| is(&self.rows[*at].number)).collect()
    }

    /// Those of some rows that are not done. What a person marks in their own way is theirs.
    fn open(&mut self, rows: impl IntoIterator<Item = usize>) -> Vec<usize> {
        let mut open = Vec::new();
        for at in rows {
            let row = &self.rows[at];
            match &row.status {
                Status::Todo | Status::Wip => open.push(at),
                Status::Done { .. } => {}
                Status::Other(word) => self.remarks.push(format!(
                    "task {} is left out, for its status is {word:?}: name it to have it done",
                    row.number
                )),
            }
        }
        open
    }

    /// The first row that is not done and waits for nobody; the first that is not done, if all wait.
    fn next(&mut self) -> Option<usize> {
        let open: Vec<usize> =
            (0..self.rows.len()).filter(|at| self.rows[*at].status.is_open()).collect();
        let is_ready = |at: &&usize| {
            let on = self.waits_for(**at).0;
            on.iter().all(|on| on != *at && self.rows[*on].status.is_done())
        };
        open.iter().find(is_ready).or(open.first()).copied()
    }

    /// What a row says that it waits for, and the numbers that no row has.
    fn waits_for(&self, at: usize) -> (Vec<usize>, Vec<&'p Number>) {
        let (mut on, mut nowhere) = (Vec::new(), Vec::new());
        for said in &self.rows[at].depends.on {
            match said {
                On::One(number) => match self.by_number.get(number) {
                    Some(exact) => on.extend(exact),
                    None => {
                        let below = self.which(|it| it.is_below(number));
                        if below.is_empty() {
                            nowhere.push(number);
                        }
                        on.extend(below.into_iter().filter(|below| *below != at));
                    }
                },
                On::Range(from, to) => {
                    let meant = self.which(|number| On::spans(from, to, number));
                    on.extend(meant.into_iter().filter(|meant| *meant != at));
                }
            }
        }
        (on, nowhere)
    }

    /// Refuses a row whose number another one has, too.
    fn alone(&self, at: usize) -> Result<(), Refusal> {
        let number = &self.rows[at].number;
        match self.by_number.get(number).map(Vec::as_slice) {
            Some([one, two, ..]) => Err(Refusal::Twice {
                number: number.clone(),
                lines: (self.rows[*one].line, self.rows[*two].line),
            }),
            _ => Ok(()),
        }
    }

    /// Who waits for whom, as Depends says: of those that are selected, and of those that they wait for and that are not done.
    fn explicit(
        &mut self,
        chosen: &BTreeSet<usize>,
    ) -> Result<BTreeMap<usize, Vec<usize>>, Refusal> {
        let mut waits = BTreeMap::new();
        let mut left: Vec<usize> = chosen.iter().rev().copied().collect();
        while let Some(at) = left.pop() {
            if waits.contains_key(&at) {
                continue;
            }
            let (on, nowhere) = self.waits_for(at);
            let number = &self.rows[at].number;
            for word in nowhere {
                let what = format!(
                    "task {number} depends on {word}, and there is no such row: it is taken for done"
                );
                self.remarks.push(what);
            }
            for word in &self.rows[at].depends.unclear {
                self.remarks.push(format!("task {number} depends on {word:?}, which is no number"));
            }
            let on: Vec<usize> = on
                .into_iter()
                .filter(|on| chosen.contains(on) || !self.rows[*on].status.is_done())
                .collect();
            for &on in &on {
                self.alone(on)?;
            }
            left.extend(&on);
            waits.insert(at, on);
        }
        Ok(waits)
    }

    /// Refuses a selection that waits for something outside of it.
    fn all_there(
        &self,
        targets: &Targets,
        chosen: &BTreeSet<usize>,
        explicit: &BTreeMap<usize, Vec<usize>>,
    ) -> Result<(), Refusal> {
        let number = |at: usize| self.rows[at].number.clone();
        let of_chosen = explicit.iter().filter(|(at, _)| chosen.contains(at));
        let waits: Vec<(Number, Number)> = of_chosen
            .flat_map(|(at, on)| on.iter().map(|on| (*at, *on)))
            .filter(|(_, on)| !chosen.contains(on))
            .map(|(at, on)| (number(at), number(on)))
            .collect();
        if waits.is_empty() {
            return Ok(());
        }
        // Everything that is known here is selected, or waited for by what is.
        let missing =
            explicit.keys().filter(|at| !chosen.contains(at)).map(|at| number(*at).to_string());
        let said = match targets {
            Targets::Some(_) => vec![targets.to_string()],
            Targets::All | Targets::Next => {
                chosen.iter().map(|at| number(*at).to_string()).collect()
            }
        };
        let targets = missing.chain(said).collect::<Vec<_>>().join(",");
        Err(Refusal::Unfinished { waits, targets })
    }

    /// Where Depends is silent: who waits for the row before.
    fn implicit(&self, chosen: &BTreeSet<usize>, waits: &mut BTreeMap<usize, BTreeSet<usize>>) {
        let order: Vec<usize> = chosen.iter().copied().collect();
        let forward = waits.iter().any(|(at, on)| on.iter().any(|on| on > at));
        for (place, &at) in order.iter().enumerate() {
            let row = &self.rows[at];
            let unclear = !row.depends.unclear.is_empty();
            if !row.depends.on.is_empty() || (row.tags.parallel && !unclear) {
                continue;
            }
            for &before in order[..place].iter().rev() {
                // What waits for this row itself cannot be waited for.
                if !forward || !reaches(waits, before, at) {
                    waits.entry(at).or_default().insert(before);
                }
                if !self.rows[before].tags.parallel {
                    break;
                }
            }
        }
    }
}

/// Whether one waits for another, however far off.
fn reaches(waits: &BTreeMap<usize, BTreeSet<usize>>, from: usize, to: usize) -> bool {
    let (mut seen, mut left) = (BTreeSet::from([from]), vec![from]);
    while let Some(at) = left.pop() {
        if at == to {
            return true;
        }
        left.extend(waits.get(&at).into_iter().flatten().filter(|on| seen.insert(**on)));
    }
    false
}

/// A circle of those that wait for each other, if there is one; it ends where it begins.
fn circle_in(waits: &BTreeMap<usize, BTreeSet<usize>>) -> Option<Vec<usize>> {
    // Whoever waits for nobody that is left is taken out, until nobody is, or all that are left wait.
    let mut left: BTreeMap<usize, BTreeSet<usize>> = waits.clone();
    loop {
        let free: Vec<usize> = left
            .iter()
            .filter(|(_, on)| on.iter().all(|on| !left.contains_key(on)))
            .map(|(at, _)| *at)
            .collect();
        if free.is_empty() {
            break;
        }
        for at in free {
            left.remove(&at);
        }
    }
    let mut path = vec![*left.keys().next()?];
    loop {
        let on = left.get(path.last()?)?.iter().find(|on| left.contains_key(on))?;
        if let Some(begin) = path.iter().position(|at| at == on) {
            let mut circle = path.split_off(begin);
            circle.push(*on);
            return Some(circle);
        }
        path.push(*on);
    }
}
