//! The clients' side of a Sentinel: its commands, and subscriptions to its events.
//!
//! Connections, their protocol and names, and Pub/Sub are those of a Redis server: a node without data keeps them. The
//! commands that a Sentinel has are those of `SENTINEL` mode, all others are unknown.
//!
//! Left out on purpose: COMMAND lists the commands of a node.

use bstr::ByteSlice as _;
use picklock_model::time::WallTime;

use super::state::{Act, Sentinel};
use super::watch::HELLO;
use crate::protocol::resp::Reply;
use crate::server::node::{Delivery, Next, Node, SessionId};

/// The commands that are those of a node.
const OF_A_NODE: [&str; 11] = [
    "acl",
    "auth",
    "client",
    "command",
    "ping",
    "psubscribe",
    "punsubscribe",
    "quit",
    "shutdown",
    "subscribe",
    "unsubscribe",
];

/// How many commands there are with those that only a Sentinel has: HELLO, INFO, PUBLISH, ROLE and SENTINEL, less QUIT, which
/// is in no table of Redis.
const COMMANDS: i64 = OF_A_NODE.len() as i64 - 1 + 5;

/// A Sentinel and its clients.
#[derive(Debug)]
pub(super) struct Front {
    pub(super) sentinel: Sentinel,
    node: Node,
}

impl Front {
    /// A Sentinel whose process has this name, if it has one of its own.
    pub(super) fn new(sentinel: Sentinel, run_id: Option<String>) -> Front {
        let mut node = Node::default();
        if let Some(run_id) = run_id {
            node.config.run_id = run_id;
        }
        Front { sentinel, node }
    }

    /// A new connection from this host.
    pub(super) fn connect(&mut self, peer: &str) -> SessionId {
        self.node.connect(peer)
    }

    /// The end of a connection.
    pub(super) fn disconnect(&mut self, id: SessionId) {
        self.node.disconnect(id);
    }

    /// Executes a command of a connection when the wall clock shows `now`, and appends the reply to `reply`.
    pub(super) fn execute(
        &mut self,
        now: WallTime,
        id: SessionId,
        args: &[&[u8]],
        reply: &mut Vec<u8>,
    ) -> Next {
        let Some(name) = args.first() else { return Next::Continue };
        if let [command, count] = args
            && command.eq_ignore_ascii_case(b"command")
            && count.eq_ignore_ascii_case(b"count")
        {
            self.node.answer_for(id, "command|count", reply, || Reply::Integer(COMMANDS));
            return Next::Continue;
        }
        if OF_A_NODE.iter().any(|known| name.eq_ignore_ascii_case(known.as_bytes())) {
            return self.node.execute(now, id, args, reply).next;
        }
        self.sentinel.set_now(super::state::millis(now));
        let is = |word: &[u8], least: usize| name.eq_ignore_ascii_case(word) && args.len() >= least;
        let exact = |word: &[u8], count: usize| is(word, count) && args.len() == count;
        let Front { sentinel, node } = self;
        match () {
            () if is(b"sentinel", 2) => {
                let name = format!("sentinel|{}", String::from_utf8_lossy(args[1]).to_ascii_lowercase());
                node.answer_for(id, &name, reply, || sentinel.command_of_client(args));
            }
            () if exact(b"publish", 3) => node.answer_for(id, "publish", reply, || sentinel.published(args)),
            () if exact(b"role", 1) => node.answer_for(id, "role", reply, || sentinel.role()),
            () if is(b"hello", 1) => node.hello_as_sentinel(id, args, reply),
            () if is(b"info", 1) => self.info(now, id, args, reply),
            () => self.node.refuse_for(id, args, &["sentinel", "publish", "role"], reply),
        }
        Next::Continue
    }

    /// INFO: what a server says of itself, and the state of what is watched.
    fn info(&mut self, now: WallTime, id: SessionId, args: &[&[u8]], reply: &mut Vec<u8>) {
        let asked = |name: &str| args[1..].iter().any(|word| word.eq_ignore_ascii_case(name.as_bytes()));
        let usual = args.len() == 1 || asked("default") || asked("all") || asked("everything");
        let mut sections: Vec<&[u8]> = vec![b"INFO"];
        for name in ["server", "clients", "stats", "cpu"] {
            if usual || asked(name) {
                sections.push(name.as_bytes());
            }
        }
        let mut text = String::new();
        if sections.len() > 1 {
            text = self.node.info_for(now, &sections);
            text = text.replace("redis_mode:standalone", "redis_mode:sentinel");
            text = text.replace("tcp_port:6379", &format!("tcp_port:{}", self.sentinel.address.port));
        }
        if usual || asked("sentinel") {
            if !text.is_empty() {
                text.push_str("\r\n");
            }
            text.push_str(&self.sentinel.info());
        }
        self.node.answer_for(id, "info", reply, || Reply::Bulk(text.into_bytes()));
    }

    /// Sends an event to the clients that have subscribed to it.
    pub(super) fn publish(&mut self, channel: &str, message: &str) {
        self.node.publish(channel.as_bytes(), message.as_bytes());
    }

    /// The messages to clients besides the replies to their own commands.
    pub(super) fn take_deliveries(&mut self) -> Vec<Delivery> {
        self.node.take_deliveries()
    }

    /// The acts that the Sentinel asks for.
    pub(super) fn take_acts(&mut self) -> Vec<Act> {
        self.sentinel.take_acts()
    }
}

impl Sentinel {
    /// PUBLISH: other Sentinels greet in this way as well.
    fn published(&mut self, args: &[&[u8]]) -> Reply {
        if args[1] != HELLO {
            return Reply::error("ERR Only HELLO messages are accepted by Sentinel instances.");
        }
        self.hear_greeting(&args[2].to_str_lossy());
        Reply::Integer(1)
    }

    /// ROLE: the names of the primaries that are watched.
    fn role(&self) -> Reply {
        let names = self.primaries().into_iter().map(|id| Reply::text(&self.instance(id).name)).collect();
        Reply::Array(vec![Reply::text("sentinel"), Reply::Array(names)])
    }

    /// The section of INFO that only a Sentinel has.
    fn info(&self) -> String {
        let primaries = self.primaries();
        let tilt = self.tilt_since.map_or(-1, |since| (self.now - since) / 1_000);
        let failures = u8::from(self.failures.after_election) | u8::from(self.failures.after_promotion) << 1;
        let mut text = format!(
            "# Sentinel\r\nsentinel_masters:{}\r\nsentinel_tilt:{}\r\nsentinel_tilt_since_seconds:{tilt}\r\n\
             sentinel_running_scripts:0\r\nsentinel_scripts_queue_length:0\r\n\
             sentinel_simulate_failure_flags:{failures}\r\n",
            primaries.len(),
            u8::from(self.tilt_since.is_some()),
        );
        for (at, id) in primaries.into_iter().enumerate() {
            let instance = self.instance(id);
            let status = match (self.primary(id).is_down, instance.is_down) {
                (true, _) => "odown",
                (false, true) => "sdown",
                (false, false) => "ok",
            };
            let (host, port) = (&instance.address.host, instance.address.port);
            let (replicas, sentinels) = (self.replicas_of(id).count(), self.sentinels_of(id).count() + 1);
            let name = &instance.name;
            text.push_str(&format!(
                "master{at}:name={name},status={status},address={host}:{port},slaves={replicas},\
                 sentinels={sentinels}\r\n"
            ));
        }
        text
    }
}
