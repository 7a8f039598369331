//! The lock of a database row for something that is not in the database: a file, a mail, another service.
//!
//! *Claim:* as the [row lock](super::row_lock): one holder for as long as its transaction lasts, and no lease that could end.
//! *Weakness:* a transaction that ends without its holder takes nothing back. Where the database restarts or the connection breaks,
//! the holder works on and another one begins. A holder that dies races its own last request: the database learns of the death in one
//! hop. Others stall for as long as the holder does, as with the row lock. `fencing=sequence` has the resource refuse an earlier holder.
//! *Source:* PostgreSQL 15 documentation, 13.3.2; M. Kleppmann, How to do distributed locking (2016), for the missing token.

use picklock_sim::design::{Context, Design, Family};
use picklock_sim::lock::Client;
use picklock_sim::params;

use super::fencing::{self, FENCING};
use super::row_lock::{FOR_UPDATE, Locking, RowLock, of_connections};
use super::waiting::{CLIENT_TIMEOUT, GIVE_UP, KEEPALIVE, Waiting, server};

/// The family of designs that lock a row of one PostgreSQL server and change something else.
pub static FAMILY: Family = Family {
    name: "row-lock-outside",
    claim: "SELECT ... FOR UPDATE for data that lie elsewhere: one holder for as long as its transaction lasts",
    weakness: "the end of the transaction takes back nothing that its holder does outside",
    source: "PostgreSQL 15 documentation, 13.3.2 Row-Level Locks",
    params: params![GIVE_UP, CLIENT_TIMEOUT, KEEPALIVE, FENCING],
    build: |args| {
        let (waiting, locking) =
            (Waiting::of(args), Locking { clause: FOR_UPDATE, fenced: fencing::is_on(args) });
        let client = move |context: Context| async move {
            Ok(Client::lock(RowLock::new(&context, waiting, locking)?))
        };
        fencing::on(args, of_connections(args, Design::new("", client), server(args)))
    },
};
