//! The gate as the author of a lock meets it: what passes, what fails, and whether the message helps.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use picklock::{
    Connection, Context, Design, GateError, Grant, Host, Key, Lock, LockError, gate, on_redis, replay,
};
use redis::{Script, cmd};

/// SET NX PX and compare-and-delete, with something done before each try.
struct Plain<F> {
    host: Host,
    redis: Connection,
    ttl: Duration,
    before: F,
}

impl<F: AsyncBefore> Lock for Plain<F> {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        let owner = self.before.owner(&self.host).await;
        let mut set = cmd("SET");
        set.arg(key.as_str()).arg(&owner).arg("NX").arg("PX").arg(self.ttl.as_millis() as u64);
        let granted: bool = set.query_async(&mut self.redis.clone()).await?;
        Ok(granted.then(|| Grant::new(key, owner)))
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        let script = Script::new(
            "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end",
        );
        let mut call = script.key(grant.key.as_str());
        Ok(call.arg(&grant.owner).invoke_async(&mut self.redis.clone()).await?)
    }
}

/// Where the owner value comes from: what the locks of these tests differ in.
trait AsyncBefore: Send + Sync + 'static {
    fn owner(&self, host: &Host) -> impl Future<Output = String> + Send;
}

fn design<F: AsyncBefore + Clone>(name: &str, before: F) -> Design {
    on_redis(name, 1, move |context: Context| {
        let before = before.clone();
        async move {
            let redis = Connection::to(&context, 0)?;
            Ok(Plain { host: context.host, redis, ttl: context.ttl, before })
        }
    })
}

#[derive(Clone)]
struct FromHost;

impl AsyncBefore for FromHost {
    async fn owner(&self, host: &Host) -> String {
        host.rng().owner_id()
    }
}

fn plain() -> Design {
    design("plain", FromHost)
}

/// The message of a test that fails.
fn message<T>(run: impl FnOnce() -> T) -> String {
    let panic =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).err().expect("the gate should fail");
    panic.downcast_ref::<String>().cloned().expect("the gate panics with a message")
}

#[test]
fn a_lock_that_does_its_work_passes_and_says_in_how_many_runs() {
    let verdict = gate(plain()).scenarios(["calm"]).seeds(30).assert_holds();
    assert!(verdict.holds());
    assert!(!verdict.violates("mutual-exclusion"));
    assert_eq!(verdict.timeline("mutual-exclusion"), None);
    let page = verdict.to_string();
    assert!(page.contains("0 in 30 runs"), "{page}");
}

#[test]
fn a_violation_fails_with_its_timeline_and_the_line_that_replays_it() {
    let out = tempfile::tempdir().unwrap();
    let gate = gate(plain()).scenarios(["pause"]).seeds(40).out(out.path()).confirm(false);
    let text = message(|| gate.assert_holds());
    let repro = out.path().join("repro/plain.pause.mutual-exclusion.json");
    for part in [
        "`plain` does not hold under scenario `pause`: ",
        "mutual-exclusion in ",
        "◀ first grant",
        "◀ second grant",
        "picklock::replay(design, \"",
        repro.to_str().unwrap(),
        "the whole run: .seeds(",
    ] {
        assert!(text.contains(part), "`{part}` is missing in\n{text}");
    }
}

#[test]
fn a_saved_run_is_made_again_to_the_last_event_and_holds_once_the_lock_is_mended() {
    let out = tempfile::tempdir().unwrap();
    let found = gate(plain()).scenarios(["pause"]).seeds(40).out(out.path()).confirm(false);
    let found = found.assert_violates("mutual-exclusion");
    let file = out.path().join("repro/plain.pause.mutual-exclusion.json");

    let again = replay(plain(), &file);
    assert!(again.to_string().contains("the same run to the last event"), "{again}");
    let digest = |page: String| page.lines().find(|line| line.starts_with("digest ")).map(str::to_owned);
    assert_eq!(
        digest(again.timeline("mutual-exclusion").unwrap()),
        digest(found.timeline("mutual-exclusion").unwrap())
    );
    assert!(again.violates("mutual-exclusion"));

    let text = message(|| replay(design("other", FromHost), &file));
    assert!(text.contains("it holds a run of `plain`, not of `other`"), "{text}");
    std::fs::write(&file, "{}").unwrap();
    let text = message(|| replay(plain(), &file));
    assert!(text.contains("does not end with a checksum"), "{text}");
}

#[test]
fn an_expected_violation_that_does_not_come_fails() {
    let gate = gate(plain()).scenarios(["calm"]).seeds(10);
    let text = message(|| gate.assert_violates("mutual-exclusion"));
    assert!(text.contains("no run violates mutual-exclusion"), "{text}");
    let text = message(|| gate.assert_violates("mutual-exclusions"));
    assert!(text.contains("did you mean `mutual-exclusion`?"), "{text}");
}

