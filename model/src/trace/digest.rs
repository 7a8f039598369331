//! The digest of a trace, taken over its events in the order of their emission: two runs with the same digest did the
//! same things at the same true times for the same reasons, and sent each other the same bytes.
//!
//! A digest covers data and no sentence: of a fault action its numbers and hosts, of the reason of a refusal, of an error, of an
//! announcement and of the name of a request that is not modelled only that there is one. A better sentence changes no digest.

use std::fmt;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use super::event::Event;

/// A 128-bit digest (XXH3) of a trace, printed as 32 hexadecimal digits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub u128);

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl Serialize for Digest {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Digest, D::Error> {
        let text = String::deserialize(from)?;
        u128::from_str_radix(&text, 16)
            .map(Digest)
            .map_err(|_| serde::de::Error::custom(format!("`{text}` is not a digest of hexadecimal digits")))
    }
}

/// Takes the digest of events as they are emitted.
#[derive(Default)]
pub struct DigestTaker {
    state: Xxh3,
    /// The encodings of the events that are not hashed yet: hashing much at once is cheaper.
    block: Vec<u8>,
}

/// From how many bytes on a block is hashed.
const BLOCK: usize = 4 * 1024;

impl DigestTaker {
    /// Adds the next event.
    pub fn take(&mut self, event: &Event) {
        encode::event(&mut self.block, event);
        if self.block.len() >= BLOCK {
            self.state.update(&self.block);
            self.block.clear();
        }
    }

    /// The digest of all events that were added.
    #[must_use]
    pub fn digest(mut self) -> Digest {
        self.state.update(&self.block);
        Digest(self.state.digest128())
    }
}

/// The byte encoding that digests are taken over: fixed-width little-endian numbers and length-prefixed texts.
/// It is part of what makes a repro file comparable years later: change it only together with the repro file's version.
mod encode {
    use std::time::Duration;

    use crate::ids::{HostId, Key, Token};
    use crate::plan::Action;
    use crate::time::nanos;
    use crate::trace::event::{Disconnect, Event, Halt, What};

    pub(super) fn event(out: &mut Vec<u8>, event: &Event) {
        // In one piece, since every event has it.
        let mut head = [0; 28];
        head[..8].copy_from_slice(&event.at.0.to_le_bytes());
        head[8..12].copy_from_slice(&u32::from(event.host.0).to_le_bytes());
        head[12..16].copy_from_slice(&event.cause.map_or(u32::MAX, |id| id.0).to_le_bytes());
        head[16..20].copy_from_slice(&event.conn.map_or(u32::MAX, |id| id.0).to_le_bytes());
        match event.grant {
            None => {
                head[20..24].copy_from_slice(&u32::MAX.to_le_bytes());
                out.extend_from_slice(&head[..24]);
            }
            Some(grant) => {
                head[20..24].copy_from_slice(&u32::from(grant.client.0).to_le_bytes());
                // Sections are far fewer than a million, and a client's first task is zero.
                head[24..].copy_from_slice(&(grant.section ^ (grant.task << 20)).to_le_bytes());
                out.extend_from_slice(&head);
            }
        }
        what(out, &event.what);
    }

