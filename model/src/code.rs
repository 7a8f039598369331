//! Where a program is in its source while it does what a trace records.
//!
//! It belongs to no trace: it says where, and not what happened, and is read only for runs that are shown.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::ids::EventId;

/// One frame of the stack of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The function, as its language spells it.
    pub function: String,
    /// The path of the source file.
    pub file: String,
    /// The line in this file, from 1.
    pub line: u32,
    /// The text of the line without its indentation, if it is known.
    pub text: Option<String>,
    /// True if the file belongs to a library or to the language itself.
    pub library: bool,
}

impl Frame {
    /// True if this is the same line of the same file.
    #[must_use]
    pub fn is_at(&self, other: &Frame) -> bool {
        (&self.file, self.line) == (&other.file, other.line)
    }
}

/// A stack, innermost frame first.
pub type Stack = Arc<[Frame]>;

/// Where a program is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The stack of the thread that does it.
    pub stack: Stack,
    /// The stack of what the program did before from another place.
    pub before: Option<Stack>,
    /// The stack of the next thing that it did from another line of its own.
    pub after: Option<Stack>,
}

/// Where programs were, by the event that records what they did there.
pub type Locations = BTreeMap<EventId, Location>;

/// The frames that are no library's, innermost first.
pub fn own(stack: &[Frame]) -> impl DoubleEndedIterator<Item = &Frame> {
    stack.iter().filter(|frame| !frame.library)
}

/// The outermost difference of two stacks, if both are in one function there.
fn moved<'a>(from: &'a [Frame], to: &'a [Frame]) -> Option<(&'a Frame, &'a Frame)> {
    let (from, to) = from.iter().rev().zip(to.iter().rev()).find(|(from, to)| from != to)?;
    ((&from.file, &from.function) == (&to.file, &to.function)).then_some((from, to))
}

impl Location {
    /// The two lines of one function between which the program is: where it was before, and where it is.
    #[must_use]
    pub fn step(&self) -> Option<(&Frame, &Frame)> {
        moved(self.before.as_ref()?, &self.stack)
    }

    /// The two lines of one function between which it goes on: where it is, and where it is next.
    #[must_use]
    pub fn next(&self) -> Option<(&Frame, &Frame)> {
        moved(&self.stack, self.after.as_ref()?)
    }

    /// True for a line from which everything of the user's is called: the loop of a program.
    #[must_use]
    pub fn is_outermost(&self, frame: &Frame) -> bool {
        own(&self.stack).next_back().is_some_and(|last| last.is_at(frame))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stack(lines: &[(&str, &str, u32)]) -> Stack {
        let frame = |(file, function, line): &(&str, &str, u32)| Frame {
            function: (*function).to_owned(),
            file: (*file).to_owned(),
            line: *line,
            text: None,
            library: file.contains("site-packages"),
        };
        lines.iter().map(frame).collect()
    }

    #[test]
    fn a_step_is_the_outermost_difference_in_one_function() {
        let redis = "site-packages/redis/client.py";
        let before = stack(&[(redis, "get", 90), ("lock.py", "release", 41), ("lock.py", "main", 9)]);
        let now = stack(&[(redis, "delete", 70), ("lock.py", "release", 42), ("lock.py", "main", 9)]);
        let location = Location { stack: now.clone(), before: Some(before.clone()), after: None };
        assert_eq!(own(&location.stack).map(|frame| frame.line).collect::<Vec<_>>(), [42, 9]);
        assert!(location.is_outermost(&now[2]) && !location.is_outermost(&now[1]));
        assert_eq!(location.step().map(|(last, now)| (last.line, now.line)), Some((41, 42)));
        let elsewhere = stack(&[("lock.py", "acquire", 30), ("lock.py", "main", 9)]);
        let location = Location { stack: before, before: Some(elsewhere), after: Some(now) };
        assert_eq!(location.step(), None, "another function");
        assert_eq!(location.next().map(|(now, next)| (now.line, next.line)), Some((41, 42)));
    }
}
