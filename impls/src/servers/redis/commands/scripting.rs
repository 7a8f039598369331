//! EVAL, EVALSHA and SCRIPT (Redis 7.0 `eval.c`).
//!
//! A node knows the scripts that it was given; knowing is not replicated and does not survive a restart.

use std::sync::Arc;

use super::{number, unknown_subcommand, wrong_arity};
use crate::servers::redis::lua::{self, Script, Sha};
use crate::servers::redis::node::{Answer, Node, SessionId};
use crate::servers::redis::resp::Reply;

const NO_SCRIPT: Reply = Reply::error("NOSCRIPT No matching script. Please use EVAL.");

pub(super) fn eval(node: &mut Node, _: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
    let (keys, rest) = keys(args)?;
    let script = load(node, args[1])?;
    Ok(lua::run(&mut node.store, &script, keys, rest).into())
}

pub(super) fn evalsha(node: &mut Node, _: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
    let (keys, rest) = keys(args)?;
    let script = Sha::parse(args[1]).and_then(|sha| node.scripts.get(&sha)).ok_or(NO_SCRIPT)?;
    let script = Arc::clone(script);
    Ok(lua::run(&mut node.store, &script, keys, rest).into())
}

type Args<'a> = &'a [&'a [u8]];

/// Splits what follows the number of keys.
fn keys<'a>(args: Args<'a>) -> Result<(Args<'a>, Args<'a>), Reply> {
    let count = number(args[2])?;
    let count = usize::try_from(count).map_err(|_| Reply::error("ERR Number of keys can't be negative"))?;
    let rest = &args[3..];
    rest.split_at_checked(count)
        .ok_or(Reply::error("ERR Number of keys can't be greater than number of args"))
}

/// Makes a script known to the node, if it compiles.
fn load(node: &mut Node, body: &[u8]) -> Result<Arc<Script>, Reply> {
    let sha = Sha::of(body);
    if let Some(script) = node.scripts.get(&sha) {
        return Ok(Arc::clone(script));
    }
    let script = Arc::new(Script { sha, body: body.to_vec() });
    lua::check(&script)?;
    node.scripts.insert(sha, Arc::clone(&script));
    Ok(script)
}

pub(super) fn script(node: &mut Node, _: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
    let is = |word: &[u8]| args[1].eq_ignore_ascii_case(word);
    let reply = match args {
        [_, _, body] if is(b"LOAD") => Reply::Bulk(load(node, body)?.sha.hex().to_vec()),
        [_, _, shas @ ..] if is(b"EXISTS") && !shas.is_empty() => {
            let known = |sha: &&[u8]| Sha::parse(sha).is_some_and(|sha| node.scripts.contains_key(&sha));
            Reply::Array(shas.iter().map(|sha| Reply::Integer(i64::from(known(sha)))).collect())
        }
        [_, _, mode @ ..] if is(b"FLUSH") => {
            let good =
                |mode: &&[u8]| mode.eq_ignore_ascii_case(b"ASYNC") || mode.eq_ignore_ascii_case(b"SYNC");
            if mode.len() > 1 || !mode.iter().all(good) {
                return Err(Reply::error("ERR SCRIPT FLUSH only support SYNC|ASYNC option"));
            }
            node.scripts.clear();
            Reply::OK
        }
        [_, _] if is(b"KILL") => return Err(Reply::error("NOTBUSY No scripts in execution right now.")),
        _ if is(b"LOAD") => return Err(wrong_arity("script|load")),
        _ if is(b"EXISTS") => return Err(wrong_arity("script|exists")),
        _ if is(b"KILL") => return Err(wrong_arity("script|kill")),
        _ => return Err(unknown_subcommand("SCRIPT", args[1])),
    };
    Ok(reply.into())
}
