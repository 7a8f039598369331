//! Silences: a host that lost its power says no goodbye, and those who have a connection to it notice late that it is gone. So it is with
//! connections that the network has forgotten, though both ends are there.
//!
//! A store keeps for a while what a client held that is silent, and a client waits for a while for a store that is. Both have a time
//! after which they give the connection up ([`Trace::silent_client`](picklock_model::trace::Trace), `silent_store`). Until then a lock
//! that nobody gets is a stall that its store announces, and no deadlock.

use std::time::Duration;

use picklock_model::time::TrueTime;
use picklock_model::trace::{Event, Role, What};

use super::parts::History;

/// One silence.
#[derive(Clone, Copy, Debug)]
pub struct Silence<'t> {
    /// The loss of power, or of the connections.
    pub begin: &'t Event,
    /// How long it may take until the others notice it.
    pub span: Duration,
    /// True if it is a client that is silent.
    pub of_client: bool,
}

impl Silence<'_> {
    /// By when the others have noticed it.
    #[must_use]
    pub fn until(&self) -> TrueTime {
        self.begin.at + self.span
    }
}

impl<'t> History<'t> {
    /// The silences of the run, in the order of their beginnings.
    pub fn silences(&self) -> impl Iterator<Item = Silence<'t>> {
        let trace = self.trace;
        let silence = move |event: &&'t Event| {
            let of_client = match trace.role(event.host)? {
                Role::Client => true,
                Role::Leader | Role::Follower => false,
                _ => return None,
            };
            let span = if of_client { trace.silent_client } else { trace.silent_store };
            let is_silent = match event.what {
                What::Crashed { power_loss } => power_loss,
                What::ConnectionsForgotten { peer } => trace.role(peer).is_some_and(|role| match role {
                    Role::Leader | Role::Proxy | Role::Renewer => of_client,
                    Role::Client => !of_client,
                    _ => false,
                }),
                _ => false,
            };
            (is_silent && !span.is_zero()).then_some(Silence { begin: event, span, of_client })
        };
        self.host_changes.iter().filter_map(silence)
    }

    /// Of the silences that began before this instant, the one that may last longest.
    #[must_use]
    pub fn longest_silence(&self, before: TrueTime) -> Option<Silence<'t>> {
        self.silences().filter(|silence| silence.begin.at < before).max_by_key(Silence::until)
    }

    /// Why a run that is over while a silence may last is inconclusive about what it hides.
    #[must_use]
    pub fn hidden_by(&self, silence: &Silence<'_>) -> String {
        let (others, seconds) =
            (if silence.of_client { "a store" } else { "a client" }, silence.span.as_secs_f64());
        let what = self.silence(silence);
        format!("{what}, which {others} may notice {seconds} s later: the run is too short to say more")
    }

    /// The beginning of a silence, in words.
    #[must_use]
    pub fn silence(&self, silence: &Silence<'_>) -> String {
        let (host, at) = (self.trace.host_name(silence.begin.host), silence.begin.at);
        match silence.begin.what {
            What::ConnectionsForgotten { peer } => {
                format!(
                    "the connections of {host} with {} were forgotten at {at}",
                    self.trace.host_name(peer)
                )
            }
            _ => format!("{host} lost its power at {at}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::testing::*;

    #[test]
    fn only_a_loss_of_power_is_silent_and_only_where_the_trace_has_a_span() {
        let script =
            Script::new().at(5).crashes(CLIENT_1).at(7).loses_power(CLIENT_2).at(9).loses_power(NODE_1);
        let mut trace = script.trace();
        assert_eq!(History::of(&trace).silences().count(), 0);
        trace.silent_client = Duration::from_millis(50);
        let history = History::of(&trace);
        let silences: Vec<u64> = history.silences().map(|silence| silence.until().as_millis()).collect();
        assert_eq!(silences, [57]);
        assert!(history.longest_silence(at(7)).is_none());
        let silence = history.longest_silence(at(8)).unwrap();
        let why = "client-2 lost its power at 0.007000s, which a store may notice 0.05 s later: the run is too short to say more";
        assert_eq!(history.hidden_by(&silence), why);
        trace.silent_store = Duration::from_millis(50);
        let history = History::of(&trace);
        assert!(!history.longest_silence(at(10)).unwrap().of_client);
    }
}
