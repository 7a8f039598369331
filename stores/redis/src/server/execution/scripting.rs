//! EVAL, EVALSHA and SCRIPT (Redis 7.0 `eval.c`).
//!
//! A node knows the scripts that it was given; knowing is not replicated and does not survive a restart.

use std::sync::Arc;

use crate::protocol::resp::Reply;
use crate::server::commands::{help, number};
use crate::server::lua::{self, Commands};
use crate::server::node::{Answer, Busy, Cause, Next, Node, Script, SessionId, Sha};

type Args<'a> = &'a [&'a [u8]];

const NO_SCRIPT: Reply = Reply::error("NOSCRIPT No matching script. Please use EVAL.");

/// The commands as scripts reach them.
const COMMANDS: Commands = Commands { call: Node::call_from_script, knows: Node::knows };

pub(crate) fn eval(node: &mut Node, id: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
    let (keys, rest) = keys(args)?;
    let script = load(node, args[1])?;
    Ok(run(node, id, (&script, false), (keys, rest)))
}

pub(crate) fn eval_ro(node: &mut Node, id: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
    let (keys, rest) = keys(args)?;
    let script = load(node, args[1])?;
    Ok(run(node, id, (&script, true), (keys, rest)))
}

pub(crate) fn evalsha(node: &mut Node, id: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
    let (keys, rest) = keys(args)?;
    let script = known(node, args[1])?;
    Ok(run(node, id, (&script, false), (keys, rest)))
}

pub(crate) fn evalsha_ro(node: &mut Node, id: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
    let (keys, rest) = keys(args)?;
    let script = known(node, args[1])?;
    Ok(run(node, id, (&script, true), (keys, rest)))
}

fn known(node: &Node, sha: &[u8]) -> Result<Arc<Script>, Reply> {
    Sha::parse(sha).and_then(|sha| node.scripts.get(&sha)).map(Arc::clone).ok_or(NO_SCRIPT)
}

/// Runs a script, which may be forbidden to write. One that does not end makes the node busy until it is killed; in a transaction it is killed at once.
fn run(
    node: &mut Node,
    id: SessionId,
    (script, read_only): (&Script, bool),
    (keys, args): (Args<'_>, Args<'_>),
) -> Answer {
    let before = node.store.effects.parts.len();
    let outer = node.enter(true);
    let ending = lua::run(node, COMMANDS, (script, read_only), keys, args);
    node.enter(outer);
    if matches!(ending, lua::Ending::Endless(_)) {
        node.endless += 1;
    }
    match ending {
        lua::Ending::Replied { reply, counted } => {
            Answer { reply: Some(reply), next: Next::Continue, counted }
        }
        lua::Ending::Endless(killed) if outer => killed.into(),
        lua::Ending::Endless(killed) => {
            let wrote = node.store.effects.parts.len() > before;
            let since_ms = node.store.now_ms();
            node.busy = Some(Busy { session: id, since_ms, wrote, killed });
            // What was watched has kept everybody waiting for as long already.
            let more_ms = if node.config.watch.is_some() { 0 } else { node.config.busy_ms };
            let next = Next::Runaway(more_ms);
            Answer { next, ..node.wait_for(id, Cause::Script, None) }
        }
    }
}

/// Ends the script that makes the node busy.
fn kill(node: &mut Node) -> Result<Reply, Reply> {
    match &node.busy {
        None => Err(Reply::error("NOTBUSY No scripts in execution right now.")),
        Some(Busy { wrote: true, .. }) => Err(Reply::error(
            "UNKILLABLE Sorry the script already executed write commands against the dataset. You can either wait the \
             script termination or kill the server in a hard way using the SHUTDOWN NOSAVE command.",
        )),
        Some(_) => {
            node.end_script();
            Ok(Reply::OK)
        }
    }
}

/// Splits what follows the number of keys, if there are so many.
fn keys<'a>(args: Args<'a>) -> Result<(Args<'a>, Args<'a>), Reply> {
    let count = usize::try_from(number(args[2])?)
        .map_err(|_| Reply::error("ERR Number of keys can't be negative"))?;
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
    let script = Arc::new(lua::compile(sha, body)?);
    node.scripts.insert(sha, Arc::clone(&script));
    Ok(script)
}

pub(crate) fn script(node: &mut Node, _: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
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
        [_, _] if is(b"KILL") => kill(node)?,
        _ => help("script", node.store.version),
    };
    Ok(reply.into())
}