#[test]
fn the_result_does_not_depend_on_the_number_of_threads() {
    let gate = || gate(plain()).scenarios(["pause", "calm"]).seeds(7..37).confirm(false);
    let out = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let one = gate().jobs(1).out(out[0].path()).run().to_string();
    let three = gate().jobs(3).out(out[1].path()).run().to_string();
    let three = three.replace(out[1].path().to_str().unwrap(), out[0].path().to_str().unwrap());
    assert_eq!(one, three);
}

#[test]
fn what_is_set_reaches_the_runs() {
    let ms = Duration::from_millis;
    let gate = gate(plain()).scenarios(["calm"]).seeds(10).jobs(1);
    let cell = |gate: &picklock::Gate| gate.run().summary().cells[0].clone();
    let usual = cell(&gate);
    let many = cell(&gate.clone().set("clients=6"));
    assert_eq!(many.metrics.asked, 2 * usual.metrics.asked);
    let slow = cell(&gate.clone().latency(ms(20), ms(30)));
    assert!(slow.metrics.latency.percentile(50) > usual.metrics.latency.percentile(50));
    // Work that outlasts the lease lets a second holder in.
    let out = tempfile::tempdir().unwrap();
    let long = gate.ttl(ms(50)).work(ms(100), ms(200)).confirm(false).out(out.path()).run();
    assert!(long.violates("mutual-exclusion"));
}

#[test]
fn a_long_lease_is_tested_for_as_many_leases_as_a_short_one() {
    let gate = gate(plain()).scenarios(["pause"]).seeds(40).confirm(false);
    let found = |gate: picklock::Gate| {
        let out = tempfile::tempdir().unwrap();
        gate.out(out.path()).run().summary().cells[0]
            .violations
            .get("mutual-exclusion")
            .map_or(0, |it| it.runs)
    };
    let (short, long) = (found(gate.clone()), found(gate.ttl(Duration::from_secs(60))));
    assert!(short > 4 && long > 4, "{short} of 40 runs with a lease of 1 s, {long} with one of 60 s");
}

#[test]
fn a_scenario_file_is_read_by_its_path() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("mine.toml");
    std::fs::write(&file, "summary = \"mine\"\n[contend]\nclients = 2\n").unwrap();
    let by_name = gate(plain()).scenarios([file.to_str().unwrap()]).seeds(5).assert_holds();
    let by_path = gate(plain()).scenario_file(&file).seeds(5).assert_holds();
    assert_eq!(by_name.summary().cells[0].scenario, "mine");
    assert_eq!(by_name.to_string(), by_path.to_string());
}

#[test]
fn a_mistake_in_the_test_is_named_with_its_remedy() {
    let error = |gate: picklock::Gate| gate.try_run().unwrap_err().to_string();
    let calm = || gate(plain()).scenarios(["calm"]).seeds(1);
    for (text, parts) in [
        (error(gate(plain()).scenarios(["paus"])), ["no scenario `paus`", "did you mean `pause`?"]),
        (error(gate(plain()).scenario_file("none/such.toml")), ["none/such.toml", "cannot be read"]),
        (error(calm().set("tl=2s")), ["setting `tl=2s` of scenario `calm`", "did you mean `ttl`?"]),
        (error(calm().set("clients=0")), ["`clients`", "from 1 to 1000"]),
        (error(calm().set("clients")), ["`clients`", "name=value"]),
        (error(calm().ttl(Duration::ZERO)), ["ttl=0ms", "from 10ms to"]),
        (error(calm().work(Duration::from_secs(2), Duration::from_secs(1))), ["work=2s..1s", "`work`"]),
        (error(calm().seeds(5..5)), ["no seeds in 5..5", "nothing would be run"]),
    ] {
        for part in parts {
            assert!(text.contains(part), "`{part}` is missing in: {text}");
        }
    }
}

#[test]
fn a_scenario_that_proves_nothing_fails() {
    // One client alone never waits for anybody.
    let gate = gate(plain()).scenarios(["calm"]).set("clients=1").seeds(5);
    let text = message(|| gate.assert_holds());
    assert!(
        text.contains("scenario `calm` proves nothing of `plain`: none of its 5 runs is conclusive"),
        "{text}"
    );
}

#[test]
fn a_scenario_that_does_not_apply_to_the_lock_fails_if_it_was_asked_for() {
    let many = on_redis("many", 3, |context: Context| async move {
        let redis = Connection::to(&context, 0)?;
        Ok(Plain { host: context.host, redis, ttl: context.ttl, before: FromHost })
    });
    let text = message(|| gate(many.clone()).scenarios(["calm", "failover"]).seeds(3).assert_holds());
    assert!(
        text.contains("scenario `failover` does not apply to `many`: it replicates a single store"),
        "{text}"
    );
    let whole = gate(many).seeds(1).confirm(false).out(tempfile::tempdir().unwrap().path()).run();
    assert!(whole.summary().cells.iter().any(|cell| cell.skipped.is_some()));
}

/// Owner values from a counter that outlives the run.
#[derive(Clone)]
struct FromStatic;

