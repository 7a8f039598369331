//! A scenario file.

#![no_main]

use libfuzzer_sys::fuzz_target;
use picklock_redis::Redis;
use picklock_scenarios::scenario::Scenario;
use picklock_sim::store::StoreParams;

fuzz_target!(|text: &str| {
    let _ = Scenario::parse("fuzz.toml", text, &[StoreParams::of(&Redis::default())]);
});
