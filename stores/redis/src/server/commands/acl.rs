//! AUTH and the read-only part of ACL: there is one user, `default`, with the password of `requirepass` or without one
//! (Redis 7.0 `acl.c`).
//!
//! Left out on purpose: other users, rules, the log of refusals, the hash of the password (zeros stand for it). ACL SETUSER takes what changes
//! nothing.

use std::collections::BTreeSet;

use super::{SYNTAX, subcommand_syntax};
use crate::protocol::resp::Reply;
use crate::server::catalogue;
use crate::server::node::{Answer, Node, SessionId};

/// Stands where Redis shows the hash of a password.
const NO_HASH: &str = "0000000000000000000000000000000000000000000000000000000000000000";

pub(crate) const WRONG_PASSWORD: Reply =
    Reply::error("WRONGPASS invalid username-password pair or user is disabled.");

pub(crate) fn auth(node: &mut Node, id: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
    match args {
        [_, _] if node.config.password.is_empty() => Err(Reply::error(
            "ERR AUTH <password> called without any password configured for the default user. Are you sure your \
             configuration is correct?",
        )),
        [_, password] => log_in(node, id, b"default", password),
        [_, user, password] => log_in(node, id, user, password),
        _ => Err(SYNTAX),
    }
}

/// Takes a session for the user if the password is right.
pub(crate) fn log_in(node: &mut Node, id: SessionId, user: &[u8], password: &[u8]) -> Result<Answer, Reply> {
    let right = node.config.password.is_empty() || node.config.password == password;
    if user != b"default" || !right {
        return Err(WRONG_PASSWORD);
    }
    node.session_mut(id).authenticated = true;
    Ok(Reply::OK.into())
}

pub(crate) fn acl(node: &mut Node, _: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
    let is = |word: &[u8]| args[1].eq_ignore_ascii_case(word);
    let open = node.config.password.is_empty();
    let texts = |texts: &[&str]| Reply::Array(texts.iter().map(|text| Reply::text(text)).collect());
    let reply = match () {
        () if is(b"WHOAMI") => Reply::text("default"),
        () if is(b"USERS") => texts(&["default"]),
        () if is(b"LIST") => {
            let pass = if open { "nopass".to_owned() } else { format!("#{NO_HASH}") };
            texts(&[&format!("user default on {pass} ~* &* +@all")])
        }
        () if is(b"GETUSER") && args[2] == b"default" => {
            let passwords = if open { Vec::new() } else { vec![NO_HASH] };
            let flags = ["on", "nopass"].iter().take(if open { 2 } else { 1 });
            let pair = |name: &str, value: Reply| (Reply::text(name), value);
            Reply::Map(vec![
                pair("flags", Reply::Set(flags.map(|flag| Reply::text(flag)).collect())),
                pair("passwords", Reply::Array(passwords.iter().map(|text| Reply::text(text)).collect())),
                pair("commands", Reply::text("+@all")),
                pair("keys", Reply::text("~*")),
                pair("channels", Reply::text("&*")),
                pair("selectors", Reply::Array(Vec::new())),
            ])
        }
        () if is(b"GETUSER") => Reply::Nil,
        () if is(b"CAT") => return category(args).map(Answer::from),
        () if is(b"LOG") => match args.get(2) {
            Some(word) if word.eq_ignore_ascii_case(b"RESET") => Reply::OK,
            _ => Reply::Array(Vec::new()),
        },
        () if is(b"SETUSER") => {
            let grants = |rule: &&[u8]| changes_nothing(rule, open);
            if args[2] != b"default" || !args[3..].iter().all(grants) {
                let what = "ACL SETUSER of another user than 'default', or of one with fewer rights,";
                return Err(node.store.not_modelled(what));
            }
            Reply::OK
        }
        () if is(b"DELUSER") => {
            if args[2..].contains(&b"default".as_slice()) {
                return Err(Reply::error("ERR The 'default' user cannot be removed"));
            }
            Reply::Integer(0)
        }
        () if is(b"LOAD") || is(b"SAVE") => {
            return Err(Reply::error(
                "ERR This Redis instance is not configured to use an ACL file. You may want to specify users via the \
                 ACL SETUSER command and then issue a CONFIG REWRITE (assuming you have a Redis configuration file \
                 set) in order to store users in the Redis configuration.",
            ));
        }
        () if is(b"HELP") => super::help("acl", node.store.version),
        () => return Err(subcommand_syntax("ACL", args[1])),
    };
    Ok(reply.into())
}

/// True for a rule that the default user has anyway, with or without a password.
fn changes_nothing(rule: &[u8], open: bool) -> bool {
    let all = ["on", "allkeys", "~*", "allchannels", "&*", "allcommands", "sanitize-payload"];
    let is = |word: &str| rule.eq_ignore_ascii_case(word.as_bytes());
    all.into_iter().any(is) || open && is("nopass") || rule.starts_with(b"+")
}

/// The categories, or the commands of one.
fn category(args: &[&[u8]]) -> Result<Reply, Reply> {
    let split = |fact: &'static catalogue::Fact| fact.categories.split(' ').filter(|word| !word.is_empty());
    let Some(wanted) = args.get(2) else {
        let all: BTreeSet<&str> = catalogue::FACTS.iter().flat_map(split).collect();
        return Ok(Reply::Array(all.into_iter().map(Reply::text).collect()));
    };
    let of = |fact: &&'static catalogue::Fact| {
        split(fact).any(|word| wanted.eq_ignore_ascii_case(word.as_bytes()))
    };
    let commands: Vec<Reply> =
        catalogue::FACTS.iter().filter(of).map(|fact| Reply::text(fact.name)).collect();
    if commands.is_empty() {
        let wanted = String::from_utf8_lossy(wanted);
        return Err(Reply::Error(format!("ERR Unknown category '{wanted}'").into()));
    }
    Ok(Reply::Array(commands))
}
