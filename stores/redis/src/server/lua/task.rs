//! The script that runs, for Lua's callbacks: they cannot borrow.

use std::cell::RefCell;

use mlua::{MultiValue, Value};

use crate::protocol::resp::{Protocol, Reply, doubles};
use crate::server::node::{Node, Running};

/// Nearly all commands of scripts have so many words at most.
const FEW: usize = 8;

/// The function that executes a command for the script that runs.
pub(crate) type Call = fn(&mut Node, &mut Running, &[&[u8]]) -> Result<Reply, Reply>;

/// The commands as scripts reach them. They are handed in: the table of commands is a floor above, since EVAL is one.
#[derive(Clone, Copy)]
pub(crate) struct Commands {
    /// Executes one.
    pub(crate) call: Call,
    /// True if there is one of this name, in any case.
    pub(crate) knows: fn(&[u8]) -> bool,
}

/// The state that a running script works on. Lua's callbacks cannot borrow, so the node moves here and back; in its place
/// stands a spare one meanwhile, which is kept, since making one takes longer than most scripts.
pub(super) struct Task {
    /// The node, or the spare one while no script runs.
    pub(super) node: Node,
    /// True while a script runs.
    runs: bool,
    /// The commands that it may call.
    pub(super) commands: Commands,
    /// The protocol in which it sees replies and gives its own.
    pub(super) protocol: Protocol,
    /// Its rights, and its effects.
    pub(super) running: Running,
    /// True while what it writes is not propagated.
    pub(super) silent: bool,
    /// The line at which it was stopped because it took too long.
    pub(super) stopped: Option<usize>,
}

thread_local! {
    static TASK: RefCell<Option<Task>> = const { RefCell::new(None) };
}

/// Hands a node over to the script that begins.
pub(super) fn begin(node: &mut Node, commands: Commands, running: Running) {
    TASK.with_borrow_mut(|slot| {
        let task = slot.get_or_insert_with(|| Task {
            node: Node::default(),
            runs: false,
            commands,
            protocol: Protocol::Two,
            running,
            silent: false,
            stopped: None,
        });
        std::mem::swap(&mut task.node, node);
        task.runs = true;
        task.commands = commands;
        task.protocol = Protocol::Two;
        task.running = running;
        task.silent = false;
        task.stopped = None;
    });
}

/// Takes the node back when the script has ended: the protocol that it spoke, and the line at which it was stopped.
pub(super) fn end(node: &mut Node) -> (Protocol, Option<usize>) {
    TASK.with_borrow_mut(|slot| {
        let task = slot.as_mut().expect("the node was handed over when the script began");
        std::mem::swap(&mut task.node, node);
        task.runs = false;
        (task.protocol, task.stopped)
    })
}

pub(super) fn with_task<T>(act: impl FnOnce(&mut Task) -> T) -> mlua::Result<T> {
    TASK.with_borrow_mut(|task| task.as_mut().filter(|task| task.runs).map(act))
        .ok_or_else(|| mlua::Error::runtime("no script is running"))
}

/// Reads the arguments of a command.
pub(super) fn with_words<T>(
    args: &MultiValue,
    act: impl FnOnce(&[&[u8]]) -> Result<T, Reply>,
) -> Result<T, Reply> {
    if args.is_empty() {
        return Err(Reply::error("ERR Please specify at least one argument for this redis lib call"));
    }
    let mut words = Vec::with_capacity(args.len());
    for arg in args {
        let word = Word::of(arg);
        words.push(
            word.ok_or(Reply::error("ERR Lua redis lib command arguments must be strings or integers"))?,
        );
    }
    let mut few: [&[u8]; FEW] = [&[]; FEW];
    match few.get_mut(..words.len()) {
        Some(few) => {
            few.iter_mut().zip(&words).for_each(|(place, word)| *place = word.bytes());
            act(few)
        }
        None => act(&words.iter().map(Word::bytes).collect::<Vec<_>>()),
    }
}

/// An argument of `redis.call`.
pub(super) enum Word {
    String(mlua::BorrowedBytes),
    Number(String),
}

impl Word {
    fn of(value: &Value) -> Option<Word> {
        match value {
            Value::String(text) => Some(Word::String(text.as_bytes())),
            Value::Integer(number) => Some(Word::Number(doubles::text(*number as f64))),
            Value::Number(number) => Some(Word::Number(doubles::text(*number))),
            _ => None,
        }
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Word::String(bytes) => bytes,
            Word::Number(text) => text.as_bytes(),
        }
    }
}
