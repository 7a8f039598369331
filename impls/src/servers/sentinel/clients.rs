//! The clients of a Sentinel: their protocol, and the events that they have subscribed to.

use std::collections::{BTreeMap, BTreeSet};

use crate::servers::redis::resp::{Protocol, Reply};
use crate::servers::redis::{Session, SessionId, fits, hello, wrong_arity};

/// The connections of clients.
#[derive(Debug, Default)]
pub(super) struct Clients {
    all: BTreeMap<SessionId, Client>,
    last: u64,
}

/// One client.
#[derive(Debug, Default)]
struct Client {
    session: Session,
    channels: BTreeSet<Vec<u8>>,
    patterns: BTreeSet<Vec<u8>>,
}

/// What commands about the connection itself come to.
pub(super) enum Handled {
    /// They are answered.
    Here,
    /// Answered, and the connection ends.
    Ends,
    /// It is not such a command.
    Not,
}

impl Clients {
    pub(super) fn connect(&mut self) -> SessionId {
        self.last += 1;
        let id = SessionId(self.last);
        let mut session = Session::default();
        session.id = id;
        self.all.insert(id, Client { session, ..Client::default() });
        id
    }

    pub(super) fn disconnect(&mut self, id: SessionId) {
        self.all.remove(&id);
    }

    pub(super) fn protocol(&self, id: SessionId) -> Protocol {
        self.all.get(&id).map(|client| client.session.protocol).unwrap_or_default()
    }

    /// Executes a command if it is about the connection itself.
    pub(super) fn handle(&mut self, id: SessionId, args: &[&[u8]], out: &mut Vec<u8>) -> Handled {
        let Some(client) = self.all.get_mut(&id) else { return Handled::Not };
        let name = args[0].to_ascii_lowercase();
        let reply = match name.as_slice() {
            b"subscribe" | b"psubscribe" if args.len() < 2 => wrong_arity(&String::from_utf8_lossy(&name)),
            b"subscribe" => return client.subscribe("subscribe", &args[1..], out),
            b"psubscribe" => return client.subscribe("psubscribe", &args[1..], out),
            b"unsubscribe" => return client.unsubscribe("unsubscribe", &args[1..], out),
            b"punsubscribe" => return client.unsubscribe("punsubscribe", &args[1..], out),
            b"ping" if client.count() > 0 && client.session.protocol == Protocol::Two => {
                let text = args.get(1).map_or(Vec::new(), |text| text.to_vec());
                Reply::Array(vec![Reply::text("pong"), Reply::Bulk(text)])
            }
            b"hello" => {
                hello(&mut client.session, args, "sentinel", "sentinel").unwrap_or_else(|error| error)
            }
            b"client" if args.len() == 2 && args[1].eq_ignore_ascii_case(b"ID") => {
                Reply::Integer(id.number())
            }
            b"quit" => {
                Reply::OK.encode(client.session.protocol, out);
                return Handled::Ends;
            }
            _ => return Handled::Not,
        };
        reply.encode(client.session.protocol, out);
        Handled::Here
    }

    /// Who gets an event, and in what form.
    pub(super) fn deliveries(&self, channel: &str, message: &str) -> Vec<(SessionId, Vec<u8>)> {
        let mut all = Vec::new();
        let text = Reply::text;
        for (id, client) in &self.all {
            let mut bytes = Vec::new();
            if client.channels.contains(channel.as_bytes()) {
                let push = Reply::Push(vec![text("message"), text(channel), text(message)]);
                push.encode(client.session.protocol, &mut bytes);
            }
            for pattern in client.patterns.iter().filter(|pattern| fits(pattern, channel.as_bytes())) {
                let pattern = Reply::Bulk(pattern.clone());
                let push = Reply::Push(vec![text("pmessage"), pattern, text(channel), text(message)]);
                push.encode(client.session.protocol, &mut bytes);
            }
            if !bytes.is_empty() {
                all.push((*id, bytes));
            }
        }
        all
    }
}

impl Client {
    fn count(&self) -> usize {
        self.channels.len() + self.patterns.len()
    }

    fn set(&mut self, kind: &str) -> &mut BTreeSet<Vec<u8>> {
        if kind.starts_with('p') { &mut self.patterns } else { &mut self.channels }
    }

    fn subscribe(&mut self, kind: &str, names: &[&[u8]], out: &mut Vec<u8>) -> Handled {
        for name in names {
            self.set(kind).insert(name.to_vec());
            self.confirm(kind, Reply::Bulk(name.to_vec()), out);
        }
        Handled::Here
    }

    fn unsubscribe(&mut self, kind: &str, names: &[&[u8]], out: &mut Vec<u8>) -> Handled {
        let all: Vec<Vec<u8>> = if names.is_empty() {
            self.set(kind).iter().cloned().collect()
        } else {
            names.iter().map(|name| name.to_vec()).collect()
        };
        if all.is_empty() {
            self.confirm(kind, Reply::Nil, out);
        }
        for name in all {
            self.set(kind).remove(&name);
            self.confirm(kind, Reply::Bulk(name), out);
        }
        Handled::Here
    }

    fn confirm(&self, kind: &str, name: Reply, out: &mut Vec<u8>) {
        let count = Reply::Integer(i64::try_from(self.count()).unwrap_or(i64::MAX));
        Reply::Push(vec![Reply::text(kind), name, count]).encode(self.session.protocol, out);
    }
}
