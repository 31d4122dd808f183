//! Where the simulator's choices come from: a seed, or a tape of choices made before.
//!
//! Every choice is a number below some bound, and zero is always the most ordinary one. A run is
//! therefore determined by its tape, and a failing run is made smaller by making its tape shorter
//! and its numbers smaller.

/// A source of choices, which remembers what it chose.
#[derive(Clone, Debug)]
pub struct Choices {
    state: u64,
    replay: Option<Vec<u32>>,
    tape: Vec<u32>,
}

impl Choices {
    /// Choices drawn from a seed.
    pub fn from_seed(seed: u64) -> Self {
        Choices { state: seed, replay: None, tape: Vec::new() }
    }

    /// Choices made before; zeroes once they run out.
    pub fn from_tape(tape: Vec<u32>) -> Self {
        Choices { state: 0, replay: Some(tape), tape: Vec::new() }
    }

    /// What was chosen so far.
    pub fn tape(&self) -> &[u32] {
        &self.tape
    }

    /// SplitMix64: small, fast, and the same everywhere.
    fn draw(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `bound` (0 when there is nothing to choose from).
    pub fn below(&mut self, bound: usize) -> usize {
        let bound = u32::try_from(bound).unwrap_or(u32::MAX).max(1);
        let chosen = match &self.replay {
            Some(replay) => replay.get(self.tape.len()).copied().unwrap_or(0).min(bound - 1),
            None => u32::try_from(self.draw() % u64::from(bound)).unwrap_or(0),
        };
        self.tape.push(chosen);
        chosen as usize
    }

    /// True in `parts` of 100 cases; false is the ordinary one.
    pub fn percent(&mut self, parts: usize) -> bool {
        let drawn = self.below(100);
        drawn >= 100 - parts.min(100)
    }

    /// One of these; the first is the ordinary one.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        let at = self.below(from.len());
        from.get(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_chooses_the_same_and_the_tape_repeats_it() {
        let draw = |mut choices: Choices| -> (Vec<usize>, Vec<u32>) {
            let drawn = (1..200).map(|bound| choices.below(bound)).collect();
            (drawn, choices.tape().to_vec())
        };
        let (first, tape) = draw(Choices::from_seed(7));
        assert_eq!(draw(Choices::from_seed(7)).0, first);
        assert_ne!(draw(Choices::from_seed(8)).0, first);
        assert_eq!(draw(Choices::from_tape(tape)).0, first);
    }

    #[test]
    fn a_tape_that_runs_out_chooses_the_ordinary() {
        let mut choices = Choices::from_tape(vec![5]);
        assert_eq!((choices.below(3), choices.below(9)), (2, 0));
        assert!(!choices.percent(99));
        assert_eq!(choices.pick(&['a', 'b']), Some(&'a'));
    }

    #[test]
    fn percentages_are_about_right() {
        let mut choices = Choices::from_seed(1);
        let hits = (0..10_000).filter(|_| choices.percent(20)).count();
        assert!((1_800..2_200).contains(&hits), "{hits}");
    }
}
