//! The settings of a gate: its lock, its scenarios and seeds, what is allowed, and where its files are.

use std::num::NonZero;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use picklock_model::span::Span;
use picklock_sim::design::Design;
use picklock_sim::engine::Engine;

/// Enough to find what is common, in about a second.
const SEEDS: Range<u64> = 0..200;

/// Tests a lock; see [`Gate`].
pub fn gate(design: impl Into<Design>) -> Gate {
    Gate {
        design: design.into(),
        asked: Vec::new(),
        settings: Vec::new(),
        seeds: None,
        engine: Engine::Event,
        jobs: std::thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN),
        out: None,
        confirm: true,
        allowed: Vec::new(),
        no_worse_than: None,
        kinds: None,
        budget: None,
        regressions: None,
    }
}

/// The request for a test; made by [`gate`].
///
/// Without scenarios it runs those of the built-in suite that apply to the design. It ends in
/// [`assert_holds`](Gate::assert_holds), [`assert_violates`](Gate::assert_violates) or [`run`](Gate::run).
///
/// ```
/// use std::time::Duration;
///
/// use picklock::sim::design::spell;
///
/// let design = spell(picklock::impls::families(), "single-fenced{belief=honest}")?;
/// picklock::gate(design)
///     .scenarios(["calm", "client-crash"])
///     .ttl(Duration::from_millis(500))
///     .latency(Duration::from_millis(1), Duration::from_millis(8))
///     .set("clients=4")
///     .seeds(20)
///     .assert_holds();
///
/// // A lease with a naive holder: no test of it can be green under pauses that does not say what it lets pass.
/// let lease = spell(picklock::impls::families(), "single")?;
/// picklock::gate(lease)
///     .scenarios(["calm", "pause"])
///     .allow("pause", ["mutual-exclusion", "effective-exclusion", "no-lost-update"])
///     .seeds(20)
///     .assert_holds();
/// # Ok::<(), picklock::sim::design::SpellingError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "nothing is run before `assert_holds`, `assert_violates` or `run`"]
pub struct Gate {
    pub(super) design: Design,
    /// Empty: the built-in suite.
    pub(super) asked: Vec<Asked>,
    pub(super) settings: Vec<String>,
    /// `None`: as many as usual, or as the budget has room for.
    pub(super) seeds: Option<Range<u64>>,
    pub(super) engine: Engine,
    pub(super) jobs: NonZero<usize>,
    /// `None`: `picklock` in the build's target directory.
    pub(super) out: Option<PathBuf>,
    pub(super) confirm: bool,
    /// Scenarios, and what may be violated under each.
    pub(super) allowed: Vec<(String, Vec<String>)>,
    /// A design that comes with picklock.
    pub(super) no_worse_than: Option<String>,
    /// The kinds of faults to place one by one, all if empty; `None`: nothing is explored.
    pub(super) kinds: Option<Vec<String>>,
    pub(super) budget: Option<Duration>,
    /// `None`: `tests/regressions` of the crate under test, if it is there.
    pub(super) regressions: Option<PathBuf>,
}

/// A scenario asked for.
#[derive(Clone, Debug)]
pub(super) enum Asked {
    /// One of the built-in suite.
    Named(String),
    /// A file.
    File(PathBuf),
}

/// Which seeds are run: so many from 0 on, or a range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seeds(pub(super) Range<u64>);

impl From<u64> for Seeds {
    fn from(count: u64) -> Seeds {
        Seeds(0..count)
    }
}

impl From<Range<u64>> for Seeds {
    fn from(range: Range<u64>) -> Seeds {
        Seeds(range)
    }
}

impl Gate {
    /// Adds scenarios: names of the built-in suite (`picklock list scenarios` shows them), or paths of files, which end
    /// in `.toml`.
    pub fn scenarios<S: Into<String>>(mut self, scenarios: impl IntoIterator<Item = S>) -> Gate {
        self.asked.extend(scenarios.into_iter().map(|scenario| {
            let scenario = scenario.into();
            let is_file = Path::new(&scenario).extension().is_some_and(|ending| ending == "toml");
            if is_file { Asked::File(scenario.into()) } else { Asked::Named(scenario) }
        }));
        self
    }

    /// Adds a scenario file. Tests run in the directory of their package, so the path may be relative to that.
    pub fn scenario_file(mut self, path: impl Into<PathBuf>) -> Gate {
        self.asked.push(Asked::File(path.into()));
        self
    }

    /// Which seeds are run of every scenario: `.seeds(1_000)`, or `.seeds(17..18)`. 200 if not said.
    pub fn seeds(mut self, seeds: impl Into<Seeds>) -> Gate {
        self.seeds = Some(seeds.into().0);
        self
    }

    /// The lease time that clients ask for, from 10 ms to 300 s; `1s` if neither this nor the scenario says otherwise.
    pub fn ttl(self, ttl: Duration) -> Gate {
        self.set(format!("ttl={}", Span::Fixed(ttl)))
    }

