//! Sequences: numbers that no rollback gives back.
//!
//! PostgreSQL logs 32 numbers ahead (`SEQ_LOG_VALS`), so that a crash skips those that were not given out.
//!
//! Source: PostgreSQL 15, `commands/sequence.c`.

use std::collections::BTreeMap;

use crate::protocol::SqlError;

/// How many numbers are logged at once beside the one that is given out.
const AHEAD: i64 = 32;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sequence {
    pub(crate) start: i64,
    pub(crate) increment: i64,
    /// The number that was given out last; none before the first.
    pub(crate) last: Option<i64>,
    /// True if it begins anew, with 1, after its last number.
    pub(crate) cycles: bool,
    /// How many numbers may be given out before the log is written again.
    ahead: i64,
}

impl Sequence {
    pub(crate) fn new(start: i64, increment: i64, last: Option<i64>) -> Sequence {
        Sequence { start, increment, last, cycles: false, ahead: 0 }
    }

    pub(crate) fn cycling(self, cycles: bool) -> Sequence {
        Sequence { cycles, ..self }
    }
}

#[derive(Default)]
pub(crate) struct Sequences(BTreeMap<String, Sequence>);

impl Sequences {
    pub(crate) fn get(&self, name: &str) -> Option<&Sequence> {
        self.0.get(name)
    }

    pub(crate) fn create(&mut self, name: String, sequence: Sequence) {
        self.0.insert(name, sequence);
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = (&String, &Sequence)> {
        self.0.iter()
    }

    /// The next number, and the sequence as it is logged if it has to be.
    pub(crate) fn next(&mut self, name: &str) -> Result<(i64, Option<Sequence>), SqlError> {
        let missing = || SqlError::new("42P01", format!("relation \"{name}\" does not exist"));
        let sequence = self.0.get_mut(name).ok_or_else(missing)?;
        let next = match sequence.last {
            Some(last) => last.checked_add(sequence.increment).or(sequence.cycles.then_some(1)),
            None => Some(sequence.start),
        };
        let next = next.ok_or_else(|| {
            SqlError::new(
                "2200H",
                format!("nextval: reached maximum value of sequence \"{name}\" ({})", i64::MAX),
            )
        })?;
        sequence.last = Some(next);
        if sequence.ahead > 0 {
            sequence.ahead -= 1;
            return Ok((next, None));
        }
        sequence.ahead = AHEAD;
        let logged = next.saturating_add(AHEAD.saturating_mul(sequence.increment));
        Ok((
            next,
            Some(Sequence::new(sequence.start, sequence.increment, Some(logged)).cycling(sequence.cycles)),
        ))
    }
}
