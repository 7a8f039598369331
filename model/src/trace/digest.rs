//! The digest of a trace, taken over its events in the order of their emission: two runs with the same digest did the
//! same things at the same true times for the same reasons, and sent each other the same bytes.

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
    use crate::ids::{Key, Token};
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
            What::NotAcquired { key, why } => {
                tagged(out, 2, key);
                text(out, why);
            }
            What::DeadlinePassed { key } => tagged(out, 3, key),
            What::Aborted { key } => tagged(out, 4, key),
            What::Releasing { key } => tagged(out, 5, key),
            What::Released { key, error, denied: _ } => {
                tagged(out, 6, key);
                text(out, error.as_deref().unwrap_or(""));
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
            What::Injected { injection, text: words } => {
                out.push(32);
                small(out, *injection);
                text(out, words);
            }
            What::TookEffect { injection } => {
                out.push(33);
                small(out, *injection);
            }
            What::Healed { injection } => {
                out.push(34);
                small(out, *injection);
            }
            What::Noticed { text: words } => {
                out.push(35);
                text(out, words);
            }
            What::Renewed { key, deadline } => {
                tagged(out, 36, key);
                number(out, deadline.map_or(u64::MAX, |at| at.0));
            }
            What::Reentered { key, depth } => {
                tagged(out, 37, key);
                small(out, *depth);
            }
            What::NotReentered { key, why } => {
                tagged(out, 38, key);
                text(out, why);
            }
            What::Shares { key } => tagged(out, 40, key),
            What::RenewalDenied { key } => tagged(out, 41, key),
            What::LeaseLost { key } => tagged(out, 50, key),
            What::NotModelled { name } => {
                out.push(51);
                text(out, name);
            }
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
                text(out, error.as_deref().unwrap_or(""));
            }
        }
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
