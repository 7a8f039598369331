//! The names of the folders of runs: when a run was begun, in UTC, and by which command. They sort by time.

use std::fmt;

/// Which command a run is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Compare,
    Merge,
    Run,
    Shard,
}

impl Kind {
    const ALL: [Kind; 4] = [Kind::Compare, Kind::Merge, Kind::Run, Kind::Shard];

    pub(super) fn word(self) -> &'static str {
        match self {
            Kind::Compare => "compare",
            Kind::Merge => "merge",
            Kind::Run => "run",
            Kind::Shard => "shard",
        }
    }
}

/// The name of a folder, as in `2026-11-22T223000Z-run`, or `-run-2` if it is the second of that second.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Name {
    /// As in `2026-11-22T223000Z`: a colon is not for file names everywhere.
    at: String,
    /// Which of those of the same second it is, from 1.
    nth: u32,
    pub(super) kind: Kind,
}

impl Name {
    /// The name of a command at this time.
    pub(super) fn now(kind: Kind) -> Name {
        Name { at: now().replace(':', ""), nth: 1, kind }
    }

    /// The same after this one, if both are of the same time.
    pub(super) fn after(self, other: &Name) -> Name {
        if self.at == other.at { Name { nth: self.nth.max(other.nth + 1), ..self } } else { self }
    }

    /// The name that is spelled so; `None` if it is another thing's.
    pub(super) fn parse(text: &str) -> Option<Name> {
        const SHAPE: &[u8] = b"0000-00-00T000000Z-";
        let (at, rest) = text.split_at_checked(SHAPE.len())?;
        let fits =
            |(byte, shape): (u8, &u8)| if *shape == b'0' { byte.is_ascii_digit() } else { byte == *shape };
        if !at.bytes().zip(SHAPE).all(fits) {
            return None;
        }
        let (word, nth) = match rest.split_once('-') {
            None => (rest, 1),
            Some((word, nth)) => (word, nth.parse().ok().filter(|nth| *nth > 1)?),
        };
        let kind = Kind::ALL.into_iter().find(|kind| kind.word() == word)?;
        let name = Name { at: at.trim_end_matches('-').to_owned(), nth, kind };
        // One name has one spelling.
        (name.to_string() == text).then_some(name)
    }

    /// When it was begun, for people.
    pub(super) fn at(&self) -> String {
        let (date, time) = self.at.trim_end_matches('Z').split_once('T').unwrap_or((&self.at, ""));
        let pairs: Vec<&str> =
            (0..time.len()).step_by(2).filter_map(|from| time.get(from..from + 2)).collect();
        format!("{date} {}", pairs.join(":"))
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.at, self.kind.word())?;
        if self.nth > 1 { write!(f, "-{}", self.nth) } else { Ok(()) }
    }
}

/// The time of day, as in `2026-11-22T22:30:00Z`.
#[expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "it names folders; no run reads it")]
fn now() -> String {
    humantime::format_rfc3339_seconds(std::time::SystemTime::now()).to_string()
}

/// The time of day, for people.
pub(super) fn now_in_words() -> String {
    now().replace('T', " ").trim_end_matches('Z').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_as_it_is_written_and_sorts_by_time() {
        let names = [
            "2026-11-22T223000Z-merge",
            "2026-11-22T223000Z-run",
            "2026-11-22T223000Z-run-2",
            "2026-11-22T223000Z-run-10",
            "2026-11-22T223001Z-compare",
        ];
        let read: Vec<Name> = names.iter().map(|name| Name::parse(name).unwrap()).collect();
        assert!(read.is_sorted());
        assert_eq!(read.iter().map(Name::to_string).collect::<Vec<_>>(), names);
        assert_eq!(read[2].at(), "2026-11-22 22:30:00");
        let now = Name::now(Kind::Shard);
        assert_eq!(Name::parse(&now.to_string()), Some(now.clone()));
        assert_eq!(now.clone().after(&now).to_string(), format!("{now}-2"));
        for other in [
            "",
            "latest",
            "2026-11-22T223000Z",
            "2026-11-22T223000Z-",
            "2026-11-22T223000Z-walk",
            "2026-11-22T223000Z-run-1",
            "2026-11-22T223000Z-run-02",
            "2026-11-22T223000Z-run-x",
            "2026-11-22T22300éZ-run",
            "2026-11-22T223000Z-run/..",
        ] {
            assert_eq!(Name::parse(other), None, "{other}");
        }
    }
}
