//! The execution of a command: whether it may be now (Redis 7.0 `processCommand`), what it does, what follows from it.

use super::command::keys;
use super::row::{Command, Run};
use super::table::TABLE;
use crate::protocol::resp::Reply;
use crate::server::catalogue::{self, flags};
use crate::server::node::{
    Answer, Cause, KeptCommand, MASTER_DOWN, NOT_ENOUGH_REPLICAS, Next, Node, OUT_OF_MEMORY, READ_ONLY,
    SessionId, Sha, only_listens,
};
use crate::server::shebang::script_flags;

/// The treatment of a command.
enum Admission {
    Execute,
    /// It belongs to a transaction.
    Queue,
    /// There is a pause.
    Postpone,
}

impl Node {
    /// Executes, queues, postpones or refuses a command of a session.
    pub(crate) fn process(&mut self, id: SessionId, args: &[&[u8]]) -> Next {
        self.tracking.turn = Some(id);
        let next = self.decide(id, args);
        if self.tracking.used && !self.continues_caching(id, args) {
            self.advance_caching(id);
        }
        if self.cluster.is_some() {
            self.end_asking(id, args);
        }
        // One that waits is not done yet.
        if !matches!(next, Next::Blocked | Next::Runaway(_)) {
            self.advance_answers(id);
        }
        next
    }

    /// ASKING holds for one command, or for a transaction.
    fn end_asking(&mut self, id: SessionId, args: &[&[u8]]) {
        let session = self.session_mut(id);
        let asks = args.first().is_some_and(|name| name.eq_ignore_ascii_case(b"asking"));
        if !asks && session.transaction.is_none() {
            session.asking = false;
        }
    }

    /// True if CLIENT CACHING still holds after a command: one about the client itself, or one that is kept for the end of a pause.
    fn continues_caching(&self, id: SessionId, args: &[&[u8]]) -> bool {
        let about_client = |name: &&[u8]| name.eq_ignore_ascii_case(b"client");
        let known = |sub: &&[u8]| catalogue::subcommand("client", sub, self.store.version).is_some();
        let waiting = self.session(id).waiting.as_deref();
        args.first().is_some_and(about_client) && args.get(1).is_none_or(known)
            || waiting.is_some_and(|waiting| matches!(waiting.cause, Cause::Pause { .. }))
    }

    fn decide(&mut self, id: SessionId, args: &[&[u8]]) -> Next {
        let Some(name) = args.first() else { return Next::Continue };
        if self.session(id).leaving {
            return Next::Close;
        }
        if FOREIGN.iter().any(|word| name.eq_ignore_ascii_case(word)) {
            self.session_mut(id).leaving = true;
            return Next::Close;
        }
        let command = match TABLE.resolve(name, args, self.store.version) {
            Ok(command) => command,
            Err(reply) => {
                let reply = self.refusal(args, reply);
                let ends = name.eq_ignore_ascii_case(b"exec");
                self.refuse(id, ends, reply);
                return Next::Continue;
            }
        };
        let now = self.store.now_ms();
        let session = self.session_mut(id);
        session.active_ms = now;
        session.last = command.name;
        let flags = self.flags_of(&command, args);
        if self.cluster.is_some()
            && self.may_ask(id, &command)
            && let Some(reply) = self.redirection(id, &command, flags, args)
        {
            if command.name == "exec" {
                self.discard(id);
            }
            self.stats.of(command.nth).refused += 1;
            self.refuse(id, false, reply);
            return Next::Continue;
        }
        match self.admit(id, &command, flags) {
            Ok(Admission::Execute) => self.call(id, &command, args),
            Ok(Admission::Queue) => {
                self.queue(id, flags, args);
                self.reply(id, &Reply::Status("QUEUED".into()));
                Next::Continue
            }
            Ok(Admission::Postpone) => {
                let kept: KeptCommand = args.iter().map(|arg| arg.to_vec()).collect();
                self.postpone(id, kept, Node::process)
            }
            Err(reply) => {
                self.stats.of(command.nth).refused += 1;
                self.refuse(id, command.name == "exec", reply);
                Next::Continue
            }
        }
    }

