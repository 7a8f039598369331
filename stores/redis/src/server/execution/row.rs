//! A row of the table of commands, and the search for one by its name.

use crate::protocol::resp::Reply;
use crate::server::catalogue::{self, flags};
use crate::server::commands::{OnData, OnServer, unknown, unknown_subcommand, wrong_arity};
use crate::server::node::{Answer, Node, SessionId};
use crate::server::store::Store;
use crate::server::version::Version;

/// A command: a row of the table.
#[derive(Clone, Copy)]
pub(crate) struct Command {
    /// Its name in lowercase.
    pub(crate) name: &'static str,
    /// Its name as one number, which a search compares faster than a text.
    number: u128,
    /// How many arguments it takes with its name; at least so many if negative.
    arity: i32,
    /// The properties of the command: bits of [`flags`].
    pub(crate) flags: u32,
    /// True if it may change data.
    pub(crate) writes: bool,
    /// True if what it does depends on its subcommand.
    container: bool,
    /// Where it stands in the catalogue.
    pub(crate) nth: usize,
    /// The function that executes it.
    pub(crate) run: Run,
}

#[derive(Clone, Copy)]
pub(crate) enum Run {
    Data(OnData),
    Server(OnServer),
    Table(OnTable),
}

/// The execution of a command on the table of commands.
pub(crate) type OnTable = fn(&Table, &mut Node, SessionId, &[&[u8]]) -> Result<Answer, Reply>;

pub(super) const fn read(name: &'static str, arity: i32, run: OnData) -> Command {
    row(name, arity, false, Run::Data(run))
}

pub(super) const fn write(name: &'static str, arity: i32, run: OnData) -> Command {
    row(name, arity, true, Run::Data(run))
}

pub(super) const fn serve(name: &'static str, arity: i32, run: OnServer) -> Command {
    row(name, arity, false, Run::Server(run))
}

pub(super) const fn about(name: &'static str, arity: i32, run: OnTable) -> Command {
    row(name, arity, false, Run::Table(run))
}

/// A row has only what is not in the catalogue; what is in both must agree.
const fn row(name: &'static str, arity: i32, writes: bool, run: Run) -> Command {
    let Some(nth) = catalogue::position(name) else { panic!("all commands are in the catalogue") };
    let fact = &catalogue::FACTS[nth];
    assert!(fact.arity == arity, "the arity is Redis's");
    assert!(!writes || fact.flags & flags::WRITE != 0, "it writes in Redis as well");
    let flags = if may_replicate(name) { fact.flags | flags::MAY_REPLICATE } else { fact.flags };
    let number = number_of(name.as_bytes());
    Command { name, number, arity, flags, writes, container: catalogue::is_container(name), nth, run }
}

/// True for commands that change no data themselves, and may all the same have effects on replicas.
const fn may_replicate(name: &str) -> bool {
    matches!(name.as_bytes(), b"eval" | b"evalsha" | b"publish" | b"spublish")
}

/// No name is longer than this.
const NAME_MAX: usize = 16;

/// A name in any case as a number, in the order of the alphabet.
const fn number_of(name: &[u8]) -> u128 {
    let mut lower = [0; NAME_MAX];
    let mut at = 0;
    while at < name.len() {
        lower[at] = name[at].to_ascii_lowercase();
        at += 1;
    }
    u128::from_be_bytes(lower)
}

/// A table of commands that is searched by name.
pub(crate) struct Table {
    pub(super) rows: &'static [Command],
    /// The number of each row, at the place that its name gives, or at the next free one.
    places: [u16; 1024],
}

impl Table {
    /// The table of these rows.
    pub(super) const fn new(rows: &'static [Command]) -> Table {
        Table { rows, places: places(rows) }
    }

    /// The row of a name in any case.
    pub(crate) fn find(&self, name: &[u8]) -> Option<&'static Command> {
        if name.len() > NAME_MAX {
            return None;
        }
        let number = number_of(name);
        let mut place = place_of(number);
        let command = loop {
            let command = self.rows.get(usize::from(self.places[place]))?;
            if command.number == number {
                break command;
            }
            place = (place + 1) % self.places.len();
        };
        // A name that ends with zero bytes has the number of the name without them.
        Some(command).filter(|command| command.name.len() == name.len())
    }

    /// The row of a command with enough arguments.
    pub(crate) fn named(&self, args: &[&[u8]]) -> Option<&'static Command> {
        self.find(args.first()?).filter(|command| command.takes(args.len()))
    }

    /// The command that a client means, with the flags and the name of its subcommand if it has one.
    ///
    /// # Errors
    /// The reply to give when there is no such command, or not with so many arguments.
    pub(crate) fn resolve(&self, name: &[u8], args: &[&[u8]], version: Version) -> Result<Command, Reply> {
        let mut command = *self.find(name).ok_or_else(|| unknown(args))?;
        if command.container && args.len() > 1 {
            let fact = catalogue::subcommand(command.name, args[1], version);
            let (nth, fact) = fact.ok_or_else(|| unknown_subcommand(command.name, args[1]))?;
            command.nth = nth;
            (command.name, command.flags, command.arity) = (fact.name, fact.flags, fact.arity);
        } else if !catalogue::has(version, command.nth) {
            return Err(unknown(args));
        }
        if command.takes(args.len()) { Ok(command) } else { Err(wrong_arity(command.name)) }
    }
}

/// The place of no row.
const FREE: u16 = u16::MAX;

const fn places(table: &[Command]) -> [u16; 1024] {
    let mut places = [FREE; 1024];
    let mut row = 0;
    while row < table.len() {
        let mut place = place_of(table[row].number);
        while places[place] != FREE {
            place = (place + 1) % places.len();
        }
        places[place] = row as u16;
        row += 1;
    }
    places
}

/// The place for a number: the ten highest bits of a product with the golden ratio, which differ for names that are alike.
const fn place_of(number: u128) -> usize {
    let folded = (number >> 64) as u64 ^ number as u64;
    (folded.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54) as usize
}

impl Command {
    /// True if it has any of these flags.
    pub(crate) fn is(&self, flags: u32) -> bool {
        self.flags & flags != 0
    }

    /// Executes an effect, which came by a stream or from a file. Its reply is of no interest: the primary's client got one.
    pub(crate) fn apply(&self, store: &mut Store, args: &[&[u8]]) {
        match self.run {
            Run::Data(run) if self.writes => drop(run(store, args)),
            _ => {}
        }
    }

    /// True if it takes this many arguments, its name included.
    pub(crate) fn takes(&self, args: usize) -> bool {
        takes(self.arity, args)
    }
}

fn takes(arity: i32, args: usize) -> bool {
    let least = arity.unsigned_abs() as usize;
    if arity < 0 { args >= least } else { args == least }
}
