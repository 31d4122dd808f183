//! What we put into Plans.md: the cells that are to say how far a task is, and rows that are new. Everything else in it is a
//! person's, and so is a cell that they have changed since.
//!
//! What we are about to write is remembered first: whoever is cut off in between finds that the cell is as it was, or as they
//! wanted it, and in either case theirs to go on with.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use windlass_engine::message::Trouble;
use windlass_sources::plans::{BYTES_MAX, NewRow, Number, Plans, Status};

use crate::memory::Files;

/// Who writes into Plans.md.
#[derive(Debug)]
pub struct Cells {
    files: Files,
    path: String,
    /// Where it is remembered what was written.
    ledger: PathBuf,
    known: Ledger,
    /// What a person was told already.
    told: Vec<String>,
}

/// What was written, by the number of the row.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Ledger {
    /// Of which run.
    run: String,
    /// Markers: the last one, and the one before it, which is there until the last is written.
    marks: BTreeMap<String, Vec<String>>,
    /// Rows that are new, and whether they are there for certain.
    rows: BTreeMap<String, bool>,
    /// The file was there.
    #[serde(default)]
    there: bool,
}

impl Cells {
    /// Writes into a file of a checkout, for a run.
    pub fn of(files: Files, path: &str, state: &Path, run: &str) -> Self {
        let ledger = state.join("plans-marks.json");
        let text = fs::read_to_string(&ledger).unwrap_or_default();
        let known: Ledger = serde_json::from_str(&text).unwrap_or_default();
        let fresh = || Ledger { run: run.to_owned(), ..Ledger::default() };
        let known = if known.run == run { known } else { fresh() };
        Cells { files, path: path.to_owned(), ledger, known, told: Vec::new() }
    }

    /// The file as it is, if it is there.
    ///
    /// # Errors
    ///
    /// When it is there and cannot be read.
    pub fn text(&self) -> Result<Option<String>, windlass_sources::SourceError> {
        self.files.theirs(&self.path, BYTES_MAX)
    }

