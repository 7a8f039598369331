//! SAVE, BGSAVE, BGREWRITEAOF, LASTSAVE and SHUTDOWN: the node says what is to be done, the server does it.

use super::SYNTAX;
use crate::protocol::resp::Reply;
use crate::server::node::{Answer, Next, Node, Save, SessionId};

pub(crate) fn save(node: &mut Node, _: SessionId, _: &[&[u8]]) -> Result<Answer, Reply> {
    node.stats.saved_ms = Some(node.store.now_ms());
    node.stats.changes = 0;
    Ok(Answer { next: Next::Save(Save::Snapshot), ..Answer::from(Reply::OK) })
}

pub(crate) fn bgsave(node: &mut Node, _: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
    match args {
        [_] => {}
        [_, word] if word.eq_ignore_ascii_case(b"SCHEDULE") => {}
        _ => return Err(SYNTAX),
    }
    node.stats.saved_ms = Some(node.store.now_ms());
    node.stats.changes = 0;
    let reply = Reply::Status("Background saving started".into());
    Ok(Answer { next: Next::Save(Save::Background), ..Answer::from(reply) })
}

pub(crate) fn bgrewriteaof(_: &mut Node, _: SessionId, _: &[&[u8]]) -> Result<Answer, Reply> {
    let reply = Reply::Status("Background append only file rewriting started".into());
    Ok(Answer { next: Next::Save(Save::Rewrite), ..Answer::from(reply) })
}

/// Before the first save, the time of the start.
pub(crate) fn lastsave(node: &mut Node, _: SessionId, _: &[&[u8]]) -> Result<Answer, Reply> {
    Ok(Reply::Integer(node.stats.saved_ms.or(node.stats.started_ms).unwrap_or(0) / 1000).into())
}

pub(crate) fn shutdown(_: &mut Node, _: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
    let (mut save, mut nosave, mut abort) = (false, false, false);
    for word in &args[1..] {
        match () {
            () if word.eq_ignore_ascii_case(b"SAVE") => save = true,
            () if word.eq_ignore_ascii_case(b"NOSAVE") => nosave = true,
            () if word.eq_ignore_ascii_case(b"NOW") || word.eq_ignore_ascii_case(b"FORCE") => {}
            () if word.eq_ignore_ascii_case(b"ABORT") => abort = true,
            () => return Err(SYNTAX),
        }
    }
    if save && nosave || abort && args.len() > 2 {
        return Err(SYNTAX);
    }
    if abort {
        return Err(Reply::error("ERR No shutdown in progress."));
    }
    Ok(Answer::silent(Next::Shutdown))
}
