//! The watch over an autonomous client: the lines that it reports, and their meaning.
//!
//! ```text
//! wants lock:1                                  it asks for it from now on; may be left out
//! holds lock:1 [token=7] [UNTIL] [owner=7f3a]   it has it, and works
//! frees lock:1                                  it stops working, and is about to give it back
//! lost lock:1                                   it has learned that the lock is lost, and stops working; `frees` may follow
//! ```
//!
//! It is sent nothing, and its input is at its end. A line counts from the moment when it is printed, in the same step of the
//! program: whatever happens to it between that and the next call, it has said so.

use std::collections::VecDeque;

use picklock_model::ids::Key;
use picklock_model::plan::Phase;
use picklock_sim::host::Host;
use picklock_sim::lock::Grant;
use picklock_sim::recorder::BeliefRecorder;

use crate::answer::{self, Granted};

/// The lines that an autonomous client may report.
const EXPECTED: &str =
    "`wants KEY`, `holds KEY [token=N] [until_ms=N | expires_ms=N] [owner=TEXT]`, `frees KEY` or `lost KEY`";

/// A line of an autonomous client.
#[derive(Debug, PartialEq, Eq)]
enum Report {
    Wants,
    Holds(Granted),
    Frees,
    Lost,
}

/// Reads a line; `None` if it is no report.
fn read(line: &str) -> Option<(Report, Key)> {
    let (verb, rest) = line.trim().split_once(char::is_whitespace)?;
    let rest = rest.trim_start();
    let (key, more) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let report = match verb {
        "wants" if more.is_empty() => Report::Wants,
        "holds" => Report::Holds(answer::granted(more)?),
        "frees" if more.is_empty() => Report::Frees,
        "lost" if more.is_empty() => Report::Lost,
        _ => return None,
    };
    Some((report, Key::new(key)))
}

/// The state of an autonomous client, as far as it has reported.
#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    /// It has said nothing yet, or gives back what it had: this one, then.
    Free(Option<Key>),
    Wants(Key),
    Holds(Key),
    /// It knows that it holds this one no more.
    Lost(Key),
}

/// Follows the reports of an autonomous client, and records its beliefs.
pub(crate) struct Watch {
    host: Host,
    recorder: BeliefRecorder,
    state: State,
    /// The section that it is in.
    section: u32,
    /// Those that come after it.
    rounds: VecDeque<u32>,
    /// True if it has begun the section.
    begun: bool,
    fenced: bool,
    grants: u32,
}

impl Watch {
    /// Its first section begins.
    pub(crate) fn new(host: &Host, recorder: BeliefRecorder, rounds: Vec<u32>, fenced: bool) -> Watch {
        let mut rounds = VecDeque::from(rounds);
        let section = rounds.pop_front().unwrap_or_default();
        // Messages before its first report are already in the service of that section.
        recorder.phase(section, Phase::Idle);
        let (host, state) = (host.clone(), State::Free(None));
        Watch { host, recorder, state, section, rounds, begun: false, fenced, grants: 0 }
    }

    /// Takes a line that it printed. True once it has had all its rounds and asks for one more: it is to be stopped.
    ///
    /// # Errors
    /// When the line is no report, or cannot come now.
    pub(crate) fn hear(&mut self, line: &str) -> Result<bool, String> {
        let (report, key) = read(line).ok_or_else(|| {
            format!(
                "the program printed `{line}`; it must print {EXPECTED}, and anything else on standard error (a JVM does with \
                 -Xlog:disable -Xlog:all=warning:stderr)"
            )
        })?;
        let wrong = |why: String| Err(format!("the program printed `{line}` {why}"));
        match (report, &self.state) {
            (Report::Wants | Report::Holds(_), State::Free(_) | State::Lost(_)) if self.rounds_are_over() => {
                self.over();
                return Ok(true);
            }
            (Report::Wants, State::Free(_) | State::Lost(_)) => self.wants(key),
            (Report::Holds(given), State::Free(_) | State::Lost(_)) => self.holds_at_once(key, given),
            (Report::Holds(given), State::Wants(wanted)) if *wanted == key => self.holds(key, given),
            (Report::Frees, State::Holds(held) | State::Lost(held)) if *held == key => self.frees(key),
            (Report::Lost, State::Holds(held)) if *held == key => self.lost(key),
            // It gave up waiting, and waits again.
            (Report::Wants, State::Wants(wanted)) if *wanted == key => {}
            (Report::Wants | Report::Holds(_), State::Wants(wanted)) => {
                return wrong(format!(
                    "while it wanted `{wanted}`: it takes one at a time, and may say `frees {wanted}` when it wants that no more"
                ));
            }
            (Report::Frees, State::Wants(wanted)) if *wanted == key => self.gives_up(&key),
            (Report::Holds(_), State::Holds(held)) if *held == key => {
                return wrong(
                    "and holds it already: a renewal is not reported, and `frees` comes first otherwise"
                        .to_owned(),
                );
            }
            (Report::Wants | Report::Holds(_), State::Holds(held)) => {
                return wrong(format!(
                    "while it held `{held}`: it takes one at a time, and says `frees {held}` first"
                ));
            }
            (Report::Frees | Report::Lost, State::Holds(held)) => {
                return wrong(format!("but it holds `{held}`"));
            }
            (Report::Frees, State::Free(_) | State::Wants(_) | State::Lost(_))
            | (Report::Lost, State::Free(_) | State::Wants(_) | State::Lost(_)) => {
                return wrong(format!("but it holds nothing: `holds {key}` comes first"));
            }
        }
        Ok(false)
    }

