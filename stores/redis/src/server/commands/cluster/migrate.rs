//! MIGRATE: keys go to another node, and are deleted here when that one has them.
//!
//! The command says what is to be sent; the server sends it and executes nothing else meanwhile, as Redis does.
//!
//! Left out on purpose: connections that are kept for the next MIGRATE, and the user of AUTH2.

use crate::protocol::resp::{self, Reply};
use crate::server::commands::{SYNTAX, digits, number};
use crate::server::node::{Answer, Migration, Next, Node, SessionId};
use crate::server::rdb;

/// How long to wait for the other node if the command does not say, in milliseconds.
const TIMEOUT_MS: i64 = 1_000;

/// MIGRATE host port key|"" database timeout [COPY] [REPLACE] [AUTH password] [KEYS key ..].
pub(crate) fn migrate(node: &mut Node, _: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
    let options = Options::parse(args)?;
    let timeout = number(args[5])?;
    let database = number(args[4])?;
    let timeout = if timeout <= 0 { TIMEOUT_MS } else { timeout };
    let mut request = Vec::new();
    let mut before = 0;
    if let Some(password) = options.password {
        resp::request(&mut request, &[b"AUTH", password]);
        before += 1;
    }
    if database != 0 {
        resp::request(&mut request, &[b"SELECT", args[4]]);
        before += 1;
    }
    let restore: &[u8] = if node.cluster.is_some() { b"RESTORE-ASKING" } else { b"RESTORE" };
    let now = node.store.clock_ms();
    let mut keys = Vec::new();
    for key in options.keys {
        let Some(entry) = node.store.get(key) else { continue };
        let ttl = digits(entry.expires.map_or(0, |when| (when - now).max(1)));
        let payload = rdb::dump(&entry.value);
        let words: [&[u8]; 5] = [restore, key, &ttl, &payload, b"REPLACE"];
        resp::request(&mut request, if options.replaces { &words } else { &words[..4] });
        keys.push(key.to_vec());
    }
    if keys.is_empty() {
        return Ok(Reply::Status("NOKEY".into()).into());
    }
    let port = resp::integer(args[2]).and_then(|port| u16::try_from(port).ok()).unwrap_or(0);
    node.migration = Some(Box::new(Migration {
        host: String::from_utf8_lossy(args[1]).into_owned(),
        port,
        timeout_ms: timeout.unsigned_abs(),
        request,
        before,
        keys,
        copies: options.copies,
    }));
    Ok(Answer::silent(Next::Migrate))
}

struct Options<'a> {
    copies: bool,
    replaces: bool,
    password: Option<&'a [u8]>,
    keys: Vec<&'a [u8]>,
}

impl<'a> Options<'a> {
    fn parse(args: &[&'a [u8]]) -> Result<Options<'a>, Reply> {
        let mut options = Options { copies: false, replaces: false, password: None, keys: vec![args[3]] };
        let mut rest = &args[6..];
        while let Some((option, more)) = rest.split_first() {
            let is = |word: &[u8]| option.eq_ignore_ascii_case(word);
            rest = match more {
                _ if is(b"COPY") => {
                    options.copies = true;
                    more
                }
                _ if is(b"REPLACE") => {
                    options.replaces = true;
                    more
                }
                [password, more @ ..] if is(b"AUTH") => {
                    options.password = Some(password);
                    more
                }
                [_, password, more @ ..] if is(b"AUTH2") => {
                    options.password = Some(password);
                    more
                }
                keys if is(b"KEYS") => {
                    if !args[3].is_empty() {
                        return Err(Reply::error(
                            "ERR When using MIGRATE KEYS option, the key argument must be set to the empty string",
                        ));
                    }
                    options.keys = keys.to_vec();
                    &[]
                }
                _ => return Err(SYNTAX),
            };
        }
        Ok(options)
    }
}

impl Node {
    /// The end of a MIGRATE: what the other node has answered, one reply for each request; fewer if the connection broke.
    pub(crate) fn end_migration(&mut self, migration: &Migration, replies: &[Reply]) -> Reply {
        let (before, restored) = replies.split_at(replies.len().min(migration.before));
        let refused = |reply: &&Reply| matches!(reply, Reply::Error(_));
        let early = before.iter().find(refused);
        let mut moved: Vec<&[u8]> = Vec::new();
        let mut error = None;
        for (key, reply) in migration.keys.iter().zip(restored) {
            match early.unwrap_or(reply) {
                Reply::Error(text) => {
                    error.get_or_insert_with(|| format!("ERR Target instance replied with error: {text}"));
                }
                _ => moved.push(key),
            }
        }
        let is_broken = restored.len() < migration.keys.len();
        if !migration.copies && !moved.is_empty() {
            for key in &moved {
                self.store.remove(key);
                self.store.changed(b'g', "del", key);
            }
            let mut effect: Vec<&[u8]> = vec![b"DEL"];
            effect.extend(moved);
            self.store.propagate(&effect);
            self.digest_changes();
        }
        match error {
            Some(text) => Reply::Error(text.into()),
            None if is_broken => Reply::error("IOERR error or timeout reading to target instance"),
            None => Reply::OK,
        }
    }
}