    fn what(out: &mut Vec<u8>, what: &What) {
        match what {
            What::Waiting { key, shared } => {
                tagged(out, 0, key);
                if *shared {
                    out.push(1);
                }
            }
            What::Acquired { key, owner, token: with, deadline } => {
                tagged(out, 1, key);
                text(out, owner);
                token(out, *with);
                number(out, deadline.map_or(u64::MAX, |at| at.0));
            }
            What::NotAcquired { key, why: _ } => tagged(out, 2, key),
            What::DeadlinePassed { key } => tagged(out, 3, key),
            What::Aborted { key } => tagged(out, 4, key),
            What::Releasing { key } => tagged(out, 5, key),
            What::Released { key, error, denied } => {
                tagged(out, 6, key);
                out.push(u8::from(error.is_some()) + u8::from(*denied) * 2);
            }
            What::Finished => out.push(7),
            What::Paused { kind, until } => {
                out.extend([8, halt(*kind)]);
                number(out, until.0);
            }
            What::Resumed => out.push(9),
            What::Crashed { power_loss } => out.extend([10, u8::from(*power_loss)]),
            What::Restarted => out.push(11),
            What::Connecting { peer } => {
                out.push(12);
                small(out, u32::from(peer.0));
            }
            What::Sent { peer, segment, bytes, content } => {
                let mut sent = [13; 21];
                sent[1..5].copy_from_slice(&u32::from(peer.0).to_le_bytes());
                sent[5..9].copy_from_slice(&segment.to_le_bytes());
                sent[9..13].copy_from_slice(&bytes.to_le_bytes());
                sent[13..].copy_from_slice(&content.0.to_le_bytes());
                out.extend_from_slice(&sent);
            }
            What::Delivered { peer, segment } => {
                let mut delivered = [14; 9];
                delivered[1..5].copy_from_slice(&u32::from(peer.0).to_le_bytes());
                delivered[5..].copy_from_slice(&segment.to_le_bytes());
                out.extend_from_slice(&delivered);
            }
            What::Disconnected { peer, why } => {
                out.extend([15, disconnect(*why)]);
                small(out, u32::from(peer.0));
            }
            What::ClockStepped { by_ns } => {
                out.push(16);
                number(out, by_ns.cast_unsigned());
            }
            What::DriftSet { ppm } => {
                out.push(17);
                number(out, ppm.cast_unsigned());
            }
            What::Created { key } => tagged(out, 18, key),
            What::Extended { key } => tagged(out, 19, key),
            What::Deleted { key } => tagged(out, 20, key),
            What::Expired { key, overdue_ns } => {
                tagged(out, 21, key);
                number(out, *overdue_ns);
            }
            What::Lost { key } => tagged(out, 22, key),
            What::BecameLeader => out.push(23),
            What::StoppedLeading => out.push(24),
            What::ResourceRead { key, value, token: with } => {
                tagged(out, 25, key);
                number(out, value.cast_unsigned());
                token(out, *with);
            }
            What::ResourceWritten { key, value, token: with } => {
                tagged(out, 26, key);
                number(out, value.cast_unsigned());
                token(out, *with);
            }
            What::ResourceTaken { key, amount, left, taken } => {
                tagged(out, 27, key);
                number(out, amount.cast_unsigned());
                number(out, left.cast_unsigned());
                out.push(u8::from(*taken));
            }
            What::ResourceRefused { key, token: with, highest } => {
                tagged(out, 28, key);
                number(out, with.0);
                number(out, highest.0);
            }
            What::ConnectionsForgotten { peer } => {
                out.push(53);
                small(out, u32::from(peer.0));
            }
            What::ResourceRestored { key, value } => {
                tagged(out, 52, key);
                number(out, value.cast_unsigned());
            }
            What::WriteAcknowledged { key } => tagged(out, 29, key),
            What::WriteUnknown { key } => tagged(out, 30, key),
            What::WriteRefused { key } => tagged(out, 31, key),
            What::Injected { injection, applied } => {
                out.push(32);
                small(out, *injection);
                action(out, &applied.action);
                hosts(out, &applied.hosts);
                hosts(out, &applied.others);
            }
            What::TookEffect { injection } => {
                out.push(33);
                small(out, *injection);
            }
            What::Healed { injection } => {
                out.push(34);
                small(out, *injection);
            }
            What::Noticed { text: _ } => out.push(35),
            What::Renewed { key, deadline } => {
                tagged(out, 36, key);
                number(out, deadline.map_or(u64::MAX, |at| at.0));
            }
            What::Reentered { key, depth } => {
                tagged(out, 37, key);
                small(out, *depth);
            }
            What::NotReentered { key, why: _ } => tagged(out, 38, key),
            What::Shares { key } => tagged(out, 40, key),
            What::RenewalDenied { key } => tagged(out, 41, key),
            What::LeaseLost { key } => tagged(out, 50, key),
            What::NotModelled { name: _ } => out.push(51),
            What::Asked { line } => {
                out.push(42);
                text(out, line);
            }
            What::Printed { line, aside } => {
                out.extend([43, u8::from(*aside)]);
                text(out, line);
            }
            What::Left { key, depth, error } => {
                tagged(out, 39, key);
                small(out, *depth);
                out.push(u8::from(error.is_some()));
            }
        }
    }