    /// The reply to a command that is not in the table, instead of this one if it is Redis's and only the node does not have it.
    pub(super) fn refusal(&mut self, args: &[&[u8]], reply: Reply) -> Reply {
        match catalogue::lacking(args, self.store.version) {
            Some(name) => self.store.not_modelled(&name.replace('|', " ").to_ascii_uppercase()),
            None => reply,
        }
    }

    /// Answers a command that is not executed. A transaction that it belongs to will fail.
    fn refuse(&mut self, id: SessionId, ends: bool, reply: Reply) {
        self.stats.refused += 1;
        let reply = match reply {
            Reply::Error(text) if ends => {
                self.discard(id);
                let text = text.strip_prefix("ERR ").unwrap_or(&text).to_owned();
                Reply::Error(format!("EXECABORT Transaction discarded because of: {text}").into())
            }
            other => other,
        };
        if let Some(transaction) = &mut self.session_mut(id).transaction {
            transaction.refused = true;
        }
        if let Reply::Error(text) = &reply {
            self.stats.count_error(text);
        }
        self.reply(id, &reply);
    }

    /// Keeps a command for the end of its transaction, unless that will fail anyway: then nobody is asked for its slot either.
    fn queue(&mut self, id: SessionId, flags: u32, args: &[&[u8]]) {
        let session = self.session_mut(id);
        let Some(transaction) = session.transaction.as_mut() else { return };
        if session.overtaken || transaction.refused {
            return;
        }
        transaction.commands.push(args.iter().map(|arg| arg.to_vec()).collect());
        transaction.flags |= flags;
        transaction.lacks |= !flags;
    }

    /// Executes a command of a transaction.
    pub(super) fn call_queued(&mut self, id: SessionId, args: &[&[u8]]) -> Next {
        match TABLE.resolve(args[0], args, self.store.version) {
            Ok(command) => self.call(id, &command, args),
            Err(reply) => {
                self.reply(id, &reply);
                Next::Continue
            }
        }
    }

    /// Executes a command, says what it did to who wants to know, and answers.
    fn call(&mut self, id: SessionId, command: &Command, args: &[&[u8]]) -> Next {
        let monitored = !self.monitors.is_empty();
        // A script is shown before what it calls, a transaction after what belongs to it.
        if monitored && SCRIPTS.contains(&command.name) {
            self.show(id, false, args);
        }
        self.stats.commands += 1;
        self.stats.of(command.nth).done += 1;
        self.store.selected = self.session(id).database;
        let remembers = self.tracking.used && self.remembers(id);
        if remembers && SCRIPTS.contains(&command.name) {
            self.tracking.of_script = self.keys_of(args);
        }
        let answer = match command.run {
            Run::Data(run) => run(&mut self.store, args).map(Answer::from),
            Run::Server(run) => run(self, id, args),
            Run::Table(run) => run(&TABLE, self, id, args),
        };
        let answer = answer.unwrap_or_else(Answer::from);
        if !self.store.changes.is_empty() {
            self.digest_own_changes(false);
        }
        if remembers && command.is(flags::READONLY) && !SCRIPTS.contains(&command.name) {
            let keys = self.keys_of(args);
            self.remember(id, keys.iter().map(Vec::as_slice));
        }
        if let Some(reply) = &answer.reply {
            if let Reply::Error(text) = reply {
                if !answer.counted {
                    self.stats.count_error(text);
                }
                self.stats.of(command.nth).failed += 1;
            }
            self.reply(id, reply);
        }
        if monitored && !command.is(flags::SKIP_MONITOR | flags::ADMIN) {
            self.show(id, false, args);
        }
        self.send_pending(id);
        answer.next
    }

    /// The keys that a command names.
    pub(crate) fn keys_of(&self, args: &[&[u8]]) -> Vec<Vec<u8>> {
        let keys = keys(&TABLE, args, self.store.version).unwrap_or_default();
        keys.into_iter().map(|(key, _)| key.to_vec()).collect()
    }

