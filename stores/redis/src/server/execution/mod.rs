//! The execution of commands: the table of those that there are, what becomes of one that a session sends or a script
//! calls, and those that execute others: EXEC, EVAL and their kin.

mod command;
mod exec;
mod process;
mod redirect;
mod row;
mod script;
mod scripting;
mod table;
mod turn;

pub(crate) use row::Command;
pub(crate) use table::TABLE;
