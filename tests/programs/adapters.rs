//! The adapters that come with picklock, with the libraries that they are written for: nothing is found where nothing goes wrong, two
//! holders where a client pauses, and the same each time.
//!
//! They are there once `examples/adapters/build` has run, in `target/adapters` or the directory that `PICKLOCK_ADAPTERS` names. What
//! is not is skipped, with a message. By day, those of Java that start slowest are skipped as well, and nothing is
//! renewed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use picklock_programs::servers;
use picklock_testing::skip;

use crate::binary::{directory, run_in};
use crate::can_run::can_run;
use crate::ensemble::Runs;
use crate::nightly::by_day_or_night;

/// The first client stands still at its work, for long enough that the second one is granted the lock, and for longer than that works.
const PAUSE: [&str; 7] = [
    "sections=1",
    "head_start=0.3 x ttl",
    "first_work=2 x ttl",
    "pause.client=1",
    "pause.phase=work",
    "pause.for=2 x ttl..4 x ttl",
    "work=0.2 x ttl..0.3 x ttl",
];

/// Where the adapters are built.
fn built() -> PathBuf {
    let usual = || Path::new(env!("CARGO_MANIFEST_DIR")).join("target/adapters");
    std::env::var_os("PICKLOCK_ADAPTERS").map_or_else(usual, PathBuf::from)
}

/// An adapter on its stores.
struct Adapter {
    /// What stands in braces: the stores, the belief.
    params: &'static str,
    /// `@/` stands for where adapters are built, `%` for where their sources are.
    command: &'static str,
    /// The lease that its stores grant, as a setting.
    ttl: &'static str,
    /// What stands in braces besides where it is to keep its lock for longer than the lease, if it can: nothing if it renews by itself.
    renews: Option<&'static str>,
}

impl Adapter {
    fn on_redis(stores: u32, command: &'static str) -> Adapter {
        let params = if stores == 1 { "" } else { "stores=3" };
        Adapter { params, command, ttl: "ttl=1s", renews: Some("renew=yes") }
    }

    /// Its runs, if its files are there.
    fn runs(&self, more: &str) -> Option<Runs> {
        if !can_run(&[]) {
            return None;
        }
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/adapters");
        let command = self
            .command
            .replace("@/", &format!("{}/", built().display()))
            .replace('%', sources.to_str().unwrap());
        let files = command.split([' ', ':']).map(|word| word.trim_end_matches("/*"));
        if let Some(file) = files.filter(|word| word.starts_with('/')).find(|file| !Path::new(file).exists())
        {
            skip(format_args!("{file} is not there: run examples/adapters/build"));
            return None;
        }
        let params: Vec<&str> = [self.params, more].into_iter().filter(|some| !some.is_empty()).collect();
        Some(Runs { spelling: format!("program{{{}}}:{command}", params.join(",")), set: self.ttl })
    }

    /// A campaign makes its first run twice, and fails if it is not the same; at night processes of their own make it again.
    fn is_as_expected(&self) {
        let Some(runs) = self.runs("") else { return };
        let few = ["clients=2"];
        assert_eq!(runs.violations("calm", "1", &few), BTreeMap::new());
        let found = runs.violations("pause", "1", &[few.as_slice(), &PAUSE].concat());
        assert!(found.contains_key("mutual-exclusion"), "{}: {found:?}", runs.spelling);
        if by_day_or_night(true, false) {
            return;
        }
        if let Some(renewing) = self.renews.and_then(|renews| self.runs(renews)) {
            assert_eq!(renewing.violations("long-work", "2", &few), BTreeMap::new());
        }
        let first = runs.digest("pause", "1", &few);
        (0..2).for_each(|_| assert_eq!(runs.digest("pause", "1", &few), first, "{}", runs.spelling));
    }
}

fn is_as_expected(command: &'static str, stores: u32) {
    Adapter::on_redis(stores, command).is_as_expected();
}

/// A JVM with the flags that its page in the guide names.
macro_rules! java {
    ($folder:literal, $words:literal) => {
        java!($folder, $words, " -Xbatch")
    };
    ($folder:literal, $words:literal, $compiler:literal) => {
        concat!(
            "java -XX:-UsePerfData -XX:+UseSerialGC -XX:TieredStopAtLevel=1",
            $compiler,
            " -Xlog:disable -Xlog:all=warning:stderr -cp @/",
            $folder,
            "/lib/*:@/",
            $folder,
            "/adapters.jar ",
            $words
        )
    };
}

/// True at night: a JVM that starts slowly has no time by day.
fn is_night() -> bool {
    let night = by_day_or_night(false, true);
    if !night {
        skip("a test of the night, with PICKLOCK_NIGHTLY set");
    }
    night
}