    /// The flags of a command. A script that says what it does has others than one that may do anything.
    fn flags_of(&self, command: &Command, args: &[&[u8]]) -> u32 {
        let declared = match command.name {
            "eval" | "eval_ro" => args.get(1).and_then(|body| script_flags(body)),
            "evalsha" | "evalsha_ro" => {
                args.get(1).and_then(|sha| self.scripts.get(&Sha::parse(sha)?)).map(|script| script.flags)
            }
            _ => None,
        };
        declared.map_or(command.flags, |declared| declared.of_command(command.flags))
    }

    /// False if a command is refused whatever its keys are.
    fn may_ask(&self, id: SessionId, command: &Command) -> bool {
        let session = self.session(id);
        let shut = !session.authenticated && !self.config.password.is_empty();
        let barred = session.transaction.is_some() && command.is(flags::NO_MULTI);
        !shut && !barred
    }

    /// The admission of a command with these flags, or the reply that refuses it.
    fn admit(&mut self, id: SessionId, command: &Command, flags: u32) -> Result<Admission, Reply> {
        let session = self.sessions.get(&id).expect("a session is used only while it is connected");
        let multi = session.transaction.is_some();
        let (flags, lacks) = match &session.transaction {
            Some(transaction) if command.name == "exec" => {
                (flags | transaction.flags, !flags | transaction.lacks)
            }
            _ => (flags, !flags),
        };
        let writes = flags & flags::WRITE != 0;
        if !session.authenticated && !self.config.password.is_empty() && !command.is(flags::NO_AUTH) {
            return Err(Reply::error("NOAUTH Authentication required."));
        }
        if multi && command.is(flags::NO_MULTI) {
            return Err(Reply::error("ERR Command not allowed inside a transaction"));
        }
        let listens = session.only_listens();
        if self.config.maxmemory > 0 && self.busy.is_none() {
            let ends = matches!(command.name, "exec" | "discard" | "quit" | "reset");
            let demanding = flags & flags::DENYOOM != 0 || multi && !ends;
            self.short_of_memory = !self.make_room();
            self.digest_changes();
            if self.short_of_memory && demanding {
                return Err(OUT_OF_MEMORY);
            }
        }
        if writes && self.lacks_replicas() {
            return Err(NOT_ENOUGH_REPLICAS);
        }
        if writes && self.is_read_only() {
            return Err(READ_ONLY);
        }
        if listens && !LISTENERS.contains(&command.name) {
            return Err(only_listens(command.name));
        }
        if self.is_stale() && lacks & flags::STALE != 0 {
            return Err(MASTER_DOWN);
        }
        if self.loading && lacks & flags::LOADING != 0 {
            return Err(Reply::error("LOADING Redis is loading the dataset in memory"));
        }
        if let Some(busy) = self.busy.as_ref().filter(|_| !command.is(flags::ALLOW_BUSY)) {
            return Err(busy.refusal());
        }
        let may_write = writes || flags & flags::MAY_REPLICATE != 0 && SCRIPTS.contains(&command.name);
        if may_write && self.refusals > 0 {
            self.refusals -= 1;
            return Err(OUT_OF_MEMORY);
        }
        if let Some(pause) = self.paused()
            && (pause.all || writes || flags & flags::MAY_REPLICATE != 0)
            && !self.is_fed(id)
            && !self.is_fed_with_slots(id)
        {
            return Ok(Admission::Postpone);
        }
        if multi && !AT_ONCE.contains(&command.name) {
            return Ok(Admission::Queue);
        }
        Ok(Admission::Execute)
    }
}

/// The commands that a session may send while it listens and speaks RESP2.
const LISTENERS: [&str; 9] = [
    "ping",
    "subscribe",
    "ssubscribe",
    "sunsubscribe",
    "psubscribe",
    "unsubscribe",
    "punsubscribe",
    "quit",
    "reset",
];
/// The words of a browser that was led to send a web page's request to a node: nothing that follows them is executed.
const FOREIGN: [&[u8]; 2] = [b"POST", b"Host:"];
/// The commands that run scripts.
const SCRIPTS: [&str; 4] = ["eval", "eval_ro", "evalsha", "evalsha_ro"];
/// The commands that are not queued in a transaction.
const AT_ONCE: [&str; 6] = ["exec", "discard", "multi", "watch", "quit", "reset"];
