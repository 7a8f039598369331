//! Runs of programs on servers that agree among themselves: what they violate, and whether they are the same.

use std::collections::BTreeMap;

use crate::binary::{directory, run_in};

/// A program on one of these, and the lease that it grants.
pub(crate) struct Runs {
    /// How it is spelled.
    pub(crate) spelling: String,
    /// The settings of all runs, such as `ttl=2s`.
    pub(crate) set: &'static str,
}

impl Runs {
    /// In how many of these runs each invariant is violated.
    pub(crate) fn violations(&self, scenario: &str, seeds: &str, set: &[&str]) -> BTreeMap<String, u64> {
        let (here, spelling) = (directory(), &self.spelling);
        // Allowed violations are not reduced, which would take many more runs.
        let allowed = format!(
            "[{scenario}]\nallow = [\"mutual-exclusion\", \"effective-exclusion\", \"no-lost-update\"]\n"
        );
        std::fs::write(here.path().join("allow.toml"), allowed).unwrap();
        let mut args =
            vec!["run", "--design", spelling, "--scenario", scenario, "--seeds", seeds, "--no-confirm"];
        args.extend(["--allow", "allow.toml", "--format", "json", "--set", self.set]);
        args.extend(set.iter().flat_map(|setting| ["--set", setting]));
        let output = run_in(here.path(), &args);
        let report: serde_json::Value = serde_json::from_str(&output.stdout)
            .unwrap_or_else(|error| panic!("{spelling}: {error}: {}{}", output.stdout, output.stderr));
        assert!(matches!(output.code, Some(0 | 1)), "{spelling}: {:?} {}", output.code, output.stderr);
        let cell = &report["cells"][0];
        assert!(cell["metrics"]["granted"].as_u64() > Some(0), "{spelling}: {cell}");
        let found = cell["violations"].as_object().unwrap();
        found.iter().map(|(name, found)| (name.clone(), found["runs"].as_u64().unwrap())).collect()
    }

    /// The digest of a run.
    pub(crate) fn digest(&self, scenario: &str, seed: &str, set: &[&str]) -> String {
        let mut args = vec!["replay", &self.spelling, scenario, seed, "--set", self.set];
        args.extend(set.iter().flat_map(|setting| ["--set", setting]));
        let output = run_in(directory().path(), &args);
        let line = output.stdout.lines().find(|line| line.trim_start().starts_with("digest: "));
        line.unwrap_or_else(|| panic!("{}{}", output.stdout, output.stderr)).to_owned()
    }
}
