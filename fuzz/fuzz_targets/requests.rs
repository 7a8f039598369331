//! The requests of a client: bulk strings and inline ones, however they are cut into reads.

#![no_main]

use libfuzzer_sys::fuzz_target;
use picklock_redis::hostile;

fuzz_target!(|bytes: &[u8]| hostile::requests(bytes));
