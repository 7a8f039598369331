//! A lease that is tested honestly: what no lease can keep is allowed, and three ways to write it wrong are found all the same.

use std::path::Path;
use std::time::Duration;

use picklock::{
    Belief, Connection, Context, Deadline, Design, Gate, Grant, Host, Key, Lock, LockError, gate,
    on_redis_with,
};
use redis::{Script, cmd};

/// The bug of the lock.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bug {
    None,
    /// The release deletes whatever is there.
    PlainDelete,
    /// The renewal extends whatever is there.
    BlindRenewal,
    /// The lease is counted from the reply, however long that took.
    LateDeadline,
}

/// SET NX PX with an owner, compare-and-delete, compare-and-extend, and a deadline that holders heed.
struct Lease {
    host: Host,
    redis: Connection,
    ttl: Duration,
    bug: Bug,
}

impl Lease {
    async fn connect(context: Context, bug: Bug) -> Result<Lease, LockError> {
        Ok(Lease { redis: Connection::to(&context, 0)?, host: context.host, ttl: context.ttl, bug })
    }

    /// Until when a lease that is asked for now may be relied upon.
    fn deadline(&self) -> Deadline {
        Deadline::Monotonic(self.host.monotonic() + self.ttl * 99 / 100 - Duration::from_millis(2))
    }
}

impl Lock for Lease {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        let owner = self.host.rng().owner_id();
        let before = self.deadline();
        let mut set = cmd("SET");
        set.arg(key.as_str()).arg(&owner).arg("NX").arg("PX").arg(self.ttl.as_millis() as u64);
        let granted: bool = set.query_async(&mut self.redis.clone()).await?;
        let deadline = if self.bug == Bug::LateDeadline { self.deadline() } else { before };
        Ok(granted.then(|| Grant::new(key, owner).with_deadline(deadline)))
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        let script = Script::new(if self.bug == Bug::PlainDelete {
            "return redis.call('del', KEYS[1])"
        } else {
            "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end"
        });
        let mut call = script.key(grant.key.as_str());
        Ok(call.arg(&grant.owner).invoke_async(&mut self.redis.clone()).await?)
    }

    fn checkpoint(&self) -> Option<Duration> {
        Some(self.ttl / 3)
    }

    async fn renew(&self, grant: &mut Grant) -> Result<bool, LockError> {
        let script = Script::new(if self.bug == Bug::BlindRenewal {
            "return redis.call('pexpire', KEYS[1], ARGV[2])"
        } else {
            "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) else return 0 end"
        });
        let deadline = self.deadline();
        let mut call = script.key(grant.key.as_str());
        call.arg(&grant.owner).arg(self.ttl.as_millis() as u64);
        let renewed: bool = call.invoke_async(&mut self.redis.clone()).await?;
        if renewed {
            grant.deadline = Some(deadline);
        }
        Ok(renewed)
    }
}

fn lease(bug: Bug) -> Design {
    on_redis_with("lease", 1, bug, Lease::connect).believing(Belief::Honest)
}

/// The allowed violations of a lease whose holders heed their deadline: what the watchdog is known for, that a holder which
/// stands still writes late, and that a deadline is no better than the clocks and the memory that it rests on.
fn tested(bug: Bug) -> Gate {
    let late = ["effective-exclusion", "no-lost-update"];
    let by_clocks = ["suspend", "clock-step", "storm"];
    let by_memory = ["failover", "split", "replication-lag", "node-restart"];
    let gate = gate(lease(bug)).no_worse_than("watchdog").allow("stall", late).seeds(40).confirm(false);
    [by_clocks.as_slice(), &by_memory]
        .concat()
        .into_iter()
        .fold(gate, |gate, scenario| gate.allow(scenario, ["honest-validity"]))
}

/// The message of a test that fails.
fn message<T>(run: impl FnOnce() -> T) -> String {
    let panic =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).err().expect("the gate should fail");
    panic.downcast_ref::<String>().cloned().expect("the gate panics with a message")
}

