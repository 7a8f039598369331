//! The words between a client and the renewal service: a line each.
//!
//! A heartbeat is a `hold` for every grant that the client holds, so that a service that was started anew knows all of them with the
//! next one. A `free` ends the renewal of a grant. Nothing is answered: a client learns nothing of its leases.

use std::time::Duration;

use picklock_model::ids::Key;

/// A grant that a client holds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Held {
    /// The value of its record.
    pub(crate) owner: String,
    /// Its key.
    pub(crate) key: Key,
}

/// A line to the service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A client holds a grant with such a lease.
    Hold(Held, Duration),
    /// It does no longer.
    Free(Held),
}

/// The line that says that a grant is held.
pub(crate) fn hold(held: &Held, ttl: Duration) -> String {
    format!("hold {} {} {}\n", ttl.as_nanos(), held.owner, held.key)
}

/// The line that says that a grant is held no longer.
pub(crate) fn free(held: &Held) -> String {
    format!("free {} {}\n", held.owner, held.key)
}

/// Reads a line, without its end. `None` for any other text.
pub(super) fn read(line: &str) -> Option<Line> {
    let held = |text: &str| {
        let (owner, key) = text.split_once(' ')?;
        Some(Held { owner: owner.to_owned(), key: Key::new(key) })
    };
    match line.split_once(' ')? {
        ("hold", rest) => {
            let (ttl, rest) = rest.split_once(' ')?;
            Some(Line::Hold(held(rest)?, Duration::from_nanos(ttl.parse().ok()?)))
        }
        ("free", rest) => held(rest).map(Line::Free),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_reads_as_it_is_written_and_no_other_does() {
        let held = Held { owner: "a1b2".to_owned(), key: Key::new("lock:1 of all") };
        let ttl = Duration::from_millis(1_500);
        let line = |text: String| read(text.strip_suffix('\n').unwrap());
        assert_eq!(line(hold(&held, ttl)), Some(Line::Hold(held.clone(), ttl)));
        assert_eq!(line(free(&held)), Some(Line::Free(held)));
        for other in ["", "hold", "hold 1 a", "hold x a b", "free a", "keep a b"] {
            assert_eq!(read(other), None, "{other}");
        }
    }
}