impl AsyncBefore for FromStatic {
    async fn owner(&self, _: &Host) -> String {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        format!("owner-{}", NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

#[test]
fn a_lock_with_state_that_outlives_a_run_is_reported() {
    let text =
        message(|| gate(design("counting", FromStatic)).scenarios(["calm"]).seeds(5).jobs(1).assert_holds());
    for part in [
        "the lock `counting` is not a function of its seed: scenario `calm`, seed 0, was run twice",
        "two runs of it part at event ",
        "\n    first : 0.",
        "\n    second: 0.",
        "\n  likely cause: randomness of the machine: a text differs that was drawn",
        "\n  instead: draw from Host::rng",
        "a static",
        "Host::rng",
    ] {
        assert!(text.contains(part), "`{part}` is missing in\n{text}");
    }
}

/// Waits as long as the machine's clock says.
#[derive(Clone)]
struct FromClock;

impl AsyncBefore for FromClock {
    #[expect(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "the mistake that the gate is to catch"
    )]
    async fn owner(&self, host: &Host) -> String {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        host.sleep(Duration::from_nanos(u64::from(now.subsec_nanos() % 1_000_000))).await;
        host.rng().owner_id()
    }
}

#[test]
fn a_lock_that_reads_the_machines_clock_is_reported() {
    let error = gate(design("clocked", FromClock)).scenarios(["pause"]).seeds(3).try_run().unwrap_err();
    assert!(matches!(error, GateError::Stray { .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("likely cause: a time that is not the host's (SystemTime, Instant"), "{text}");
    assert!(text.contains("Host::monotonic") && text.contains("std::time"), "{text}");
}

/// Fails by a panic.
#[derive(Clone)]
struct Panics;

impl AsyncBefore for Panics {
    async fn owner(&self, _: &Host) -> String {
        panic!("the lease table is full")
    }
}

#[test]
fn a_lock_that_panics_fails_with_what_it_said_and_the_seed() {
    let text = message(|| gate(design("brittle", Panics)).scenarios(["calm"]).seeds(4..9).assert_holds());
    let expected = "the lock `brittle` panicked under scenario `calm`, seed 4: the lease table is full";
    assert!(text.contains(expected), "{text}");
}

/// Waits on tokio's clock.
#[derive(Clone)]
struct TokioSleep;

impl AsyncBefore for TokioSleep {
    #[expect(clippy::disallowed_methods, reason = "the mistake that the gate is to catch")]
    async fn owner(&self, host: &Host) -> String {
        tokio::time::sleep(Duration::from_millis(5)).await;
        host.rng().owner_id()
    }
}

#[test]
fn a_lock_that_waits_on_tokios_clock_is_reported_with_the_remedy() {
    let text = message(|| gate(design("impatient", TokioSleep)).scenarios(["calm"]).seeds(1).assert_holds());
    assert!(text.contains("waits on tokio::time") && text.contains("Host::sleep"), "{text}");
}

/// Opens a socket of tokio.
#[derive(Clone)]
struct TokioSocket;

impl AsyncBefore for TokioSocket {
    async fn owner(&self, host: &Host) -> String {
        let _ = tokio::net::TcpStream::connect(("127.0.0.1", 1)).await;
        host.rng().owner_id()
    }
}

#[test]
fn a_lock_that_leaves_the_simulated_network_is_reported_with_the_remedy() {
    let text = message(|| gate(design("truant", TokioSocket)).scenarios(["calm"]).seeds(1).assert_holds());
    assert!(text.contains("opens a socket of the machine") && text.contains("Host::connect"), "{text}");
}

/// Connects by the redis crate's own client, which sets a timer before it opens its socket.
#[derive(Clone)]
struct OwnClient;

impl AsyncBefore for OwnClient {
    async fn owner(&self, host: &Host) -> String {
        let client = redis::Client::open("redis://127.0.0.1:1").unwrap();
        let _ = client.get_multiplexed_async_connection().await;
        host.rng().owner_id()
    }
}

#[test]
fn the_report_of_a_lock_with_a_client_of_its_own_names_the_socket_and_not_a_timer() {
    let text = message(|| gate(design("own", OwnClient)).scenarios(["calm"]).seeds(1).assert_holds());
    assert!(text.contains("opens a socket of the machine") && text.contains("Connection::to"), "{text}");
    assert!(!text.contains("tokio::time") && !text.contains("enable_time"), "{text}");
    // Without line tables no backtrace knows a line.
    if std::backtrace::Backtrace::force_capture().to_string().contains("at ./tests/gate/assertions.rs:") {
        assert!(text.contains("That was at tests/gate/assertions.rs:"), "{text}");
    }
}

#[test]
fn a_lock_whose_clients_cannot_be_made_is_reported_with_the_reason() {
    let none = on_redis("none", 1, |_: Context| async {
        let refused = std::net::TcpStream::connect(("127.0.0.1", 1)).map(drop);
        refused?;
        Err::<Plain<FromHost>, LockError>(LockError::new("port 1 is open"))
    });
    let text = message(|| gate(none).scenarios(["calm"]).seeds(2).assert_holds());
    assert!(
        text.contains("No client could be made") && text.contains("opens a socket of the machine"),
        "{text}"
    );
}
