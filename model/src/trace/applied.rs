//! A fault action as it was applied, with the hosts that its targets meant at that moment.
//!
//! The words are here and not in reports, so that a new action is described where it is declared. A digest covers the action and
//! its hosts, and no word of them.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::ids::HostId;
use crate::plan::{Action, UNTIL_HEALED};

/// A fault action that was applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Applied {
    /// The action.
    pub action: Action,
    /// The hosts on which it worked.
    pub hosts: Vec<HostId>,
    /// The hosts at the other end of its links or connections; none for an action without another end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<HostId>,
}

impl Applied {
    /// The action and its hosts in words, such as `pause client-1 for 2s`.
    #[must_use]
    pub fn words<'n>(&self, name: impl Fn(HostId) -> &'n str) -> String {
        let names = |hosts: &[HostId]| -> String {
            let names: Vec<&str> = hosts.iter().map(|host| name(*host)).collect();
            if names.is_empty() { "nobody".to_owned() } else { names.join(", ") }
        };
        let (who, others) = (names(&self.hosts), names(&self.others));
        match &self.action {
            Action::Pause { lasts } => format!("pause {who} {}", span(*lasts)),
            Action::Suspend { lasts } => format!("suspend {who} {}", span(*lasts)),
            Action::Stall { lasts } => format!("stall the section of {who} {}", span(*lasts)),
            Action::Crash { power_loss, restart_after } => {
                let how = if *power_loss { "cut the power of" } else { "kill the process of" };
                let then =
                    restart_after.map(|after| format!(", restart after {after:?}")).unwrap_or_default();
                format!("{how} {who}{then}")
            }
            Action::Cut { both, lasts, .. } => {
                let arrow = if *both { "and" } else { "to" };
                format!("cut the network from {who} {arrow} {others} {}", span(*lasts))
            }
            Action::Delay { by, messages, .. } => {
                let what = messages.map_or("messages".to_owned(), |count| format!("{count} message(s)"));
                format!("delay {what} from {who} to {others} by {by:?}")
            }
            Action::StepClock { by_ns } => {
                format!("step the wall clock of {who} by {} ms", by_ns / 1_000_000)
            }
            Action::SetDrift { ppm } => format!("let the clocks of {who} drift by {ppm} ppm"),
            Action::DropConnections { .. } => format!("drop the connections between {who} and {others}"),
            Action::ForgetConnections { .. } => format!("forget the connections between {who} and {others}"),
            Action::Own { name, count } => format!("{name} at {who}, {count} time(s)"),
            #[cfg(feature = "made-up-action")]
            Action::MadeUp => format!("make something up at {who}"),
            Action::Cancel => format!("cancel the call of its lock that {who} is in"),
            Action::LoseRequest { .. } => format!("lose the next request from {who} to {others}"),
            Action::LoseReply { .. } => format!("lose the next reply from {others} to {who}"),
        }
    }
}

fn span(lasts: Duration) -> String {
    match lasts {
        UNTIL_HEALED => "until it is healed".to_owned(),
        lasts => format!("for {lasts:?}"),
    }
}
