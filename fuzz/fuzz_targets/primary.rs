//! The messages of a primary to its replica: the handshake, a copy, the stream.

#![no_main]

use libfuzzer_sys::fuzz_target;
use picklock_redis::hostile;

fuzz_target!(|bytes: &[u8]| hostile::primary(bytes));