    /// Writes the file as it was made where there was none. It is a person's from then on: where they put it away, it stays away.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn make(&mut self, text: &str) -> Result<(), Trouble> {
        if self.known.there || !matches!(self.files.text(&self.path), Ok(None)) {
            return Ok(());
        }
        self.files.write(&self.path, text)?;
        self.remember(Ledger { there: true, ..self.known.clone() })
    }

    /// Whether we have written a marker, so that whoever finds it knows it for ours.
    pub fn has_written(&self, number: &str, mark: &Status) -> bool {
        self.known.marks.get(number).is_some_and(|written| written.contains(&mark.to_string()))
    }

    /// Has the file say what it should: `began` is what it said when tasks were selected. What a person should know.
    ///
    /// # Errors
    ///
    /// When it cannot be read or written.
    pub fn put(
        &mut self,
        began: &Plans,
        marks: &BTreeMap<Number, Status>,
        rows: &[NewRow],
    ) -> Result<Vec<String>, Trouble> {
        let (files, path) = (self.files.clone(), self.path.clone());
        let mut said = Vec::new();
        let mut there = false;
        files.revise(&path, BYTES_MAX, |text| {
            let Some(text) = text else { return Ok(None) };
            there = true;
            said.clear();
            self.changed(text, began, marks, rows, &mut said)
        })?;
        if !there {
            if self.known.there {
                said.push(format!(
                    "{} is not there any more: it is not brought back, and the journal alone says how far its tasks are",
                    self.path
                ));
            }
            return Ok(self.untold(said));
        }
        // What is there by now is there, and is not brought back once somebody takes it out.
        let mut sure = Ledger { there: true, ..self.known.clone() };
        sure.rows.values_mut().for_each(|there| *there = true);
        for kept in sure.marks.values_mut() {
            kept.truncate(1);
        }
        self.remember(sure)?;
        Ok(self.untold(said))
    }

    /// What of it nobody was told yet.
    fn untold(&mut self, mut said: Vec<String>) -> Vec<String> {
        said.retain(|what| !self.told.contains(what));
        self.told.extend(said.iter().cloned());
        said
    }

    /// What a file that says this is to say. That is remembered before it is written.
    fn changed(
        &mut self,
        text: &str,
        began: &Plans,
        marks: &BTreeMap<Number, Status>,
        rows: &[NewRow],
        said: &mut Vec<String>,
    ) -> Result<Option<String>, Trouble> {
        let mut next = self.known.clone();
        let mut plans = Plans::read(text);
        let missing: Vec<NewRow> =
            rows.iter().filter(|row| self.is_missing(&plans, row)).cloned().collect();
        if !missing.is_empty()
            && let Some(appended) = plans.with_rows(&missing)
        {
            plans = appended.plans;
            next.rows.extend(missing.iter().map(|row| (row.number.to_string(), false)));
        }
        for (number, want) in marks {
            plans = self.marked(plans, began, number, want, &mut next, said);
        }
        if plans.text() == text {
            return Ok(None);
        }
        self.remember(next)?;
        Ok(Some(plans.text().to_owned()))
    }

    /// Whether a row is to be added: nobody has taken it out again.
    fn is_missing(&self, plans: &Plans, row: &NewRow) -> bool {
        let was_there = self.known.rows.get(row.number.as_str()) == Some(&true);
        !was_there && plans.row(&row.number).is_none()
    }

    /// The file with a marker, if the cell is as it was or as we wrote it.
    fn marked(
        &self,
        plans: Plans,
        began: &Plans,
        number: &Number,
        want: &Status,
        next: &mut Ledger,
        said: &mut Vec<String>,
    ) -> Plans {
        let Some(row) = plans.row(number) else {
            // Of a fix that nobody has approved there never was one.
            if began.row(number).is_some() {
                said.push(format!(
                    "task {number} was taken out of {} meanwhile: it is not brought back",
                    self.path
                ));
            }
            return plans;
        };
        let is = row.status.to_string();
        if row.status == *want {
            return plans;
        }
        let before = began.row(number).map_or(Status::Todo, |row| row.status.clone()).to_string();
        let ours = match self.known.marks.get(number.as_str()) {
            Some(written) => written.contains(&is),
            None => is == before,
        };
        if !ours {
            said.push(format!(
                "Status of task {number} was changed to {is:?} in {} meanwhile: it stays so, and does not become {:?}",
                self.path,
                want.to_string()
            ));
            return plans;
        }
        match plans.with_status(number, want) {
            Some(marked) => {
                next.marks.insert(number.to_string(), vec![want.to_string(), is]);
                marked
            }
            None => {
                said.push(format!(
                    "task {number} cannot be marked {want} in {}: its row cannot be told from another",
                    self.path
                ));
                plans
            }
        }
    }

    fn remember(&mut self, known: Ledger) -> Result<(), Trouble> {
        if self.known == known {
            return Ok(());
        }
        let text = serde_json::to_string(&known).unwrap_or_default();
        let new = self.ledger.with_extension("new");
        let written = fs::write(&new, text).and_then(|()| fs::rename(&new, &self.ledger));
        written.map_err(|error| Trouble::io("write", &self.ledger, &error))?;
        self.known = known;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BEGAN: &str = "# Plans\n\n| Task | Content | DoD | Depends | Status |\n|---|---|---|---|---|\n\
                         | 1 | One | it is | - | cc:TODO |\n| 2 | Two | it is | 1 | cc:TODO (Ada) |\n";

    struct Rig {
        top: tempfile::TempDir,
        state: tempfile::TempDir,
        began: Plans,
    }

    impl Rig {
        fn new() -> Self {
            let rig = Rig {
                top: tempfile::tempdir().unwrap(),
                state: tempfile::tempdir().unwrap(),
                began: Plans::read(BEGAN),
            };
            rig.write(BEGAN);
            rig
        }

        fn cells(&self) -> Cells {
            Cells::of(Files::of(self.top.path()), "Plans.md", self.state.path(), "work-1")
        }

        fn write(&self, text: &str) {
            fs::write(self.top.path().join("Plans.md"), text).unwrap();
        }

        fn read(&self) -> String {
            fs::read_to_string(self.top.path().join("Plans.md")).unwrap()
        }

        fn put(&self, marks: &[(&str, Status)], rows: &[NewRow]) -> Vec<String> {
            let number = |text: &str| Number::of(text).unwrap();
            let marks = marks.iter().map(|(at, mark)| (number(at), mark.clone())).collect();
            self.cells().put(&self.began, &marks, rows).unwrap()
        }
    }

    fn done() -> Status {
        Status::done(Some("a1b2c3d4e5f6"))
    }

    #[test]
    fn a_marker_is_all_that_changes_and_whoever_comes_next_knows_it_for_ours() {
        let rig = Rig::new();
        assert_eq!(rig.put(&[("2", Status::Wip)], &[]), [""; 0]);
        assert_eq!(rig.read(), BEGAN.replace("cc:TODO (Ada)", "cc:WIP (Ada)"));
        assert_eq!(rig.put(&[("2", done())], &[]), [""; 0]);
        assert_eq!(rig.read(), BEGAN.replace("cc:TODO (Ada)", "cc:Done [a1b2c3d] (Ada)"));
        // Nothing to do is nothing written.
        let before = fs::metadata(rig.top.path().join("Plans.md")).unwrap().modified().unwrap();
        assert_eq!(rig.put(&[("2", done())], &[]), [""; 0]);
        let after = fs::metadata(rig.top.path().join("Plans.md")).unwrap().modified().unwrap();
        assert_eq!(before, after);
    }

    #[test]
    fn what_a_person_has_made_of_a_cell_stays_and_is_said_once() {
        let rig = Rig::new();
        rig.put(&[("1", Status::Wip)], &[]);
        rig.write(
            &rig.read().replace("cc:WIP", "cc:blocked by Ada").replace("Two", "Two, and a half"),
        );
        let mut cells = rig.cells();
        let marks = [(Number::of("1").unwrap(), done())].into();
        let said = cells.put(&rig.began, &marks, &[]).unwrap();
        assert!(
            said[0].starts_with("Status of task 1 was changed to \"cc:blocked by Ada\""),
            "{said:?}"
        );
        assert!(rig.read().contains("| cc:blocked by Ada |") && rig.read().contains("and a half"));
        assert_eq!(cells.put(&rig.began, &marks, &[]).unwrap(), [""; 0]);
        // Set back to where it began, it is not ours either: we had written something else by then.
        rig.write(BEGAN);
        assert_eq!(rig.put(&[("1", done())], &[]).len(), 1);
        assert_eq!(rig.read(), BEGAN);
        rig.write(&BEGAN.replace("| 1 | One | it is | - | cc:TODO |\n", ""));
        assert!(rig.put(&[("1", done())], &[])[0].contains("is not brought back"));
    }

    #[test]
    fn cut_off_on_either_side_of_the_write_nothing_is_lost() {
        let rig = Rig::new();
        rig.put(&[("1", Status::Wip)], &[]);
        let wip = rig.read();
        // Remembered, and not written.
        rig.put(&[("1", done())], &[]);
        rig.write(&wip);
        let mut cells = rig.cells();
        cells.known.marks.insert("1".to_owned(), vec![done().to_string(), "cc:WIP".to_owned()]);
        let marks = [(Number::of("1").unwrap(), done())].into();
        assert_eq!(cells.put(&rig.began, &marks, &[]).unwrap(), [""; 0]);
        assert!(rig.read().contains("cc:Done [a1b2c3d]"));
    }

    #[test]
    fn a_new_row_comes_once_and_stays_away_when_somebody_takes_it_out() {
        let rig = Rig::new();
        let row = NewRow {
            number: Number::of("1.fix").unwrap(),
            content: "fix: One - timeout".into(),
            dod: "Tests/CI pass".into(),
            depends: vec![Number::of("1").unwrap()],
            status: Status::Todo,
            beside: Number::of("1"),
        };
        let rows = [row];
        rig.put(&[], &rows);
        let with = format!("{BEGAN}| 1.fix | fix: One - timeout | Tests/CI pass | 1 | cc:TODO |\n");
        assert_eq!(rig.read(), with);
        rig.put(&[("1.fix", Status::Wip)], &rows);
        assert_eq!(
            rig.read(),
            with.replace("| 1 | cc:TODO |\n", "| 1 | cc:WIP |\n").replacen(
                "| it is | 1 | cc:WIP",
                "| it is | 1 | cc:TODO",
                1
            )
        );
        rig.write(BEGAN);
        rig.put(&[], &rows);
        assert_eq!(rig.read(), BEGAN);
        // Remembered, and never written: then it comes.
        let mut cells = rig.cells();
        cells.known.rows.insert("1.fix".to_owned(), false);
        cells.put(&rig.began, &BTreeMap::new(), &rows).unwrap();
        assert_eq!(rig.read(), with);
    }

    #[test]
    fn a_file_is_made_once_and_stays_away_when_somebody_puts_it_away() {
        let rig = Rig::new();
        let path = rig.top.path().join("Plans.md");
        fs::remove_file(&path).unwrap();
        assert_eq!(rig.put(&[("1", Status::Wip)], &[]), [""; 0], "it never was there");
        rig.cells().make(BEGAN).unwrap();
        assert_eq!(rig.read(), BEGAN);
        rig.put(&[("1", Status::Wip)], &[]);
        fs::remove_file(&path).unwrap();
        let mut cells = rig.cells();
        cells.make(BEGAN).unwrap();
        let marks = [(Number::of("1").unwrap(), done())].into();
        let said = cells.put(&rig.began, &marks, &[]).unwrap();
        assert!(said[0].starts_with("Plans.md is not there any more"), "{said:?}");
        assert_eq!(cells.put(&rig.began, &marks, &[]).unwrap(), [""; 0], "it is said once");
        assert!(!path.exists());
        // A person's own is not made, and is none of ours when it has gone.
        let rig = Rig::new();
        rig.cells().make("").unwrap();
        assert_eq!(rig.read(), BEGAN);
    }

    fn any_status() -> impl Strategy<Value = Status> {
        prop_oneof![
            Just(Status::Todo),
            Just(Status::Wip),
            Just(Status::done(None)),
            Just(Status::done(Some("0123456789"))),
        ]
    }

    proptest! {
        #[test]
        fn whatever_both_want_theirs_wins_and_what_only_we_want_is_there(
            cells in prop::collection::vec((any_status(), "( \\([a-z]{1,4}\\))?[ ]{0,2}"), 1..5),
            steps in prop::collection::vec(
                (any::<bool>(), any::<prop::sample::Index>(), any_status()), 0..8
            ),
        ) {
            let head = BEGAN.split("| 1 |").next().unwrap();
            let rows = cells.iter().enumerate();
            let rows = rows.map(|(at, (status, more))| format!("| {at} | x | y | - | {status}{more}|\n"));
            let began = Plans::read(format!("{head}{}", rows.collect::<String>()));
            prop_assert_eq!(began.rows().len(), cells.len());
            let number = |at: usize| Number::of(&at.to_string()).unwrap();
            let state = tempfile::tempdir().unwrap();
            let mut ours = Cells::of(Files::of(state.path()), "Plans.md", state.path(), "work-1");
            // What a row said when it was last as we know it.
            let mut known: Vec<Status> = began.rows().iter().map(|row| row.status.clone()).collect();
            let mut plans = began.clone();
            for (theirs, at, want) in steps {
                let at = at.index(cells.len());
                let is = plans.rows()[at].status.clone();
                let text = plans.text().to_owned();
                if theirs {
                    plans = plans.with_status(&number(at), &want).unwrap();
                    prop_assert_eq!(&plans.rows()[at].status, &want);
                } else {
                    let (mut said, mut next) = (Vec::new(), ours.known.clone());
                    plans = ours.marked(plans, &began, &number(at), &want, &mut next, &mut said);
                    ours.known = next;
                    // As after a write that has come to its end.
                    ours.known.marks.values_mut().for_each(|kept| kept.truncate(1));
                    let is_theirs = is != want && is != known[at];
                    if is != want && !is_theirs {
                        known[at] = want.clone();
                    }
                    prop_assert_eq!(&plans.rows()[at].status, if is_theirs { &is } else { &want });
                    prop_assert_eq!(!said.is_empty(), is_theirs, "{:?}", said);
                }
                // Nothing but this row's marker is another.
                let back = plans.with_status(&number(at), &is).unwrap();
                prop_assert_eq!(back.text(), text);
            }
        }
    }
}
