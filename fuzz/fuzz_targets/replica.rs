//! The messages of a replica to its primary.

#![no_main]

use libfuzzer_sys::fuzz_target;
use picklock_redis::hostile;

fuzz_target!(|bytes: &[u8]| hostile::replica(bytes));
