//! The determinism check of a design: each plan is run twice, and the first event that differs is named with its likely
//! cause.
//!
//! A lock that reads the machine's clock, walks through a hash map in whatever order it has, opens a socket or spawns a thread
//! does something else in every run. Then no seed replays and no counterexample can be believed. What made the difference is guessed
//! from what differs: a number that is the time of day, the same steps in another order, a text that was drawn. Threads and
//! sockets of the process are counted while it runs, where the system shows them (Linux); not while a program runs, whose
//! supervisor has sockets of its own.

mod advice;
mod cause;
mod watch;

use std::fmt;

use picklock_model::plan::Plan;
use picklock_model::trace::{Digest, Trace};
use picklock_sim::design::Design;
use picklock_sim::engine::Engine;

pub use self::advice::{Code, Language};
pub use self::cause::Cause;
use self::watch::Watch;
use crate::check::{self, CheckError, Checked};

/// So much of an event is shown in a message.
const EVENT_CHARS: usize = 200;

/// The result for one plan.
pub struct DeterminismCheck {
    /// The digest of the first run.
    pub digest: Digest,
    /// The first difference between two runs of it.
    pub difference: Option<Difference>,
    /// The forbidden operations of the process meanwhile: threads and sockets of the machine.
    pub noticed: Vec<Cause>,
    /// The owner of the code that did it.
    pub code: Code,
}

/// Two runs of one plan that are not the same.
pub struct Difference {
    /// The runs.
    pub runs: [Checked; 2],
    /// The position of the first event that differs, or that only one of them has.
    pub position: usize,
    /// Its probable cause.
    pub cause: Cause,
    /// The owner of the code that did it.
    pub code: Code,
}

/// The first of two runs if they are the same.
///
/// # Errors
/// When they are not.
pub fn the_same(design: &Design, runs: [Checked; 2]) -> Result<Checked, Box<Difference>> {
    let Some(position) = differ(runs.each_ref().map(|run| &run.trace)) else {
        let [run, _] = runs;
        return Ok(run);
    };
    let cause = cause::guess(runs.each_ref(), position);
    Err(Box::new(Difference { runs, position, cause, code: Code::of(design) }))
}

/// Runs a plan twice and compares.
///
/// # Errors
/// When the design's code panics.
pub fn check(engine: Engine, design: &Design, plan: &Plan) -> Result<DeterminismCheck, CheckError> {
    let code = Code::of(design);
    let watch = (code == Code::Host).then(Watch::start);
    let runs = twice(engine, design, plan)?;
    let noticed = watch.map(Watch::stop).unwrap_or_default();
    let digest = runs[0].trace.digest;
    let difference = the_same(design, runs).err().map(|difference| {
        let cause = noticed.first().copied().unwrap_or(difference.cause);
        Difference { cause, ..*difference }
    });
    Ok(DeterminismCheck { digest, difference, noticed, code })
}

/// Makes two runs of a plan that are to be compared, with the bytes of their segments.
///
/// # Errors
/// When the design's code panics.
pub fn twice(engine: Engine, design: &Design, plan: &Plan) -> Result<[Checked; 2], CheckError> {
    let run = || check::check(check::Options::from(engine).with_wire(), design, plan.clone());
    Ok([run()?, run()?])
}

/// The text of a [`Difference`], for a message: the first event that differs, and its probable cause.
#[derive(Clone, Debug)]
pub struct DifferenceReport {
    /// Its probable cause.
    pub cause: Cause,
    /// The owner of the code that did it.
    pub code: Code,
    /// The first event that differs as either run has it, in a line each.
    pub events: [String; 2],
}

impl DifferenceReport {
    /// The first difference between two runs of one seed, if there is one: in what happened, or in the faults that were drawn for them.
    #[must_use]
    pub fn between(design: &Design, runs: [&Checked; 2]) -> Option<DifferenceReport> {
        let code = Code::of(design);
        if let Some(position) = differ(runs.map(|run| &run.trace)) {
            let (cause, events) =
                (cause::guess(runs, position), runs.map(|run| event_line(&run.trace, position)));
            return Some(DifferenceReport { cause, code, events });
        }
        let drawn = runs.map(|run| shown(&format!("it drew {:?}", run.plan.injections)));
        (runs[0].plan != runs[1].plan).then_some(DifferenceReport {
            cause: Cause::Unknown,
            code,
            events: drawn,
        })
    }
}

impl fmt::Display for DifferenceReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DifferenceReport { cause, code, events: [once, again] } = self;
        writeln!(f, "  once:  {once}\n  again: {again}")?;
        write!(f, "  likely cause: {}\n  instead: {}", code.cause(*cause), code.remedy(*cause))
    }
}

/// An event for a message: when, where and what.
fn event_line(trace: &Trace, position: usize) -> String {
    let Some(event) = trace.events.get(position) else { return "the end of the run".to_owned() };
    let what = shown(&format!("{:?}", event.what));
    format!("{} {} {what}", event.at, trace.hosts[usize::from(event.host.0)].name)
}

