//! Where a program was in its source, in words.

use std::collections::BTreeMap;

use picklock_campaign::story::Story;
use picklock_model::code::{Frame, Location, own};
use picklock_model::ids::EventId;
use picklock_model::trace::{Event, Role, What};

/// So much of a line of source is shown.
const LONGEST: usize = 60;

/// Where programs were, by event: for faults, what hit them there, and for changes of a record, who asked for them.
pub(crate) struct Places<'a> {
    story: &'a Story,
    /// The events behind others, where one of them has a place.
    events: BTreeMap<EventId, &'a Event>,
}

impl<'a> Places<'a> {
    pub(crate) fn of(story: &'a Story) -> Places<'a> {
        let events = match story.code.is_empty() {
            true => BTreeMap::new(),
            false => story.trace.events.iter().map(|event| (event.id, event)).collect(),
        };
        Places { story, events }
    }

    /// ", between lock.py:41 `if r.get(k) == me` and lock.py:42 `r.delete(k)`"; empty if it is not known.
    pub(crate) fn say(&self, event: &Event) -> String {
        let place = match event.what {
            What::Injected { .. } => self.story.code.get(&event.id).and_then(between),
            What::Created { .. } | What::Extended { .. } | What::Deleted { .. } => {
                self.sender(event).and_then(at).map(|place| format!("at {place}"))
            }
            _ => None,
        };
        place.map(|place| format!(", {place}")).unwrap_or_default()
    }

    /// Where the program was that asked for what a store did; none if the line of its request is not known.
    fn sender(&self, event: &Event) -> Option<&'a Location> {
        let mut cause = event.cause;
        while let Some(id) = cause {
            let event = self.events.get(&id)?;
            if self.story.trace.role(event.host) == Some(Role::Client) {
                return self.story.code.get(&id);
            }
            cause = event.cause;
        }
        None
    }
}

/// From where a program sent: the user's innermost line, and the line that called it.
fn at(location: &Location) -> Option<String> {
    let mut lines = own(&location.stack);
    let innermost = lines.next()?;
    let caller = lines.next().filter(|caller| !location.is_outermost(caller));
    let from = caller.map(|caller| format!(" from {}", line(caller))).unwrap_or_default();
    Some(format!("{}{from}", line(innermost)))
}

/// Between which lines a program was; or in which one, and before which it went on.
pub(crate) fn between(location: &Location) -> Option<String> {
    let inner = |frame: &Frame| !frame.library && !location.is_outermost(frame);
    let step = location.step().filter(|(_, now)| inner(now));
    let next = location.next().filter(|(now, _)| inner(now));
    let place = match step {
        Some((last, now)) => format!("between {} and {}", line(last), line(now)),
        None => format!("in {}", at(location)?),
    };
    Some(match (next, location.step()) {
        // What is said already is not said again.
        (Some((now, next)), _) if step.is_some_and(|(_, here)| !here.is_at(now)) => {
            format!("{place}, in {}, before {}", line(now), line(next))
        }
        (Some((_, next)), _) if step.is_none() => format!("{place}, before {}", line(next)),
        (None, Some((last, now))) if now.library => {
            format!("{place}, between {} and {}", line(last), line(now))
        }
        _ => place,
    })
}

/// "lock.py:41 `if r.get(k) == me`"; of a library with the folder of the file; the function where the text is not known.
pub(crate) fn line(frame: &Frame) -> String {
    let mut parts = frame.file.rsplit('/');
    let name = parts.next().unwrap_or_default();
    let folder = parts.next().filter(|folder| frame.library && !folder.is_empty());
    let folder = folder.map(|folder| format!("{folder}/")).unwrap_or_default();
    let what = match &frame.text {
        Some(text) if text.chars().count() > LONGEST => {
            format!("`{}..`", text.chars().take(LONGEST).collect::<String>())
        }
        Some(text) => format!("`{text}`"),
        None => format!("in {}", frame.function),
    };
    format!("{folder}{name}:{} {what}", frame.line)
}
