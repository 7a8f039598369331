//! The replies of a server.

#![no_main]

use libfuzzer_sys::fuzz_target;
use picklock_redis::hostile;

fuzz_target!(|bytes: &[u8]| hostile::reply(bytes));
