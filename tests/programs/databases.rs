//! Real PostgreSQL servers of a store: behind a real pgbouncer, and as a primary with a standby.
//!
//! Skipped, with a message, where they are not installed or where the machine runs no programs in virtual time.

use crate::binary::{directory, run_in};
use crate::can_run::can_run;
use crate::interpreter::digest;

const SERVER: &str = "/usr/lib/postgresql/15/bin/postgres";
const POOLER: &str = "/usr/sbin/pgbouncer";

/// The exclusions that a design violates under a scenario with these settings, in one run.
fn violated(design: &str, scenario: &str, set: &[&str]) -> Vec<String> {
    let mut args = vec!["run", "--design", design, "--scenario", scenario, "--seeds", "1"];
    args.extend(["--no-confirm", "--no-shrink", "--format", "json"]);
    args.extend(set.iter().flat_map(|setting| ["--set", setting]));
    let ended = run_in(directory().path(), &args);
    let report: serde_json::Value = serde_json::from_str(&ended.stdout)
        .unwrap_or_else(|error| panic!("{design}: {error}: {}{}", ended.stdout, ended.stderr));
    let names = report["cells"][0]["violations"].as_object().unwrap().keys().cloned();
    names.filter(|name| name.ends_with("-exclusion")).collect()
}

fn is_the_same_again(design: &str, scenario: &str) {
    let again = || digest(&run_in(directory().path(), &["replay", design, scenario, "1"]));
    assert_eq!(again(), again(), "{design} under {scenario}");
}

#[test]
fn a_real_pooler_breaks_what_the_simulated_one_does() {
    if !can_run(&[SERVER, POOLER]) {
        return;
    }
    for (design, breaks) in [("advisory-pooled", true), ("advisory-pooled{pooling=session}", false)] {
        let simulated = violated(design, "calm", &[]);
        assert_eq!(simulated.is_empty(), !breaks, "{design}");
        assert_eq!(violated(&format!("{design}@real"), "calm", &[]), simulated, "{design}");
    }
    is_the_same_again("advisory-pooled@real", "client-crash");
}

#[test]
fn a_real_standby_takes_over_as_the_simulated_one_does() {
    if !can_run(&[SERVER]) {
        return;
    }
    for (scenario, set) in [("failover", &[][..]), ("split", &["fenced=yes", "synchronous_commit=on"][..])] {
        let simulated = violated("advisory", scenario, set);
        assert!(!simulated.is_empty(), "{scenario}");
        assert_eq!(violated("advisory@real", scenario, set), simulated, "{scenario}");
    }
    is_the_same_again("row-lock@real", "failover");
}