    /// The kind of an action and its numbers. The hosts of its targets follow as they were found, and not as the plan names them.
    fn action(out: &mut Vec<u8>, action: &Action) {
        match action {
            Action::Pause { lasts } => timed(out, 0, *lasts),
            Action::Suspend { lasts } => timed(out, 1, *lasts),
            Action::Stall { lasts } => timed(out, 2, *lasts),
            Action::Crash { power_loss, restart_after } => {
                out.extend([3, u8::from(*power_loss)]);
                number(out, restart_after.map_or(u64::MAX, nanos));
            }
            Action::Cut { to: _, both, lasts } => {
                timed(out, 4, *lasts);
                out.push(u8::from(*both));
            }
            Action::Delay { to: _, by, lasts, messages } => {
                timed(out, 5, *lasts);
                number(out, nanos(*by));
                small(out, messages.unwrap_or(u32::MAX));
            }
            Action::StepClock { by_ns } => {
                out.push(6);
                number(out, by_ns.cast_unsigned());
            }
            Action::SetDrift { ppm } => {
                out.push(7);
                number(out, ppm.cast_unsigned());
            }
            Action::DropConnections { to: _ } => out.push(8),
            Action::ForgetConnections { to: _ } => out.push(9),
            Action::Own { name, count } => {
                out.push(10);
                text(out, name);
                small(out, *count);
            }
            Action::LoseRequest { to: _ } => out.push(11),
            Action::Cancel => out.push(12),
            Action::LoseReply { from: _ } => out.push(13),
            #[cfg(feature = "made-up-action")]
            Action::MadeUp => out.push(255),
        }
    }

    fn timed(out: &mut Vec<u8>, tag: u8, lasts: Duration) {
        out.push(tag);
        number(out, nanos(lasts));
    }

    fn hosts(out: &mut Vec<u8>, hosts: &[HostId]) {
        small(out, hosts.len() as u32);
        hosts.iter().for_each(|host| small(out, u32::from(host.0)));
    }

    fn halt(kind: Halt) -> u8 {
        match kind {
            Halt::Pause => 0,
            Halt::Suspend => 1,
            Halt::Stall => 2,
        }
    }

    fn disconnect(why: Disconnect) -> u8 {
        match why {
            Disconnect::Closed => 0,
            Disconnect::Reset => 1,
            Disconnect::Refused => 2,
            Disconnect::TimedOut => 3,
        }
    }

    fn tagged(out: &mut Vec<u8>, tag: u8, key: &Key) {
        out.push(tag);
        text(out, key.as_str());
    }

    fn token(out: &mut Vec<u8>, token: Option<Token>) {
        number(out, token.map_or(u64::MAX, |token| token.0));
    }

    fn text(out: &mut Vec<u8>, words: &str) {
        small(out, words.len() as u32);
        out.extend_from_slice(words.as_bytes());
    }

    fn small(out: &mut Vec<u8>, value: u32) {
        out.extend_from_slice(&value.to_le_bytes());
    }

