//! The line by which a served world is asked for a fault: `pause node-1 at 5s for 2s`.
//!
//! Each form is one fault action, applied at an instant counted from the start, or again and again with `every`. A world that is steered
//! while it runs takes the same lines; there, times count from when a line is read, and what has no time happens at once and
//! lasts until all is healed.

use std::time::Duration;

use picklock_model::plan::{Action, Injection, UNTIL_HEALED, When};
use picklock_model::text::nearest;
use picklock_model::time::TrueTime;

pub(crate) use super::base::words::time;
pub use super::base::words::{Served, Words};
use super::{ALL, Fault};

/// Every form of every fault.
pub fn forms() -> impl Iterator<Item = &'static Served> {
    ALL.iter().flat_map(|fault| fault.served)
}

/// The form that begins with this word, or the first one of the fault with this name.
#[must_use]
pub fn form_named(word: &str) -> Option<(&'static Fault, &'static Served)> {
    let of = |fault: &'static &'static Fault| fault.served.iter().map(|served| (*fault, served));
    let own = ALL.iter().flat_map(of).find(|(_, served)| served.name() == word);
    own.or_else(|| ALL.iter().filter(|fault| fault.is_called(word)).flat_map(of).next())
}

/// Every word with which a line may begin.
pub fn words() -> impl Iterator<Item = &'static str> {
    let served = ALL.iter().filter(|fault| !fault.served.is_empty());
    let names = served.flat_map(|fault| std::iter::once(fault.name).chain(fault.also.iter().copied()));
    forms().map(Served::name).chain(names)
}

fn all_forms() -> String {
    forms().map(|served| served.form).collect::<Vec<_>>().join("; ")
}

/// How often `every` repeats at most.
const REPEATS_MAX: u32 = 1_000;

/// The reason why a fault was not understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("--fault `{text}`: {why}")]
pub struct FaultError {
    text: String,
    why: String,
}

/// The injections that a text asks for, in a world with these hosts.
///
/// # Errors
/// When the text has none of the [forms].
pub fn parse(text: &str, hosts: &[&str]) -> Result<Vec<Injection>, FaultError> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut reader = Words { words: &words, hosts, at_once: false };
    reader.fault().map_err(|why| FaultError { text: text.chars().take(120).collect(), why })
}

/// The injections that these words ask for, at once and until all is healed unless they say otherwise.
///
/// # Errors
/// As [`parse`].
pub fn parse_now<S: AsRef<str>>(words: &[&str], hosts: &[S]) -> Result<Vec<Injection>, String> {
    let hosts: Vec<&str> = hosts.iter().map(AsRef::as_ref).collect();
    Words { words, hosts: &hosts, at_once: true }.fault()
}

impl Words<'_> {
    fn fault(&mut self) -> Result<Vec<Injection>, String> {
        let kind = self.next("a fault")?.to_owned();
        let Some((fault, served)) = form_named(&kind) else {
            let hint = nearest(&kind, words()).map(|near| format!(" (did you mean `{near}`?)"));
            return Err(format!(
                "there is no fault `{kind}`{}; the forms are: {}",
                hint.unwrap_or_default(),
                all_forms()
            ));
        };
        let (target, action) = (served.read)(self)?;
        let at = match self.after("at")? {
            None if self.at_once => Duration::ZERO,
            at => at.ok_or("it needs `at TIME`, counted from the start")?,
        };
        let action = self.rest(action)?;
        let every = self.after("every")?;
        if let Some(word) = self.words.first() {
            return Err(format!("`{word}` is not understood here; the forms are: {}", all_forms()));
        }
        let repeats = if every.is_some() { REPEATS_MAX } else { 1 };
        let every = every.unwrap_or_default();
        if repeats > 1 && every.is_zero() {
            return Err("`every` needs a time above 0".to_owned());
        }
        let instants = (0..repeats).map(|nth| TrueTime(0) + at + every * nth);
        Ok(instants
            .map(|at_ns| Injection {
                fault: fault.name.to_owned(),
                when: When::At { at_ns },
                target: target.clone(),
                action: action.clone(),
            })
            .collect())
    }

    /// Fills in how long it lasts, or when the process is started anew.
    fn rest(&mut self, mut action: Action) -> Result<Action, String> {
        if let Some(lasts) = action.lasts_mut() {
            *lasts = match self.after("for")? {
                None if self.at_once => UNTIL_HEALED,
                lasts => lasts.ok_or("it needs `for TIME`")?,
            };
        }
        if let Action::Crash { restart_after, .. } = &mut action {
            *restart_after = self.after("restart")?.or(*restart_after);
        }
        Ok(action)
    }
}

