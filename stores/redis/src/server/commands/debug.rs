//! DEBUG, as far as the tests of the node use it (Redis 7.0 `debug.c`).
//!
//! Left out on purpose: everything that shows the inside of another implementation, or writes the dataset out and reads it again.

use super::{help, number};
use crate::protocol::resp::Reply;
use crate::server::node::{Answer, Next, Node, SessionId};

pub(crate) fn debug(node: &mut Node, _: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
    let is = |word: &[u8]| args[1].eq_ignore_ascii_case(word);
    match args {
        [_, _, seconds] if is(b"SLEEP") => {
            let seconds: f64 =
                std::str::from_utf8(seconds).ok().and_then(|text| text.parse().ok()).unwrap_or(0.0);
            let ms = if seconds.is_finite() { (seconds * 1000.0).max(0.0) as u64 } else { 0 };
            node.store.sleep(ms);
            return Ok(Answer { next: Next::Stall(ms), ..Answer::from(Reply::OK) });
        }
        [_, _, on] if is(b"SET-ACTIVE-EXPIRE") => node.expires_lazily = number(on).unwrap_or(0) == 0,
        [_, _, on] if is(b"SET-DISABLE-DENY-SCRIPTS") => node.scripts_inspect = number(on).unwrap_or(0) != 0,
        [_, _] if is(b"HELP") => return Ok(help("debug", node.store.version).into()),
        _ => {
            let name = String::from_utf8_lossy(&args[1][..args[1].len().min(128)]).to_ascii_uppercase();
            return Err(node.store.not_modelled(&format!("DEBUG {name}")));
        }
    }
    Ok(Reply::OK.into())
}