/// True if a server is installed.
fn is_installed(server: &str) -> bool {
    let there = servers::version(server).is_some();
    if !there {
        skip(format_args!("{server} is not installed"));
    }
    there
}

#[test]
fn a_story_names_the_calls_of_a_client_on_grpc() {
    let adapter = Adapter { params: "topology=real-etcd:1", ..Adapter::on_redis(1, "@/go/etcd mutex") };
    let Some(runs) = adapter.runs("").filter(|_| is_installed("etcd")) else { return };
    let args = ["replay", &runs.spelling, "pause", "1", "--set", "ttl=2s", "--set", "clients=2"];
    let output = run_in(directory().path(), &args);
    let said = output.stdout.replace(|character| "┊│▓".contains(character), " ");
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    for call in [
        "Lease/LeaseGrant ttl=2s → LeaseGrant lease=",
        "KV/Txn if create(lock:1/",
        ")=0 then Put lock:1/",
        "→ Txn succeeded=true rev=2: Put,",
        "KV/Range lock:1/* last=create limit=1 max_create=",
        "Watch/Watch lock:1/",
        "→ Watch 0 is created rev=",
    ] {
        assert!(said.contains(call), "{call}: {}{}", output.stdout, output.stderr);
    }
}

#[test]
fn redis_py_is_as_expected() {
    is_as_expected("@/python/bin/python %/redis_py.py", 1);
}

#[test]
fn redis_py_s_asyncio_is_as_expected() {
    is_as_expected("@/python/bin/python %/redis_py_asyncio.py", 1);
}

#[test]
fn python_redis_lock_is_as_expected() {
    is_as_expected("@/python/bin/python %/python_redis_lock.py", 1);
}

#[test]
fn pottery_s_redlock_is_as_expected() {
    is_as_expected("@/python/bin/python %/pottery_redlock.py", 3);
}

#[test]
fn redlock_py_is_as_expected() {
    let adapter = Adapter::on_redis(3, "@/python/bin/python %/redlock_py.py");
    Adapter { renews: None, ..adapter }.is_as_expected();
}

#[test]
fn redlock_4_on_ioredis_is_as_expected() {
    is_as_expected("node @/node/redlock.js", 3);
}

#[test]
fn redlock_5_on_ioredis_is_as_expected() {
    is_as_expected("node @/node/redlock5.mjs", 3);
}

#[test]
fn node_redis_is_as_expected() {
    is_as_expected("node @/node/node_redis.mjs", 1);
}

#[test]
fn a_lease_in_go_is_as_expected() {
    is_as_expected("@/go/lease", 1);
}

#[test]
fn redsync_is_as_expected() {
    is_as_expected("@/go/redsync", 3);
}

#[test]
fn a_lease_in_java_is_as_expected() {
    is_as_expected("java -XX:-UsePerfData -cp @/java/lease.jar Lease", 1);
}

#[test]
fn rslock_is_as_expected() {
    is_as_expected("@/rust/rslock", 3);
}

#[test]
fn the_redis_crate_s_connection_manager_is_as_expected() {
    is_as_expected("@/rust/connection_manager", 1);
}

#[test]
fn ioredis_is_as_expected() {
    is_as_expected("node @/node/ioredis.js", 1);
}

#[test]
fn redlock_of_sesamecare_is_as_expected() {
    is_as_expected("node @/node/redlock5.mjs @sesamecare-oss/redlock", 3);
}

#[test]
fn redis_semaphore_s_mutex_is_as_expected() {
    Adapter { renews: Some(""), ..Adapter::on_redis(1, "node @/node/redis_semaphore.mjs") }.is_as_expected();
}

#[test]
fn redis_semaphore_s_redlock_mutex_is_as_expected() {
    Adapter { renews: Some(""), ..Adapter::on_redis(3, "node @/node/redis_semaphore.mjs") }.is_as_expected();
}

#[test]
fn simple_redis_mutex_is_as_expected() {
    is_as_expected("node @/node/simple_redis_mutex.mjs", 1);
}

#[test]
fn redislock_is_as_expected() {
    is_as_expected("@/go/redislock", 1);
}

#[test]
fn rueidislock_is_as_expected() {
    Adapter { renews: Some(""), ..Adapter::on_redis(1, "@/go/rueidislock") }.is_as_expected();
}

#[test]
fn jedis_is_as_expected() {
    is_as_expected(java!("java", "JedisLock"), 1);
}

#[test]
fn lettuce_is_as_expected() {
    if is_night() {
        is_as_expected(java!("java", "LettuceLock"), 1);
    }
}

#[test]
fn shedlock_is_as_expected() {
    if is_night() {
        is_as_expected(java!("java", "ShedLock"), 1);
    }
}

