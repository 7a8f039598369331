//! A capsule, which may come from anybody.

#![no_main]

use libfuzzer_sys::fuzz_target;
use picklock_model::capsule::Capsule;

fuzz_target!(|text: &str| {
    let _ = Capsule::from_text(text);
});