#[test]
fn a_lease_passes_the_whole_suite_with_what_no_lease_can_keep_allowed() {
    let verdict = tested(Bug::None).explore_only(["stall"]).assert_holds();
    assert!(verdict.violates("mutual-exclusion"), "what is allowed is counted all the same");
    assert_eq!(verdict.timeline("mutual-exclusion"), None, "and not shown");
    let page = verdict.to_string();
    assert!(page.contains("as expected: ") && page.contains(" 0 no, "), "{page}");
    assert!(page.contains("Explored 810 of 810 sites"), "{page}");
}

#[test]
fn a_release_that_deletes_whatever_is_there_fails() {
    let out = tempfile::tempdir().unwrap();
    let gate = tested(Bug::PlainDelete).scenarios(["calm", "late-release", "pause"]).out(out.path());
    let text = message(|| gate.assert_holds());
    assert!(text.contains("does not hold under scenario `late-release`"), "{text}");
    assert!(
        text.contains("under scenario `pause`: honest-validity, ownership violated, which is not allowed"),
        "{text}"
    );
}

#[test]
fn a_renewal_that_does_not_look_at_the_owner_fails() {
    let out = tempfile::tempdir().unwrap();
    let gate = tested(Bug::BlindRenewal).scenarios(["calm", "clock-step"]).out(out.path());
    let text = message(|| gate.assert_holds());
    assert!(
        text.contains("`lease` does not hold under scenario `clock-step`: continuity, ownership violated"),
        "{text}"
    );
}

#[test]
fn a_deadline_that_is_counted_from_the_reply_fails_where_a_stall_hits_at_every_step() {
    let out = tempfile::tempdir().unwrap();
    let gate = tested(Bug::LateDeadline).scenarios(["calm"]).explore_only(["stall"]).out(out.path());
    let text = message(|| gate.assert_holds());
    assert!(
        text.contains("under scenario `explore-stall`: honest-validity, mutual-exclusion violated"),
        "{text}"
    );
    assert!(out.path().join("repro/lease.explore-stall.honest-validity.json").is_file());
}

#[test]
fn a_saved_run_fails_the_gate_until_the_lock_is_mended() {
    let out = tempfile::tempdir().unwrap();
    let saved = out.path().join("regressions");
    let found = tested(Bug::PlainDelete).scenarios(["late-release"]).out(out.path());
    let text = message(|| found.clone().regressions(out.path()).assert_holds());
    let line = text.lines().find(|line| line.starts_with("  cp ")).unwrap_or_else(|| panic!("{text}"));
    let words: Vec<&str> = line.split_whitespace().collect();
    std::fs::create_dir(&saved).unwrap();
    let file = saved.join(Path::new(words[2]).file_name().unwrap());
    std::fs::copy(words[1], &file).unwrap();

    // Only the saved run is made, though no other scenario would fail.
    let broken = tested(Bug::PlainDelete).scenarios(["calm"]).regressions(&saved);
    let text = message(|| broken.assert_holds());
    let says = format!("`lease` still fails in the saved run `{}`: ", file.display());
    assert!(text.starts_with(&says), "{text}");
    assert!(text.contains("◀ first grant") && text.contains("No other run was made"), "{text}");
    assert_eq!(broken.run().summary().cells.len(), 2, "without an assertion everything is run");

    let mended = tested(Bug::None).scenarios(["calm"]).regressions(&saved).assert_holds();
    assert_eq!(mended.summary().cells[0].scenario, file.display().to_string());
    assert!(mended.summary().cells[0].violations.is_empty());
}