    fn number(out: &mut Vec<u8>, value: u64) {
        out.extend_from_slice(&value.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::ids::{EventId, HostId, Key};
    use crate::plan::{Action, Target};
    use crate::time::TrueTime;
    use crate::trace::{Applied, What};

    fn digest(what: What) -> Digest {
        let (at, id, host) = (TrueTime(7), EventId(0), HostId(1));
        let mut taker = DigestTaker::default();
        taker.take(&Event { at, id, host, cause: None, conn: None, grant: None, what });
        taker.digest()
    }

    fn key() -> Key {
        Key::new("stock")
    }

    /// Events with a text, by what is said; `None` where there may be none.
    fn with_a_text(text: Option<&str>) -> Vec<What> {
        let said = text.unwrap_or("first").to_owned();
        let error = text.map(str::to_owned);
        vec![
            What::NotAcquired { key: key(), why: said.clone() },
            What::NotReentered { key: key(), why: said.clone() },
            What::Noticed { text: said.clone() },
            What::NotModelled { name: said },
            What::Released { key: key(), error: error.clone(), denied: false },
            What::Left { key: key(), depth: 2, error },
        ]
    }

    #[test]
    fn another_sentence_changes_no_digest() {
        let digests = |text| with_a_text(text).into_iter().map(digest).collect::<Vec<_>>();
        assert_eq!(digests(Some("first")), digests(Some("a better one")));
    }

    #[test]
    fn the_digest_covers_that_there_is_an_error_and_what_it_means() {
        let released = |error: Option<&str>, denied| {
            digest(What::Released { key: key(), error: error.map(str::to_owned), denied })
        };
        assert_ne!(released(None, false), released(Some("late"), false));
        assert_ne!(released(Some("late"), false), released(Some("late"), true));
        let left = |depth, error: Option<&str>| {
            digest(What::Left { key: key(), depth, error: error.map(str::to_owned) })
        };
        assert_ne!(left(2, None), left(2, Some("late")));
        assert_ne!(left(2, None), left(1, None));
    }

    #[test]
    fn each_kind_of_event_with_a_text_has_a_digest_of_its_own() {
        let mut digests: Vec<Digest> = with_a_text(Some("first")).into_iter().map(digest).collect();
        digests.sort();
        digests.dedup();
        assert_eq!(digests.len(), 6);
    }

    #[test]
    fn the_digest_covers_an_action_with_its_numbers_and_hosts() {
        let to = Target::Leader;
        let second = Duration::from_secs(1);
        let cut = |to: Target, both, lasts| Action::Cut { to, both, lasts };
        let delay = |by, messages| Action::Delay { to: Target::Leader, by, lasts: second, messages };
        let crash = |power_loss, restart_after| Action::Crash { power_loss, restart_after };
        let own = |name: &str, count| Action::Own { name: name.to_owned(), count };
        let actions = vec![
            Action::Pause { lasts: second },
            Action::Pause { lasts: second * 2 },
            Action::Suspend { lasts: second },
            Action::Stall { lasts: second },
            crash(false, None),
            crash(true, None),
            crash(true, Some(second)),
            cut(to.clone(), true, second),
            cut(to.clone(), false, second),
            cut(to.clone(), false, second * 2),
            delay(second, None),
            delay(second * 2, None),
            delay(second, Some(1)),
            Action::StepClock { by_ns: 1 },
            Action::StepClock { by_ns: -1 },
            Action::SetDrift { ppm: 1 },
            Action::SetDrift { ppm: -1 },
            Action::DropConnections { to: to.clone() },
            Action::ForgetConnections { to: to.clone() },
            own("evict", 1),
            own("evict", 2),
            own("refuse", 1),
            Action::LoseRequest { to: to.clone() },
            Action::Cancel,
            Action::LoseReply { from: to.clone() },
        ];
        let applied = |injection, action: &Action, hosts: &[u16], others: &[u16]| {
            let hosts = hosts.iter().copied().map(HostId).collect();
            let others = others.iter().copied().map(HostId).collect();
            let applied = Box::new(Applied { action: action.clone(), hosts, others });
            digest(What::Injected { injection, applied })
        };
        let mut digests: Vec<Digest> = actions.iter().map(|action| applied(0, action, &[1], &[2])).collect();
        let last = actions.last().unwrap();
        digests.push(applied(1, last, &[1], &[2]));
        digests.push(applied(0, last, &[3], &[2]));
        digests.push(applied(0, last, &[1], &[3]));
        digests.push(applied(0, last, &[1, 2], &[]));
        let all = digests.len();
        digests.sort();
        digests.dedup();
        assert_eq!(digests.len(), all);

        // The plan may name the same hosts in another way.
        let named = cut(Target::host("redis-1"), true, second);
        assert_eq!(applied(0, &named, &[1], &[2]), applied(0, &cut(to, true, second), &[1], &[2]));
    }
}
