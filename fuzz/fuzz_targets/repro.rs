//! A repro file, which may come from anybody.

#![no_main]

use libfuzzer_sys::fuzz_target;
use picklock_model::repro::ReproFile;

fuzz_target!(|text: &str| {
    let _ = ReproFile::from_text(text);
});
