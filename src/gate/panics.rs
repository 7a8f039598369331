//! Panics of code under test: a known panic is reported with its cause and the remedy, without a backtrace that ends in tokio.

use std::backtrace::Backtrace;
use std::cell::{Cell, RefCell};
use std::fmt::Display;
use std::panic::{self, PanicHookInfo};
use std::path::Path;
use std::sync::Once;

use picklock_sim::run::is_under_way;

/// A panic as it was seen where it happened.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    /// File and line of the lock's own code, if they are known.
    pub(super) place: Option<String>,
    /// The kind of the panic, if it is known.
    pub(super) kind: Option<&'static Kind>,
}

/// A kind of panic that is known.
#[derive(Debug)]
pub(super) struct Kind {
    /// The cause, and the remedy.
    pub(super) remedy: &'static str,
    /// The message holds one of these.
    says: &'static [&'static str],
    /// The names of the functions that led there, or the file that panicked, hold one of these; anything if there are none.
    /// Without line tables a backtrace lacks all that was inlined, and the file is what is left.
    through: &'static [&'static str],
}

/// From the most special to the most general.
static KINDS: [Kind; 8] = [
    Kind {
        remedy: "It opens a socket of the machine with the redis crate's own Client, which leads out of the simulated world: \
                 make its connections by Connection::to, which takes the same commands.",
        says: &[TIMERS, IO, REACTOR],
        through: &[
            "redis::client::",
            "redis::aio::connection_manager",
            "redis::aio::tokio",
            "redis::cluster",
        ],
    },
    Kind {
        remedy: "It opens a socket of the machine, which leads out of the simulated world: use Connection::to, or \
                 Host::connect for a stream that any client can work on.",
        says: &[TIMERS, IO, REACTOR],
        through: &["tokio::net::", "hyper_util::client", "reqwest::", "tokio_postgres::connect"],
    },
    Kind {
        remedy: "It opens a socket of the machine, or waits for a signal or a child process, and all of these lead out of the \
                 simulated world: use Connection::to or Host::connect.",
        says: &[IO],
        through: &[],
    },
    Kind {
        remedy: "A time limit of the redis crate is on the machine's time, which no host's clock follows, and its own Client opens \
                 a socket of the machine: use Connection::to, or set_response_timeout(None) and set_connection_timeout(None), \
                 and put Host::timeout around the call.",
        says: &[TIMERS],
        through: &["redis::", "/redis-"],
    },
    Kind {
        remedy: "It waits on tokio::time, which does not follow its host's clock and has no place in a simulated world: use \
                 Host::sleep, Host::sleep_until and Host::timeout.",
        says: &[TIMERS],
        through: &[],
    },
    Kind {
        remedy: "It blocks its thread on a runtime, and all hosts of a run share that thread: make the function async and await \
                 what it blocks on.",
        says: &[
            "Cannot start a runtime from within a runtime",
            "Cannot block the current thread from within a runtime",
            "can call blocking only when running on the multi-threaded runtime",
            "Cannot drop a runtime in a context where blocking is not allowed",
        ],
        through: &[],
    },
    Kind {
        remedy: "It works in a thread of its own (std::thread, spawn_blocking), which does not stand still or die with its host: \
                 start tasks with Host::spawn.",
        says: &[REACTOR, "a host is used on the thread of its run"],
        through: &[],
    },
    Kind {
        remedy: "It asks again and again without waiting in between, and in a simulated world no time passes while code runs: \
                 wait with Host::sleep between two tries.",
        says: &["the lock spins"],
        through: &[],
    },
];

const TIMERS: &str = "timers are disabled";
const IO: &str = "IO is disabled";
const REACTOR: &str = "there is no reactor running";

thread_local! {
    /// The last panic.
    static LAST: RefCell<Option<Seen>> = const { RefCell::new(None) };
    /// True if this thread is about to fail on purpose.
    static FAILING: Cell<bool> = const { Cell::new(false) };
}

/// Sees to it that panics are looked at. What they print without picklock they print as before, unless picklock knows better.
pub(super) fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !is_reported(info) {
                before(info);
            }
        }));
    });
}

/// The last panic of this thread's code under test, with this message.
pub(super) fn last(message: &str) -> Seen {
    LAST.take().unwrap_or_else(|| Seen { place: None, kind: kind(message, String::new) })
}

/// Fails the test. Where in picklock that was says nothing, so there is no backtrace.
#[track_caller]
pub(super) fn fail(why: &dyn Display) -> ! {
    install();
    FAILING.set(true);
    panic!("{why}")
}