#[test]
fn redisson_is_as_expected() {
    let adapter = Adapter { renews: Some(""), ..Adapter::on_redis(1, java!("java", "RedissonLocks lock")) };
    adapter.is_as_expected();
}

/// What a warm start finds is the same each time, whichever process warms up.
#[test]
fn redisson_is_warmed_up() {
    let adapter = Adapter::on_redis(1, java!("java", "RedissonLocks lock"));
    let Some(runs) = adapter.runs("warm=yes") else { return };
    let few = ["clients=2"];
    assert_eq!(runs.violations("calm", "3", &few), BTreeMap::new());
    assert_eq!(runs.digest("pause", "1", &few), runs.digest("pause", "1", &few));
}

#[test]
fn redisson_finds_its_primary_by_sentinels() {
    let adapter =
        Adapter { params: "topology=sentinel", ..Adapter::on_redis(1, java!("java", "RedissonLocks lock")) };
    if let Some(runs) = adapter.runs("").filter(|_| is_night()) {
        let few = ["clients=2", "sections=1"];
        assert_eq!(runs.violations("calm", "1", &few), BTreeMap::new());
        assert_eq!(runs.digest("failover", "1", &few), runs.digest("failover", "1", &few));
    }
}

#[test]
fn spring_s_lock_registry_is_as_expected() {
    if is_night() {
        let adapter = Adapter { renews: None, ..Adapter::on_redis(1, java!("java", "SpringLocks")) };
        adapter.is_as_expected();
    }
}

#[test]
fn curator_s_mutex_is_as_expected() {
    if is_installed("zookeeper") {
        let (params, command) = ("topology=real-zookeeper:1", java!("java/zookeeper", "CuratorLocks mutex"));
        Adapter { params, command, ttl: "ttl=4s", renews: Some("") }.is_as_expected();
    }
}

/// A session's number is the time at which its server started: the machine was on meanwhile.
#[test]
fn a_zookeeper_that_was_restarted_numbers_its_sessions_anew() {
    let (params, command) = ("topology=real-zookeeper:1", java!("java/zookeeper", "CuratorLocks mutex"));
    let adapter = Adapter { params, command, ttl: "ttl=4s", renews: None };
    let Some(runs) = adapter.runs("").filter(|_| is_installed("zookeeper")) else { return };
    let mut args = vec!["replay", &runs.spelling, "node-restart", "0", "--full"];
    // The server is gone for longer than a session lasts, and clients come back with new ones.
    for set in ["ttl=4s", "clients=2", "power_loss=no", "restart_after=1.3 x ttl..2 x ttl", "horizon=8 x ttl"]
    {
        args.extend(["--set", set]);
    }
    let output = run_in(directory().path(), &args);
    let sessions: Vec<&str> =
        output.stdout.split_whitespace().filter(|word| word.starts_with("0x1000")).collect();
    let distinct: BTreeSet<&str> = sessions.iter().copied().collect();
    assert!(sessions.len() > 3 && distinct.len() == sessions.len(), "{sessions:?}: {}", output.stderr);
}

#[test]
fn jetcd_s_lock_is_as_expected() {
    if is_installed("etcd") {
        let (params, command) = ("topology=real-etcd:1", java!("java/etcd", "JetcdLock", ""));
        Adapter { params, command, ttl: "ttl=2s", renews: None }.is_as_expected();
    }
}

#[test]
fn etcd_s_mutex_in_go_is_as_expected() {
    if is_installed("etcd") {
        Adapter {
            params: "topology=real-etcd:1",
            command: "@/go/etcd mutex",
            ttl: "ttl=2s",
            renews: Some(""),
        }
        .is_as_expected();
    }
}

/// Nothing has to be installed for members that are simulated.
#[test]
fn locks_on_simulated_members_are_as_expected() {
    for (params, command, ttl) in [
        ("topology=simulated-etcd:3", "@/go/etcd mutex", "ttl=2s"),
        ("topology=simulated-zookeeper:3", "@/python/bin/python %/kazoo_lock.py", "ttl=4s"),
    ] {
        Adapter { params, command, ttl, renews: Some("") }.is_as_expected();
    }
}

#[test]
fn clients_of_a_cluster_are_as_expected() {
    for (command, renews) in [
        ("@/python/bin/python %/redis_py.py", "renew=yes"),
        ("node @/node/ioredis.js", "renew=yes"),
        ("@/go/redislock", "renew=yes"),
        ("@/go/rueidislock", ""),
    ] {
        Adapter { params: "topology=cluster:3", renews: Some(renews), ..Adapter::on_redis(1, command) }
            .is_as_expected();
    }
}
