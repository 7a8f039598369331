//! How a server notices that a client is gone without a word: its kernel looks whether the other end of a silent connection is still there.
//!
//! The kernel looks whatever the session does. What it finds the session learns when it reads or writes: a session that waits for a lock learns it
//! when its turn has come. While something that was sent is not acknowledged the kernel does not look but sends it again, until
//! `tcp_user_timeout`, or without that until the time after which the world breaks a connection (`tcp_timeout`).
//!
//! Left out on purpose: of a client that was away for a part of the time in which the kernel sends again, only the end of that time counts.
//!
//! Source: PostgreSQL 15 documentation, 20.3.2 TCP Settings; Linux, tcp(7), `tcp_keepalive_timer` in `net/ipv4/tcp_timer.c`.

use std::time::Duration;

use picklock_model::time::Monotonic;
use picklock_sim::param::HOUR;
use picklock_sim::stream::{Probe, ReadHalf};

/// When a server looks, and when it gives up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keepalive {
    /// `tcp_keepalives_idle`: the time without a word after which it looks.
    pub idle: Duration,
    /// `tcp_keepalives_interval`: the time between two probes.
    pub interval: Duration,
    /// `tcp_keepalives_count`: the probes without an answer after which it gives up.
    pub count: u32,
    /// `tcp_user_timeout`: if set, it gives up at the first probe that is due this long after the last word, and not by the count.
    pub user_timeout: Option<Duration>,
}

impl Default for Keepalive {
    /// Those of Linux.
    fn default() -> Keepalive {
        Keepalive {
            idle: Duration::from_secs(7_200),
            interval: Duration::from_secs(75),
            count: 9,
            user_timeout: None,
        }
    }
}

impl Keepalive {
    /// True if the world breaks a connection on which something is not acknowledged before the first probe.
    fn is_late(&self) -> bool {
        self.user_timeout.is_none() && self.idle >= HOUR
    }

    /// How long a client is silent at most before the server gives up.
    #[must_use]
    pub fn patience(&self) -> Duration {
        match self.user_timeout {
            None => self.idle + self.count * self.interval,
            Some(limit) => {
                let probes = limit.saturating_sub(self.idle).div_duration_f64(self.interval).ceil().max(1.0);
                self.idle + self.interval * probes as u32
            }
        }
    }
}

/// One connection as its server sees it.
pub(crate) struct Line {
    /// When something was heard last.
    heard: Monotonic,
    /// The last probe, and how many were not answered.
    probed: Option<(Monotonic, u32)>,
    /// When the first part of what is not acknowledged was sent.
    sent: Option<Monotonic>,
    /// True once the connection is given up.
    pub(crate) is_dead: bool,
}

impl Line {
    pub(crate) fn new(now: Monotonic) -> Line {
        Line { heard: now, probed: None, sent: None, is_dead: false }
    }

    /// Something was sent.
    pub(crate) fn sent(&mut self, keepalive: &Keepalive, now: Monotonic, end: &ReadHalf) {
        if !keepalive.is_late() && end.probe() == Probe::Silent {
            self.sent.get_or_insert(now);
        } else {
            self.heard(now);
        }
    }

    /// Something was heard.
    pub(crate) fn heard(&mut self, now: Monotonic) {
        *self = Line::new(now);
    }

    /// When it looks next; none if it does not.
    pub(crate) fn due(&self, keepalive: &Keepalive) -> Option<Monotonic> {
        match (self.sent, self.probed) {
            _ if self.is_dead => None,
            (Some(at), probed) => Some(match keepalive.user_timeout {
                Some(limit) => at + limit,
                None => probed.map_or(at, |(at, _)| at) + keepalive.interval,
            }),
            (None, None) => Some(self.heard + keepalive.idle),
            (None, Some((at, _))) => Some(at + keepalive.interval),
        }
    }

    /// Looks whether the client is there.
    pub(crate) fn look(&mut self, keepalive: &Keepalive, now: Monotonic, end: &ReadHalf) {
        self.is_dead = !self.finds(keepalive, now, end);
    }

    /// True unless the client is given up.
    fn finds(&mut self, keepalive: &Keepalive, now: Monotonic, end: &ReadHalf) -> bool {
        if self.sent.is_some() {
            match end.probe() {
                // What was sent again has come.
                Probe::Answered => self.heard(now),
                // The world breaks the connection.
                Probe::Silent if keepalive.user_timeout.is_none() => self.probed = Some((now, 0)),
                _ => return false,
            }
            return true;
        }
        let unanswered = self.probed.map_or(0, |(_, count)| count);
        let is_over = match keepalive.user_timeout {
            None => unanswered >= keepalive.count,
            Some(limit) => unanswered > 0 && now.since(self.heard) >= limit,
        };
        if is_over {
            return false;
        }
        match end.probe() {
            Probe::Answered => self.heard(now),
            Probe::Silent => self.probed = Some((now, unanswered + 1)),
            Probe::Unknown => return false,
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silent_client_is_given_up_after_7875_seconds_by_default() {
        assert_eq!(Keepalive::default().patience(), Duration::from_secs(7_875));
    }

    #[test]
    fn a_user_timeout_takes_the_place_of_the_count() {
        let s = Duration::from_secs;
        let keepalive =
            |limit| Keepalive { idle: s(10), interval: s(3), count: 9, user_timeout: Some(s(limit)) };
        assert_eq!(keepalive(1).patience(), s(13), "at the probe after the first");
        assert_eq!(keepalive(17).patience(), s(19));
    }
}
