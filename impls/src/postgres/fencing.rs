//! Fencing tokens of a database: the numbers of a sequence, which no transaction takes back and no restart of the server.
//!
//! A sequence keeps what it has handed out once a transaction is committed that has drawn from it, and not before: a number that was drawn in a
//! transaction under way is handed out again by a server that dies meanwhile (tried on PostgreSQL 15.20, also five seconds after the draw).
//! So a holder whose transaction lasts as long as its lock draws on another session.
//!
//! A token is drawn in the statement that takes the lock, or while the lock is held: one that is drawn later could be higher than that of
//! the next holder.
//!
//! *Source:* PostgreSQL 15 documentation, 9.17 Sequence Manipulation Functions.

use picklock_model::ids::Token;
use picklock_sim::design::Design;
use picklock_sim::param::{Args, Param, Word};
use tokio_postgres::Row;

use crate::client::session::{PostgresError, Session};

/// Where the fencing tokens come from.
pub(super) const FENCING: Param<Word> = Param {
    name: "fencing",
    domain: Word(&["none", "sequence"]),
    default: "none",
    doc: "the token of a grant, which the resource compares: none, or the next number of a sequence",
};

/// The statement that makes the sequence.
pub(super) const CREATE: &str = "CREATE SEQUENCE IF NOT EXISTS lock_token";

/// True if grants have tokens.
pub(super) fn is_on(args: &Args) -> bool {
    args.get(FENCING) == "sequence"
}

/// The design, which hands out tokens if they are on.
pub(super) fn on(args: &Args, design: Design) -> Design {
    if is_on(args) { design.fenced() } else { design }
}

/// Draws the next token, on a session without a transaction.
///
/// # Errors
/// When the server refused, or did not answer in time.
pub(super) async fn draw(session: &Session) -> Result<Option<Token>, PostgresError> {
    let rows = session.rows("SELECT nextval('lock_token')", &[]).await?;
    rows.first().map_or(Ok(None), token)
}

/// The token in the first column of a row, if there is one.
///
/// # Errors
/// When there is another thing.
pub(super) fn token(row: &Row) -> Result<Option<Token>, PostgresError> {
    let number: Option<i64> = row.try_get(0)?;
    Ok(number.and_then(|number| u64::try_from(number).ok()).map(Token))
}
