//! A scenario file.

#![no_main]

use libfuzzer_sys::fuzz_target;
use picklock_scenarios::scenario::Scenario;

fuzz_target!(|text: &str| {
    let _ = Scenario::parse("fuzz.toml", text);
});