#[cfg(test)]
mod tests {
    use picklock_model::plan::Target;

    use super::*;

    const HOSTS: &[&str] = &["node-1", "node-2", "clients"];

    fn one(text: &str) -> Injection {
        let mut injections = parse(text, HOSTS).expect("the text is well formed");
        assert_eq!(injections.len(), 1);
        injections.remove(0)
    }

    fn seconds(count: u64) -> Duration {
        Duration::from_secs(count)
    }

    #[test]
    fn every_form_is_understood() {
        assert_eq!(one("pause node-1 at 5s for 2s").action, Action::Pause { lasts: seconds(2) });
        assert_eq!(one("pause node-1 at 5s for 2s").when, When::At { at_ns: TrueTime(0) + seconds(5) });
        let killed = Action::Crash { power_loss: false, restart_after: Some(seconds(3)) };
        assert_eq!(one("kill node-2 at 1s restart 3s").action, killed);
        let cut = one("cut node-1 from clients at 1s for 2s");
        assert_eq!(cut.target, Target::host("clients"));
        assert_eq!(cut.action, Action::Cut { to: Target::host("node-1"), both: false, lasts: seconds(2) });
        assert_eq!(one("cut node-1 node-2 at 1s for 2s"), one("cut node-1 and node-2 at 1s for 2s"));
        assert_eq!(one("step node-1 by -2s at 1s").action, Action::StepClock { by_ns: -2_000_000_000 });
        assert_eq!(one("drift node-1 by -200 at 1s").action, Action::SetDrift { ppm: -200 });
        assert_eq!(one("lose-reply node-1 to clients at 1s").target, Target::host("clients"));
        one("delay node-1 to node-2 by 50ms at 1s for 2s");
        one("drop node-1 and clients at 1s");
        one("suspend node-1 at 1s for 1s");
        one("power-loss node-1 at 1s");
        assert_eq!(one("partition node-1 from clients at 1s for 2s"), cut);
        assert_eq!(one("clock-step node-1 by 1s at 1s"), one("step node-1 by 1s at 1s"));
        assert_eq!(one("lost-connection node-1 and clients at 1s"), one("drop node-1 and clients at 1s"));
        let restarts =
            |seconds| Action::Crash { power_loss: true, restart_after: Some(Duration::from_secs(seconds)) };
        assert_eq!(one("restart node-1 at 1s").action, restarts(1));
        assert_eq!(one("node-restart node-1 at 1s restart 3s").action, restarts(3));
    }

    #[test]
    fn a_fault_can_hit_again_and_again() {
        let pauses = parse("pause node-1 at 1s for 2s every 10s", HOSTS).expect("the text is well formed");
        assert_eq!(pauses[2].when, When::At { at_ns: TrueTime(0) + seconds(21) });
    }

    #[test]
    fn what_is_asked_for_now_needs_no_times() {
        let now = |text: &str| {
            let words: Vec<&str> = text.split(' ').collect();
            parse_now(&words, HOSTS).expect("the text is well formed").remove(0)
        };
        assert_eq!(now("kill node-1").when, When::At { at_ns: TrueTime(0) });
        assert_eq!(now("pause node-1").action, Action::Pause { lasts: UNTIL_HEALED });
        assert_eq!(now("pause node-1 for 2s").action, Action::Pause { lasts: seconds(2) });
        assert_eq!(now("pause node-1 at 3s").when, When::At { at_ns: TrueTime(0) + seconds(3) });
    }

    #[test]
    fn what_is_wrong_is_named() {
        let why = |text: &str| parse(text, HOSTS).expect_err("the text is wrong").to_string();
        assert!(why("puse node-1 at 5s for 2s").contains("did you mean `pause`"));
        assert!(why("pause node-3 at 5s for 2s").contains("there are node-1, node-2, clients"));
        assert!(why("pause node-1 for 2s").contains("`at TIME`"));
        assert!(why("pause node-1 at 5s").contains("`for TIME`"));
        assert!(why("pause node-1 at 5 for 2s").contains("no unit"));
        assert!(why("pause node-1 at 5s for 2s twice").contains("`twice`"));
        assert!(why("").contains("it ends"));
        assert!(why("drift node-1 by 999999 at 1s").contains("parts per million"));
        assert!(why("pause node-1 at 1s for 1s every 0s").contains("above 0"));
        assert!(why("kill clients at 1s").contains("cannot be killed"));
        assert!(why("power-loss clients at 1s restart 1s").contains("cannot be killed"));
        assert!(why("cut node-1 and node-1 at 1s for 1s").contains("two hosts"));
        assert!(why("drop node-2 and node-2 at 1s").contains("two hosts"));
    }
}
