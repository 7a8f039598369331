//! The lines that a program and picklock exchange.
//!
//! ```text
//! acquire lock:1 5000     ->  granted [token=7] [UNTIL] [owner=7f3a]  or  refused [retry_ms=500]  or  error TEXT
//! release lock:1          ->  released                                                            or  error TEXT
//! renew lock:1            ->  renewed [UNTIL]                         or  lost                    or  error TEXT
//! close                   ->  closed                                                              or  error TEXT
//! ```
//!
//! At any time a program may print `lost lock:1`: its library has noticed that the grant is lost. The section ends then.
//!
//! Until when a grant may be relied on is said as the library says it: `until_ms=950`, from now, or `expires_ms=1700000000950`, on
//! the wall clock since 1970. A program that stands still between a clock read and the answer makes the first too late.
//!
//! The number after the key of `acquire` is how long to wait for the lock at most, in milliseconds; a program that asks its
//! library once and answers `refused` is asked again: after `retry_ms`, or after a pause that grows where it says none. The lease
//! is in the environment, as `PICKLOCK_TTL_MS`.

use std::time::Duration;

use picklock_model::ids::Token;
use picklock_model::time::WallTime;
use picklock_sim::driver::HostDriver;
use picklock_sim::host::Host;
use picklock_sim::lock::Deadline;

/// The answer of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It holds the lock.
    Granted(Granted),
    /// Somebody else does.
    Refused {
        /// After how long it is to be asked again, if it says so.
        retry: Option<Duration>,
    },
    /// It holds the lock no more.
    Released,
    /// The lease was extended.
    Renewed {
        /// Until when it may rely on it.
        until: Option<Until>,
    },
    /// The grant is lost.
    Lost,
    /// Its connections are closed.
    Closed,
    /// It failed.
    Error(String),
}

/// Until when a grant may be relied on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// For so many milliseconds from now.
    In(u64),
    /// Until so many milliseconds after 1970, on the wall clock of its host.
    At(u64),
}

impl Until {
    /// The deadline that it means on the clocks of this host, said now.
    pub(crate) fn on(self, host: &Host) -> Deadline {
        match self {
            Until::In(span) => {
                Deadline::Monotonic(HostDriver::of(host).clocks().0 + Duration::from_millis(span))
            }
            Until::At(at) => Deadline::Wall(WallTime(at.saturating_mul(1_000_000))),
        }
    }
}

/// The facts that a program gives with a grant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Granted {
    /// Its fencing token.
    pub token: Option<Token>,
    /// Until when it may rely on it.
    pub until: Option<Until>,
    /// The value by which the store knows it.
    pub owner: Option<String>,
}

/// The question to a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// `acquire`
    Acquire,
    /// `release`
    Release,
    /// `renew`
    Renew,
    /// `close`
    Close,
}

impl Question {
    /// The answers that go with it, as a hint.
    #[must_use]
    pub fn expected(self) -> &'static str {
        match self {
            Question::Acquire => {
                "`granted [token=N] [until_ms=N | expires_ms=N] [owner=TEXT]`, `refused [retry_ms=N]` or `error TEXT`"
            }
            Question::Release => "`released` or `error TEXT`",
            Question::Close => "`closed` or `error TEXT`",
            Question::Renew => "`renewed [until_ms=N | expires_ms=N]`, `lost` or `error TEXT`",
        }
    }

    /// Reads an answer; `None` if it is none to this question.
    #[must_use]
    pub fn read(self, line: &str) -> Option<Answer> {
        let line = line.trim();
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        match (self, word) {
            (_, "error") => {
                Some(Answer::Error(if rest.is_empty() { "no reason given" } else { rest }.to_owned()))
            }
            (Question::Acquire, "granted") => granted(rest).map(Answer::Granted),
            (Question::Acquire, "refused") if rest.is_empty() => Some(Answer::Refused { retry: None }),
            (Question::Acquire, "refused") => {
                let retry = Duration::from_millis(rest.strip_prefix("retry_ms=")?.parse().ok()?);
                Some(Answer::Refused { retry: Some(retry) })
            }
            (Question::Release, "released") if rest.is_empty() => Some(Answer::Released),
            (Question::Close, "closed") if rest.is_empty() => Some(Answer::Closed),
            (Question::Renew, "renewed") => {
                let given = granted(rest)?;
                let alone = given.token.is_none() && given.owner.is_none();
                alone.then_some(Answer::Renewed { until: given.until })
            }
            (Question::Renew, "lost") if rest.is_empty() => Some(Answer::Lost),
            _ => None,
        }
    }
}

/// Reads the facts of a grant, each of which is there once at most.
pub(crate) fn granted(words: &str) -> Option<Granted> {
    let mut granted = Granted::default();
    for word in words.split_whitespace() {
        let is_second = match word.split_once('=')? {
            ("token", number) => granted.token.replace(Token(number.parse().ok()?)).is_some(),
            ("until_ms", number) => granted.until.replace(Until::In(number.parse().ok()?)).is_some(),
            ("expires_ms", number) => granted.until.replace(Until::At(number.parse().ok()?)).is_some(),
            ("owner", text) => granted.owner.replace(text.to_owned()).is_some(),
            _ => return None,
        };
        if is_second {
            return None;
        }
    }
    Some(granted)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn answers_are_read_with_what_they_carry() {
        let all = Granted { token: Some(Token(7)), until: Some(Until::In(950)), owner: Some("7f3a".into()) };
        let line = "granted token=7 until_ms=950 owner=7f3a";
        assert_eq!(Question::Acquire.read(line), Some(Answer::Granted(all)));
        assert_eq!(Question::Acquire.read(" granted "), Some(Answer::Granted(Granted::default())));
        assert_eq!(Question::Acquire.read("refused"), Some(Answer::Refused { retry: None }));
        let retry = Some(Duration::from_millis(500));
        assert_eq!(Question::Acquire.read("refused retry_ms=500"), Some(Answer::Refused { retry }));
        assert_eq!(Question::Release.read("released"), Some(Answer::Released));
        assert_eq!(
            Question::Renew.read("renewed until_ms=3"),
            Some(Answer::Renewed { until: Some(Until::In(3)) })
        );
        let at = Some(Answer::Renewed { until: Some(Until::At(1_700_000_000_003)) });
        assert_eq!(Question::Renew.read("renewed expires_ms=1700000000003"), at);
        assert_eq!(Question::Renew.read("lost"), Some(Answer::Lost));
        assert_eq!(Question::Close.read("closed"), Some(Answer::Closed));
        let error = Answer::Error("connection reset by peer".into());
        assert_eq!(Question::Release.read("error connection reset by peer"), Some(error));
    }

    #[test]
    fn what_is_no_answer_to_the_question_is_not_taken_for_one() {
        let refused =
            ["refused 3", "refused retry_ms=x", "refused retry_ms=-1", "refused retry_ms=1 retry_ms=2"];
        let granted = ["", "Granted", "granted token=x", "granted maybe", "released", "granted token"];
        let twice = ["granted token=1 token=2", "granted until_ms=1 expires_ms=2", "granted owner=a owner=a"];
        for line in refused.iter().chain(&granted).chain(&twice) {
            assert_eq!(Question::Acquire.read(line), None, "{line}");
        }
        assert_eq!(Question::Release.read("granted"), None);
        assert_eq!(Question::Close.read("released"), None);
        assert_eq!(Question::Renew.read("renewed token=1"), None);
    }

    proptest! {
        #[test]
        fn no_line_breaks_the_reader(line in ".*") {
            for question in [Question::Acquire, Question::Release, Question::Renew] {
                let _ = question.read(&line);
            }
        }
    }
}