/// True if nothing else is to be printed of a panic.
fn is_reported(info: &PanicHookInfo<'_>) -> bool {
    if FAILING.take() {
        let place = info.location().map(|at| format!(" at {at}")).unwrap_or_default();
        let thread = std::thread::current();
        let name = thread.name().unwrap_or("of no name").to_owned();
        eprintln!("\nthread '{name}' failed{place}:\n{}", info.payload_as_str().unwrap_or_default());
        return true;
    }
    if !is_under_way() {
        return false;
    }
    let frames = std::cell::OnceCell::new();
    let thrown = info.location().map(ToString::to_string);
    let at = thrown.as_deref().unwrap_or_default();
    let frames = || frames.get_or_init(|| format!("{at}\n{}", Backtrace::force_capture())).clone();
    let kind = kind(info.payload_as_str().unwrap_or_default(), frames);
    let thrown = thrown.clone().filter(|place| is_own(place));
    // Only where tokio or a library panics does it take the frames to find whose call that was.
    let place = thrown.or_else(|| kind.and_then(|_| own_place(&frames())));
    LAST.set(Some(Seen { place, kind }));
    kind.is_some()
}

fn kind(message: &str, frames: impl Fn() -> String) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| {
        let led = || {
            let frames = frames();
            kind.through.iter().any(|name| frames.contains(name))
        };
        kind.says.iter().any(|part| message.contains(part)) && (kind.through.is_empty() || led())
    })
}

/// True if a file is of the package under test, and not of a library or the compiler's.
fn is_own(place: &str) -> bool {
    !place.starts_with("/rustc/") && !place.contains("/registry/src/") && !place.contains("/git/checkouts/")
}

/// The innermost line of a backtrace that lies below the directory of the package under test, and not in picklock itself, which may
/// lie there as well. A library that was built elsewhere can bear a relative name, too: the file must be there.
fn own_place(frames: &str) -> Option<String> {
    let here = std::env::current_dir().unwrap_or_default();
    let house = Path::new(env!("CARGO_MANIFEST_DIR"));
    let ours = ["src", "model", "sim", "judge", "stores", "impls", "scenarios", "campaign"]
        .map(|room| house.join(room));
    let own = |line: &str| {
        let place = line.trim_start().strip_prefix("at ./")?;
        let is_ours = ours.iter().any(|room| here.join(place).starts_with(room));
        let file = place.split(':').next().unwrap_or_default();
        (!is_ours && here.join(file).is_file()).then(|| place.to_owned())
    };
    frames.lines().find_map(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remedy(message: &str, frames: &str) -> &'static str {
        kind(message, || frames.to_owned()).map_or("unknown", |kind| kind.remedy)
    }

    #[test]
    fn a_timeout_on_the_way_to_a_socket_is_reported_as_a_socket() {
        let message = "A Tokio 1.x context was found, but timers are disabled.";
        let through = "redis::client::Client::get_multiplexed_async_connection::{{closure}}";
        assert!(remedy(message, through).contains("opens a socket of the machine"));
        assert!(remedy(message, "mine::Lease::wait").contains("waits on tokio::time"));
        assert!(remedy(message, "redis::aio::multiplexed_connection").contains("set_response_timeout(None)"));
        let inlined = "/root/.cargo/registry/src/x/redis-1.8.1/src/aio/runtime.rs:157:28";
        assert!(remedy(message, inlined).contains("opens a socket of the machine"));
    }

    #[test]
    fn every_known_message_has_its_remedy_and_no_other_has_one() {
        for (message, part) in [
            ("A Tokio 1.x context was found, but IO is disabled. Call `enable_io`", "socket of the machine"),
            (
                "there is no reactor running, must be called from the context of a Tokio 1.x runtime",
                "thread of its own",
            ),
            ("Cannot start a runtime from within a runtime.", "blocks its thread"),
            ("can call blocking only when running on the multi-threaded runtime", "blocks its thread"),
            ("the lock spins: it is polled again and again", "Host::sleep between"),
        ] {
            assert!(remedy(message, "").contains(part), "{message}");
        }
        assert_eq!(remedy("index out of bounds", "redis::client::Client"), "unknown");
    }

    #[test]
    fn the_place_is_the_innermost_line_of_the_package() {
        let frames = "  3: tokio::net\n     at /root/.cargo/registry/src/x/tokio/net.rs:1:2\n  4: mine\n     at ./src/gate/panics.rs:1:1\n  5: start\n     at ./nptl/pthread_create.c:442:8\n  6: mine\n     at ./tests/gate/main.rs:20:9\n     at ./tests/gate/assertions.rs:3:1";
        assert_eq!(own_place(frames).as_deref(), Some("tests/gate/main.rs:20:9"));
        assert!(is_own("src/lease.rs:20:9") && !is_own("/root/.cargo/registry/src/x/tokio/net.rs:1:2"));
    }
}
