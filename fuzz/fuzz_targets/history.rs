//! A history of a lock, as JSON lines or EDN.

#![no_main]

use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use picklock_judge::recorded::{judge, read};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(recording) = read(bytes) {
        let _ = judge(recording, Some(Duration::from_millis(1)));
    }
});
