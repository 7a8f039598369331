//! The part of an append-only file behind its base.

#![no_main]

use libfuzzer_sys::fuzz_target;
use picklock_redis::hostile;

fuzz_target!(|bytes: &[u8]| hostile::append_only(bytes));