    /// The program ended.
    ///
    /// # Errors
    /// When it held something.
    pub(crate) fn ended(&mut self) -> Result<(), String> {
        match &self.state {
            State::Holds(key) => {
                Err(format!("the program ended while it held `{key}`: it must print `frees {key}` before"))
            }
            State::Wants(key) => {
                self.recorder.not_acquired(key, "the program ended");
                Ok(())
            }
            State::Free(_) | State::Lost(_) => {
                self.over();
                Ok(())
            }
        }
    }

    fn rounds_are_over(&self) -> bool {
        self.begun && self.rounds.is_empty()
    }

    /// Goes on to its next section.
    fn begins(&mut self) {
        self.over();
        if self.begun {
            self.section = self.rounds.pop_front().unwrap_or(self.section);
        }
        self.begun = true;
    }

    fn wants(&mut self, key: Key) {
        self.begins();
        self.recorder.waiting(self.section, &key);
        self.state = State::Wants(key);
    }

    /// It says that it holds what it has not said that it wants.
    fn holds_at_once(&mut self, key: Key, given: Granted) {
        self.begins();
        self.recorder.phase(self.section, Phase::Acquire);
        self.holds(key, given)
    }

    fn holds(&mut self, key: Key, given: Granted) {
        self.grants += 1;
        let owner = given.owner.unwrap_or_else(|| format!("{}#{}", self.host.name(), self.grants));
        let mut grant = Grant::new(&key, owner);
        grant.token = given.token.filter(|_| self.fenced);
        grant.deadline = given.until.map(|until| until.on(&self.host));
        self.recorder.acquired(&grant);
        self.recorder.phase(self.section, Phase::Work);
        self.state = State::Holds(key);
    }

    fn frees(&mut self, key: Key) {
        self.recorder.releasing(self.section, &key);
        self.state = State::Free(Some(key));
    }

    /// The belief ends; what follows is a release that changes nothing more of that, or the next section.
    fn lost(&mut self, key: Key) {
        self.recorder.renewal_denied(&key);
        self.recorder.aborted(&key);
        self.state = State::Lost(key);
    }

    fn gives_up(&mut self, key: &Key) {
        self.recorder.not_acquired(key, "the program gave up");
        self.recorder.idle(self.section);
        self.state = State::Free(None);
    }

    /// The key that it was giving back is released by now, or was lost.
    fn over(&mut self) {
        if let State::Lost(_) = self.state {
            self.recorder.idle(self.section);
            self.state = State::Free(None);
        }
        if let State::Free(key) = &mut self.state
            && let Some(key) = key.take()
        {
            self.recorder.released(self.section, &key, None);
        }
    }
}

#[cfg(test)]
mod tests {
    use picklock_model::ids::Token;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn reports_are_read_with_what_they_carry() {
        let key = Key::new("jobs:nightly");
        assert_eq!(read("wants jobs:nightly"), Some((Report::Wants, key.clone())));
        assert_eq!(read(" frees  jobs:nightly "), Some((Report::Frees, key.clone())));
        let given = Granted { token: Some(Token(7)), ..Granted::default() };
        assert_eq!(read("lost jobs:nightly"), Some((Report::Lost, key.clone())));
        assert_eq!(read("holds jobs:nightly token=7"), Some((Report::Holds(given), key)));
    }

    #[test]
    fn what_is_no_report_is_not_taken_for_one() {
        for line in
            ["", "holds", "holds ", "Holds a", "frees a now", "wants a b", "holds a token=x", "granted"]
        {
            assert_eq!(read(line), None, "{line}");
        }
    }

    proptest! {
        #[test]
        fn no_line_breaks_the_reader(line in ".*") {
            let _ = read(&line);
        }
    }
}
