//! What clients say to set up, check and end a connection.
//!
//! CLIENT SETINFO is newer than the modelled 7.0 and answered anyway: today's clients send it on connecting and ignore the
//! answer. There are no users: AUTH is not known, and `HELLO ... AUTH default` accepts any password as a node without
//! one does.

use super::{number, unknown_subcommand, wrong_arity};
use crate::servers::redis::node::{Answer, Next, Node, Session, SessionId};
use crate::servers::redis::resp::{self, Protocol, Reply};
use crate::servers::redis::store::Store;

pub(super) fn ping(_: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    match args {
        [_] => Ok(Reply::Status("PONG".into())),
        [_, text] => Ok(Reply::Bulk(text.to_vec())),
        _ => Err(wrong_arity("ping")),
    }
}

pub(super) fn echo(_: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    Ok(Reply::Bulk(args[1].to_vec()))
}

/// The node has one database.
pub(super) fn select(_: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    if number(args[1])? == 0 { Ok(Reply::OK) } else { Err(Reply::error("ERR DB index is out of range")) }
}

pub(super) fn time(store: &mut Store, _: &[&[u8]]) -> Result<Reply, Reply> {
    let micros = store.now.as_nanos() / 1_000;
    let (seconds, rest) = (micros / 1_000_000, micros % 1_000_000);
    Ok(Reply::Array(vec![Reply::text(&seconds.to_string()), Reply::text(&rest.to_string())]))
}

pub(super) fn quit(_: &mut Node, _: SessionId, _: &[&[u8]]) -> Result<Answer, Reply> {
    Ok(Answer { reply: Some(Reply::OK), next: Next::Close })
}

pub(super) fn reset(node: &mut Node, id: SessionId, _: &[&[u8]]) -> Result<Answer, Reply> {
    let session = node.session_mut(id);
    session.protocol = Protocol::Two;
    session.name.clear();
    Ok(Reply::Status("RESET".into()).into())
}

/// Clients ask for the table to route commands in a cluster; an empty one is an answer.
pub(super) fn command(_: &mut Node, _: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
    match args.get(1) {
        Some(sub) if sub.eq_ignore_ascii_case(b"COUNT") => {
            Ok(Reply::Integer(super::TABLE.len() as i64).into())
        }
        Some(sub) if sub.eq_ignore_ascii_case(b"DOCS") => Ok(Reply::Map(Vec::new()).into()),
        _ => Ok(Reply::Array(Vec::new()).into()),
    }
}

pub(super) fn client(node: &mut Node, id: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
    let session = node.session_mut(id);
    let is = |word: &[u8]| args[1].eq_ignore_ascii_case(word);
    let exactly =
        |count: usize, name: &str| if args.len() == count { Ok(()) } else { Err(wrong_arity(name)) };
    let reply = match () {
        () if is(b"ID") => {
            exactly(2, "client|id")?;
            Reply::Integer(session.id.number())
        }
        () if is(b"GETNAME") => {
            exactly(2, "client|getname")?;
            if session.name.is_empty() { Reply::Nil } else { Reply::Bulk(session.name.clone()) }
        }
        () if is(b"SETNAME") => {
            exactly(3, "client|setname")?;
            set_name(session, args[2])?;
            Reply::OK
        }
        () if is(b"SETINFO") => {
            exactly(4, "client|setinfo")?;
            Reply::OK
        }
        () => return Err(unknown_subcommand("CLIENT", args[1])),
    };
    Ok(reply.into())
}

fn set_name(session: &mut Session, name: &[u8]) -> Result<(), Reply> {
    if !name.iter().all(|byte| (b'!'..=b'~').contains(byte)) {
        return Err(Reply::error("ERR Client names cannot contain spaces, newlines or special characters."));
    }
    session.name = name.to_vec();
    Ok(())
}

pub(super) fn hello_command(node: &mut Node, id: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
    let role = if node.primary().is_some() { "replica" } else { "master" };
    hello(node.session_mut(id), args, "standalone", role).map(Answer::from)
}

/// Answers HELLO for a server in this mode and role.
pub(in super::super) fn hello(
    session: &mut Session,
    args: &[&[u8]],
    mode: &str,
    role: &str,
) -> Result<Reply, Reply> {
    let protocol = match args.get(1) {
        None => session.protocol,
        Some(version) => match resp::integer(version) {
            Some(2) => Protocol::Two,
            Some(3) => Protocol::Three,
            Some(_) => return Err(Reply::error("NOPROTO unsupported protocol version")),
            None => return Err(Reply::error("ERR Protocol version is not an integer or out of range")),
        },
    };
    let mut options = args.get(2..).unwrap_or_default();
    while let Some((option, rest)) = options.split_first() {
        options = match rest {
            [user, _, rest @ ..] if option.eq_ignore_ascii_case(b"AUTH") => {
                if !user.eq_ignore_ascii_case(b"default") {
                    return Err(Reply::error(
                        "WRONGPASS invalid username-password pair or user is disabled.",
                    ));
                }
                rest
            }
            [name, rest @ ..] if option.eq_ignore_ascii_case(b"SETNAME") => {
                set_name(session, name)?;
                rest
            }
            _ => {
                let option = String::from_utf8_lossy(option);
                return Err(Reply::Error(format!("ERR Syntax error in HELLO option '{option}'").into()));
            }
        };
    }
    session.protocol = protocol;
    let version = if protocol == Protocol::Three { 3 } else { 2 };
    let pair = |name: &str, value: Reply| (Reply::text(name), value);
    Ok(Reply::Map(vec![
        pair("server", Reply::text("redis")),
        pair("version", Reply::text("7.0.15")),
        pair("proto", Reply::Integer(version)),
        pair("id", Reply::Integer(session.id.number())),
        pair("mode", Reply::text(mode)),
        pair("role", Reply::text(role)),
        pair("modules", Reply::Array(Vec::new())),
    ]))
}
