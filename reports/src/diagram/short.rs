//! The labels of the steps of a diagram: a few words, since the whole text stands below it.

use picklock_model::trace::{Disconnect, Event, Halt, What};

use crate::page::layout::{cut, printable, width};
use crate::page::numbers::span;
use crate::story::paragraph::differs;
use crate::story::words::Names;

/// A label takes so many columns at most.
const COLUMNS: usize = 25;

/// The kinds of steps; each has a sign of its own, so that colours are not needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A grant begins.
    Grant,
    /// It ends by the holder's own doing.
    End,
    /// It ends otherwise.
    Loss,
    /// An injection, and the effects of a fault.
    Fault,
    /// The guarded data is changed.
    Change,
    /// Somebody asks a store.
    Request,
    /// Anything else.
    Other,
}

impl Kind {
    pub(crate) fn of(what: &What) -> Kind {
        match what {
            What::Acquired { .. } | What::Reentered { .. } => Kind::Grant,
            What::Releasing { .. } | What::Released { .. } | What::Left { .. } | What::Deleted { .. } => {
                Kind::End
            }
            What::Expired { .. }
            | What::Lost { .. }
            | What::LeaseLost { .. }
            | What::DeadlinePassed { .. }
            | What::Aborted { .. }
            | What::RenewalDenied { .. }
            | What::ResourceRestored { .. }
            | What::ResourceRefused { .. } => Kind::Loss,
            What::Injected { .. }
            | What::TookEffect { .. }
            | What::Paused { .. }
            | What::Crashed { .. }
            | What::ClockStepped { .. }
            | What::DriftSet { .. }
            | What::ConnectionsForgotten { .. }
            | What::Disconnected { .. }
            | What::BecameLeader
            | What::StoppedLeading => Kind::Fault,
            What::ResourceWritten { .. } | What::ResourceTaken { taken: true, .. } => Kind::Change,
            _ => Kind::Other,
        }
    }

    /// Its class in a drawing.
    pub(crate) fn class(self) -> &'static str {
        match self {
            Kind::Grant => "g",
            Kind::End => "e",
            Kind::Loss => "l",
            Kind::Fault => "f",
            Kind::Change => "w",
            Kind::Request => "q",
            Kind::Other => "o",
        }
    }
}

/// A request without the words that only a machine reads.
pub(crate) fn asked(asked: &str) -> String {
    let words: Vec<&str> = asked.split(' ').filter(|word| !word.ends_with("..")).collect();
    fitting(&words.join(" "))
}

/// A label of a step that was repeated, with how often.
pub(crate) fn often(label: String, times: usize) -> String {
    if times < 2 {
        return label;
    }
    let count = format!(" ×{times}");
    let room = COLUMNS - width(&count);
    let label = if width(&label) <= room {
        label
    } else {
        format!("{}…", cut(&label, room - 1).trim_end_matches('…'))
    };
    format!("{label}{count}")
}

/// The label of an event.
pub(crate) fn label(names: &Names<'_>, event: &Event) -> String {
    let whose = event.grant.map(|grant| format!(" · {}", names.grant(grant))).unwrap_or_default();
    let text = match &event.what {
        What::Waiting { .. } => "asks".to_owned(),
        What::Acquired { token: Some(token), .. } => format!("holds, token {token}"),
        What::Acquired { .. } => "holds".to_owned(),
        What::NotAcquired { .. } => "gives up".to_owned(),
        What::DeadlinePassed { .. } => "its deadline passes".to_owned(),
        What::Aborted { .. } => "notices, and stops".to_owned(),
        What::Releasing { .. } => "releases".to_owned(),
        What::Released { error: None, .. } => "has released".to_owned(),
        What::Released { error: Some(_), .. } => "its release fails".to_owned(),
        What::RenewalDenied { .. } => "is denied renewal".to_owned(),
        What::Renewed { .. } => "has renewed".to_owned(),
        What::Reentered { depth, .. } => format!("holds {depth} times"),
        What::Finished => "has finished".to_owned(),
        What::Paused { kind, until } => {
            let halt = match kind {
                Halt::Pause => "pauses",
                Halt::Suspend => "is suspended",
                Halt::Stall => "stalls",
            };
            format!("{halt} for {}", span(until.since(event.at)))
        }
        What::Resumed => "runs again".to_owned(),
        What::Crashed { power_loss: false } => "crashes".to_owned(),
        What::Crashed { power_loss: true } => "loses power".to_owned(),
        What::Restarted => "starts anew".to_owned(),
        What::Delivered { peer, .. } => format!("hears late of {}", names.host(*peer)),
        What::Disconnected { why, .. } => match why {
            Disconnect::Closed => "connection closed".to_owned(),
            Disconnect::Reset => "connection reset".to_owned(),
            Disconnect::Refused => "connection refused".to_owned(),
            Disconnect::TimedOut => "connection timed out".to_owned(),
        },
        What::Created { .. } if names.is_next_in_queue(event) => format!("granted{whose}"),
        What::Created { .. } => format!("record{whose}"),
        What::Extended { .. } => format!("extended{whose}"),
        What::Deleted { .. } => format!("deleted{whose}"),
        What::Expired { .. } if names.revoked_by(event).is_some() => "the lease is revoked".to_owned(),
        What::Expired { .. } if !names.vocabulary(event.host).drops => "the lease is over".to_owned(),
        What::Expired { .. } if differs(names.ran_out(event), event.at) => {
            "drops an expired record".to_owned()
        }
        What::Expired { .. } => "the lease runs out".to_owned(),
        What::Lost { .. } => "record lost".to_owned(),
        What::LeaseLost { .. } => "its lease is lost".to_owned(),
        What::BecameLeader => format!("is the {} now", names.vocabulary(event.host).leader),
        What::StoppedLeading => format!("is a {} now", names.vocabulary(event.host).follower),
        What::NotModelled { name } => format!("lacks {name}"),
        What::Noticed { text } => text.split(' ').next().unwrap_or_default().to_owned(),
        What::ResourceRead { value, .. } => format!("reads {value}{whose}"),
        What::ResourceWritten { value, .. } => format!("writes {value}{whose}"),
        What::ResourceRestored { value, .. } => format!("has {value} only"),
        What::ResourceTaken { amount, taken: true, .. } => format!("takes {amount}{whose}"),
        What::ResourceTaken { taken: false, .. } => format!("too few left{whose}"),
        What::ResourceRefused { token, highest, .. } => format!("refuses {token} < {highest}{whose}"),
        What::WriteAcknowledged { .. } => "change applied".to_owned(),
        What::WriteUnknown { .. } => "change: never known".to_owned(),
        What::WriteRefused { .. } => "change refused".to_owned(),
        What::Injected { injection, .. } => format!("fault: {}", names.fault(*injection)),
        What::TookEffect { .. } => "makes a difference".to_owned(),
        What::Healed { injection } if names.outlasts(event) => format!("{} goes on", names.fault(*injection)),
        What::Healed { injection } => format!("{} is over", names.fault(*injection)),
        _ => names.say(event),
    };
    fitting(&text)
}

/// "+2.00s": by how much a clock is off.
pub(crate) fn offset(ns: i64) -> String {
    let sign = if ns < 0 { '−' } else { '+' };
    format!("{sign}{}", span(std::time::Duration::from_nanos(ns.unsigned_abs())))
}

fn fitting(text: &str) -> String {
    let text = printable(text);
    if width(&text) <= COLUMNS {
        text.into_owned()
    } else {
        format!("{}…", cut(&text, COLUMNS - 1).trim_end())
    }
}
