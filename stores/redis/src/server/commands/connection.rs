//! Commands that set up, check and end a connection (Redis 7.0 `networking.c`, `db.c`).

use super::auth::{WRONG_PASSWORD, log_in};
use super::client::set_name;
use super::{number, wrong_arity};
use crate::protocol::resp::{self, Protocol, Reply};
use crate::server::node::{Answer, Answers, Next, Node, Session, SessionId};
use crate::server::store::{DATABASES, Store};
use crate::server::version::Version;

/// A client that listens and speaks RESP2 is answered in the form of a message.
pub(crate) fn ping(node: &mut Node, id: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
    let listens = node.session(id).only_listens();
    let text = match args {
        [_] if listens => &[],
        [_] => return Ok(Reply::Status("PONG".into()).into()),
        [_, text] => *text,
        _ => return Err(wrong_arity("ping")),
    };
    let text = Reply::Bulk(text.to_vec());
    Ok(if listens { Reply::Array(vec![Reply::text("pong"), text]) } else { text }.into())
}

pub(crate) fn echo(_: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    Ok(Reply::Bulk(args[1].to_vec()))
}

pub(crate) fn select(node: &mut Node, id: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
    let out_of_range = Reply::error("ERR DB index is out of range");
    let database = i32::try_from(number(args[1])?).map_err(|_| {
        Reply::error("ERR value is out of range, value must between -2147483648 and 2147483647")
    })?;
    let database = usize::try_from(database).ok().filter(|database| *database < DATABASES);
    let database = database.ok_or(out_of_range)?;
    if node.cluster.is_some() && database != 0 {
        return Err(Reply::error("ERR SELECT is not allowed in cluster mode"));
    }
    node.session_mut(id).database = database;
    Ok(Reply::OK.into())
}

pub(crate) fn time(store: &mut Store, _: &[&[u8]]) -> Result<Reply, Reply> {
    let micros = store.ask_clock().as_nanos() / 1_000;
    let (seconds, rest) = (micros / 1_000_000, micros % 1_000_000);
    Ok(Reply::Array(vec![Reply::text(&seconds.to_string()), Reply::text(&rest.to_string())]))
}

pub(crate) fn quit(_: &mut Node, _: SessionId, _: &[&[u8]]) -> Result<Answer, Reply> {
    Ok(Answer { next: Next::Close, ..Answer::from(Reply::OK) })
}

/// Makes a connection as good as new.
pub(crate) fn reset(node: &mut Node, id: SessionId, _: &[&[u8]]) -> Result<Answer, Reply> {
    node.discard(id);
    node.unlisten_all(id);
    node.monitors.retain(|other| *other != id);
    node.stop_tracking(id);
    let open = node.config.password.is_empty();
    let session = node.session_mut(id);
    session.monitors = false;
    session.spared = false;
    session.leaves_untouched = false;
    // A reply that was to be skipped is skipped, be it this one.
    if session.answers != Answers::Skip {
        session.answers = Answers::On;
    }
    session.database = 0;
    session.protocol = Protocol::Two;
    session.name.clear();
    session.authenticated = open;
    session.asking = false;
    session.reads_replicas = false;
    Ok(Reply::Status("RESET".into()).into())
}

pub(crate) fn hello_command(node: &mut Node, id: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
    let role = if node.is_replica() { "replica" } else { "master" };
    let options = Options::parse(node.session(id).protocol, args)?;
    if let Some((user, password)) = options.auth {
        log_in(node, id, user, password)?;
    }
    if !node.session(id).authenticated && !node.config.password.is_empty() {
        return Err(Reply::error(
            "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO AUTH <user> <pass> \
             option can be used to authenticate the client and select the RESP protocol version at the same time",
        ));
    }
    let version = node.store.version;
    let mode = if node.cluster.is_some() { "cluster" } else { "standalone" };
    options.apply(node.session_mut(id), mode, Some(role), version).map(Answer::from)
}

/// Answers HELLO for a Sentinel, which has no role.
pub(crate) fn hello(session: &mut Session, args: &[&[u8]]) -> Result<Reply, Reply> {
    let options = Options::parse(session.protocol, args)?;
    if options.auth.is_some_and(|(user, _)| user != b"default") {
        return Err(WRONG_PASSWORD);
    }
    options.apply(session, "sentinel", None, Version::default())
}

/// The arguments of HELLO.
struct Options<'a> {
    protocol: Protocol,
    auth: Option<(&'a [u8], &'a [u8])>,
    name: Option<&'a [u8]>,
}

impl<'a> Options<'a> {
    fn parse(present: Protocol, args: &[&'a [u8]]) -> Result<Options<'a>, Reply> {
        let protocol = match args.get(1) {
            None => present,
            Some(version) => match resp::integer(version) {
                Some(2) => Protocol::Two,
                Some(3) => Protocol::Three,
                Some(_) => return Err(Reply::error("NOPROTO unsupported protocol version")),
                None => return Err(Reply::error("ERR Protocol version is not an integer or out of range")),
            },
        };
        let mut found = Options { protocol, auth: None, name: None };
        let mut options = args.get(2..).unwrap_or_default();
        while let Some((option, rest)) = options.split_first() {
            options = match rest {
                [user, password, rest @ ..] if option.eq_ignore_ascii_case(b"AUTH") => {
                    found.auth = Some((user, password));
                    rest
                }
                [name, rest @ ..] if option.eq_ignore_ascii_case(b"SETNAME") => {
                    found.name = Some(name);
                    set_name(&mut Session::default(), name)?;
                    rest
                }
                _ => {
                    let option = String::from_utf8_lossy(option);
                    return Err(Reply::Error(format!("ERR Syntax error in HELLO option '{option}'").into()));
                }
            };
        }
        Ok(found)
    }

    fn apply(
        self,
        session: &mut Session,
        mode: &str,
        role: Option<&str>,
        version: Version,
    ) -> Result<Reply, Reply> {
        if let Some(name) = self.name {
            set_name(session, name)?;
        }
        session.protocol = self.protocol;
        let protocol = if self.protocol == Protocol::Three { 3 } else { 2 };
        let pair = |name: &str, value: Reply| (Reply::text(name), value);
        let mut pairs = vec![
            pair("server", Reply::text(version.of_valkey().map_or("redis", |_| "valkey"))),
            pair("version", Reply::text(version.of_valkey().unwrap_or(version.text()))),
            pair("proto", Reply::Integer(protocol)),
            pair("id", Reply::Integer(session.id.number())),
            pair("mode", Reply::text(mode)),
        ];
        pairs.extend(role.map(|role| pair("role", Reply::text(role))));
        pairs.push(pair("modules", Reply::Array(Vec::new())));
        Ok(Reply::Map(pairs))
    }
}