    /// One-way latency of a message. Half of the messages take no longer than an eighth of the way from `min` to `max`.
    pub fn latency(self, min: Duration, max: Duration) -> Gate {
        self.set(format!("latency={}..{}", Span::Fixed(min), Span::Fixed(max)))
    }

    /// How long a section works while it holds the lock.
    pub fn work(self, min: Duration, max: Duration) -> Gate {
        self.set(format!("work={}..{}", Span::Fixed(min), Span::Fixed(max)))
    }

    /// Sets any parameter of the scenarios that have it, as `--set` of the command line does: `clients=5`,
    /// `pause.for=1s..2s`. One that no scenario has is an error.
    pub fn set(mut self, setting: impl Into<String>) -> Gate {
        self.settings.push(setting.into());
        self
    }

    /// The engine of the runs; [`Engine::Event`] if not said.
    pub fn engine(mut self, engine: Engine) -> Gate {
        self.engine = engine;
        self
    }

    /// How many threads make the runs, at least one; one for each core if not said. The result is the same.
    pub fn jobs(mut self, jobs: usize) -> Gate {
        self.jobs = NonZero::new(jobs).unwrap_or(NonZero::<usize>::MIN);
        self
    }

    /// Where violating runs are kept, as files in `repro`; `picklock` in the build's target directory if not said.
    pub fn out(mut self, directory: impl Into<PathBuf>) -> Gate {
        self.out = Some(directory.into());
        self
    }

    /// True if violations are tried on the turmoil engine, too, under 16 networks; they are if not said. The result is
    /// shown and changes no verdict.
    pub fn confirm(mut self, confirm: bool) -> Gate {
        self.confirm = confirm;
        self
    }

    /// Allows these invariants to be violated under a scenario, because no lock of this kind can keep them there: under
    /// `pause`, a lease ends while its holder sleeps. May be repeated. Every other violation fails the gate, as before, and what
    /// was allowed and is never needed is noted on the page.
    pub fn allow<S: Into<String>>(
        mut self,
        scenario: impl Into<String>,
        invariants: impl IntoIterator<Item = S>,
    ) -> Gate {
        self.allowed.push((scenario.into(), invariants.into_iter().map(Into::into).collect()));
        self
    }

    /// Allows what a design that comes with picklock is known to violate, under each scenario of the built-in suite:
    /// `.no_worse_than("watchdog")`. What that design keeps, this one has to keep. The last one counts.
    pub fn no_worse_than(mut self, design: impl Into<String>) -> Gate {
        self.no_worse_than = Some(design.into());
        self
    }

    /// Besides the scenarios, hits once at every step that a fault-free run takes, with every kind of fault, one run for each.
    ///
    /// A kind of fault may violate what is allowed under the scenario of the same fault: `crash` is that of `client-crash`,
    /// `cut` that of `client-partition`, `restart` that of `node-restart`, and each other one has its own name. An allowed
    /// violation may name a kind as well, such as `cancel`, which no scenario has.
    pub fn explore(self) -> Gate {
        self.explore_only::<String>([])
    }

    /// As [`explore`](Gate::explore), with these kinds of faults: `pause`, `suspend`, `stall`, `crash`, `restart`, `delay`,
    /// `lost-request`, `lost-reply`, `error-reply`, `cut`, `cancel`, `clock-step`. None means all.
    pub fn explore_only<S: Into<String>>(mut self, kinds: impl IntoIterator<Item = S>) -> Gate {
        let kinds = kinds.into_iter().map(Into::into);
        self.kinds.get_or_insert_default().extend(kinds);
        self
    }

    /// Begins no further seeds after this long. All scenarios are run with the same seeds, one seed after the other, and an
    /// exploration has the share of one scenario, and what these leave. Without [`seeds`](Gate::seeds) it makes as many runs as
    /// there is time for. Violations are reduced and reported after that.
    pub fn budget(mut self, budget: Duration) -> Gate {
        self.budget = Some(budget);
        self
    }

    /// Where runs are kept that this lock once failed in: every repro file there, a file that ends in `.json`, is run first.
    /// `tests/regressions` of the crate under test if not said.
    pub fn regressions(mut self, directory: impl Into<PathBuf>) -> Gate {
        self.regressions = Some(directory.into());
        self
    }
}

impl Gate {
    /// The seeds of every scenario.
    pub(super) fn range(&self) -> Range<u64> {
        let usual = if self.budget.is_some() { 0..u64::MAX } else { SEEDS };
        self.seeds.clone().unwrap_or(usual)
    }

    /// The head of the page: all that is run.
    pub(super) fn said(&self) -> String {
        let seeds = match self.range() {
            Range { start, end: u64::MAX } => format!("seeds from {start} on"),
            Range { start, end } => format!("seeds {start}..{end}"),
        };
        let settings: String = self.settings.iter().map(|setting| format!(", {setting}")).collect();
        let budget = self.budget.map(|budget| format!(", for {}", Span::Fixed(budget))).unwrap_or_default();
        format!("picklock::gate({}) on {}, {seeds}{budget}{settings}", self.design.name, self.engine)
    }
}