#[test]
fn a_file_that_is_no_repro_is_named_with_its_field_and_remedy() {
    let out = tempfile::tempdir().unwrap();
    let saved = out.path().join("regressions");
    let gate = tested(Bug::PlainDelete).scenarios(["late-release"]).seeds(12).out(out.path());
    let _ = message(|| gate.assert_holds());
    let repros = std::fs::read_dir(out.path().join("repro")).unwrap();
    let text = std::fs::read_to_string(repros.map(|file| file.unwrap().path()).min().unwrap()).unwrap();
    std::fs::create_dir(&saved).unwrap();
    let error = |text: &str| {
        std::fs::write(saved.join("mine.json"), text).unwrap();
        tested(Bug::None).scenarios(["calm"]).regressions(&saved).try_run().unwrap_err().to_string()
    };
    for (text, part) in [
        (text[..text.len() / 2].to_owned(), "does not end with a checksum"),
        (text.replacen("lease", "Lease", 1), "its checksum does not match"),
        (sealed(&text, "\"network_seed\": ", "\"network_seed\": -"), "its field `network_seed`, in line "),
        (sealed(&text, "\"ttl_ns\": ", "\"ttl_ns\": 99999999"), "`ttl_ns` is "),
        (String::new(), "does not end with a checksum"),
    ] {
        let error = error(&text);
        assert!(error.contains("mine.json: ") && error.contains(part), "`{part}` is missing in: {error}");
        assert!(error.contains("copy it anew"), "{error}");
    }
}

/// A repro file changed and sealed again, as a hostile hand would.
fn sealed(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "{from} is not in the repro");
    let (body, _) = text.rsplit_once("\n  \"checksum\"").unwrap();
    let body = body.replacen(from, to, 1);
    format!("{body}\n  \"checksum\": \"{:032x}\"\n}}\n", xxhash_rust::xxh3::xxh3_128(body.as_bytes()))
}

#[test]
fn a_mistake_in_what_is_allowed_is_named_with_its_remedy() {
    let plain = || gate(lease(Bug::None)).scenarios(["calm"]).seeds(1);
    for (gate, part) in [
        (plain().allow("paus", ["ownership"]), "there is no scenario `paus` (did you mean `pause`?)"),
        (
            plain().allow("pause", ["ownerships"]),
            "there is no invariant `ownerships` (did you mean `ownership`?)",
        ),
        (plain().no_worse_than("watchdogs"), "`watchdogs` (did you mean `watchdog`?)"),
        (plain().explore_only(["pauses"]), "`pauses` cannot be explored (did you mean `pause`?)"),
        (plain().allow("cancel", ["ownership"]), "there is no scenario `cancel`"),
        (plain().regressions("none/such"), "none/such: cannot be read"),
    ] {
        let error = gate.try_run().unwrap_err().to_string();
        assert!(error.contains(part), "`{part}` is missing in: {error}");
    }
    let hits = plain().explore_only(["cancel"]).allow("cancel", ["ownership"]).try_run();
    assert!(hits.is_ok(), "an allowed violation may name a hit when hits are explored");
    let named = |fault: &str| {
        plain().explore_only([fault]).allow(fault, ["ownership"]).try_run().unwrap().to_string()
    };
    assert!(named("cut").contains("explore-partition"), "{}", named("cut"));
    assert_eq!(named("cut"), named("partition"), "a fault goes by any of its names");
}

#[test]
fn what_is_allowed_and_never_needed_is_noted() {
    let verdict =
        gate(lease(Bug::None)).scenarios(["calm"]).allow("calm", ["ownership"]).seeds(120).assert_holds();
    let page = verdict.to_string();
    assert!(
        page.contains("note: ownership is allowed under `calm`, and none of 120 runs needed that"),
        "{page}"
    );
}

#[test]
fn a_budget_is_shared_among_the_scenarios_and_one_that_is_too_small_fails() {
    let within = |budget| gate(lease(Bug::None)).scenarios(["calm", "lost-reply"]).budget(budget);
    let verdict = within(Duration::from_millis(600)).assert_holds();
    assert!(verdict.summary().cells.iter().all(|cell| cell.runs > 0), "{verdict}");
    let text = message(|| within(Duration::ZERO).assert_holds());
    assert!(text.contains("the budget was over before scenario `calm` was run: give it more"), "{text}");
}