fn shown(text: &str) -> String {
    text.chars().take(EVENT_CHARS).collect()
}

/// The position of the first event that differs. Equal digests are equal runs.
fn differ([one, other]: [&Trace; 2]) -> Option<usize> {
    if one.digest == other.digest {
        return None;
    }
    let position = one.events.iter().zip(&other.events).position(|(one, other)| one != other);
    Some(position.unwrap_or_else(|| one.events.len().min(other.events.len())))
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "what these locks do is what no lock may do"
)]
mod tests {
    use std::collections::HashMap;
    use std::net::{Ipv4Addr, TcpListener, TcpStream};
    use std::sync::{Mutex, PoisonError};
    use std::time::{Duration, SystemTime};

    use picklock_model::ids::Key;
    use picklock_model::seed::Seed;
    use picklock_sim::host::Host;
    use picklock_sim::lock::{Client, Grant, Lock, LockError};

    use super::*;
    use picklock_scenarios::scenario::Scenario;

    /// Grants everything, after something that a lock must not do.
    struct Careless(Host, fn(&Host) -> Deed);

    /// The result of such a thing: the owner's name, and how long it takes.
    struct Deed(String, Duration);

    impl Lock for Careless {
        async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
            let Deed(owner, takes) = (self.1)(&self.0);
            self.0.sleep(takes).await;
            Ok(Some(Grant::new(key, owner)))
        }

        async fn release(&self, _: Grant) -> Result<(), LockError> {
            Ok(())
        }
    }

    /// The forbidden operations of the whole process are counted, so the checks run one after the other.
    static ALONE: Mutex<()> = Mutex::new(());

    fn checked(deed: fn(&Host) -> Deed) -> DeterminismCheck {
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let design =
            Design::new(
                "careless",
                move |context| async move { Ok(Client::lock(Careless(context.host, deed))) },
            );
        let scenario =
            Scenario::parse("calm.toml", "summary = 'calm'", picklock_scenarios::testing::STORES).unwrap();
        let plan = scenario.plan(&scenario.adapt(&design).unwrap(), Seed(1), None);
        check(Engine::Event, &design, &plan).unwrap()
    }

    fn cause(deed: fn(&Host) -> Deed) -> Option<Cause> {
        let once = |_| checked(deed).difference.map(|difference| difference.cause);
        // Threads are counted in the whole process, and now and then another test begins one.
        (0..8).map(once).find(|cause| *cause != Some(Cause::Thread)).unwrap_or(Some(Cause::Thread))
    }

    fn since_the_epoch() -> Duration {
        SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap()
    }

    #[test]
    fn a_lock_that_does_none_of_this_is_the_same_twice() {
        assert_eq!(cause(|host| Deed(host.rng().owner_id(), Duration::from_millis(3))), None);
    }

    #[test]
    fn the_machine_s_clock_is_known_by_the_time_of_day() {
        let in_a_name = |_: &Host| Deed(format!("owner-{}", since_the_epoch().as_nanos()), Duration::ZERO);
        assert_eq!(cause(in_a_name), Some(Cause::Clock));
    }

    #[test]
    fn a_time_that_is_not_the_host_s_is_known_by_nothing_but_time_that_differs() {
        let in_a_wait = |_: &Host| {
            let nanos = since_the_epoch().subsec_nanos();
            Deed("owner".to_owned(), Duration::from_nanos(u64::from(nanos % 1_000_000)))
        };
        assert_eq!(cause(in_a_wait), Some(Cause::Timing));
    }

    #[test]
    fn a_hash_map_is_known_by_another_order() {
        let walks = |_: &Host| {
            let map: HashMap<u32, u32> = (0..40).map(|n| (n, n)).collect();
            let order: Vec<String> = map.keys().map(u32::to_string).collect();
            Deed(order.join(" "), Duration::ZERO)
        };
        assert_eq!(cause(walks), Some(Cause::Order));
    }

    #[test]
    fn a_name_that_was_drawn_elsewhere_is_known_by_its_letters() {
        let draws = |_: &Host| {
            use std::hash::{BuildHasher as _, RandomState};
            Deed(format!("{:016x}", RandomState::new().hash_one(1)), Duration::ZERO)
        };
        assert_eq!(cause(draws), Some(Cause::Randomness));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_thread_is_seen() {
        let spawns = |_: &Host| {
            let thread = std::thread::spawn(|| std::thread::sleep(Duration::from_millis(20)));
            thread.join().unwrap();
            Deed("owner".to_owned(), Duration::ZERO)
        };
        assert_eq!(checked(spawns).noticed, [Cause::Thread]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_socket_is_seen_and_named() {
        let connects = |_: &Host| {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
            let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            // The time that a request to a real server takes.
            std::thread::sleep(Duration::from_millis(5));
            drop(stream);
            Deed("owner".to_owned(), Duration::ZERO)
        };
        let noticed = checked(connects).noticed;
        let socket = noticed.iter().find(|cause| **cause == Cause::Socket).unwrap();
        assert!(socket.to_string().starts_with("a socket of the machine: "), "{socket}");
    }
}
