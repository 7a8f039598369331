//! The primary's end of a connection with a standby.

use std::io;
use std::time::Duration;

use picklock_model::ids::Origin;
use picklock_sim::stream::{ReadHalf, WriteHalf};
use tokio::io::AsyncReadExt as _;
use tokio::sync::mpsc;

use super::wire;
use crate::protocol::{Replies, Senseless, SqlError, frame, timestamp};
use crate::server::shared::{Chunk, Server};

/// `wal_sender_timeout`: a standby that says nothing for so long is given up; after half of it, it is asked.
const PATIENCE: Duration = Duration::from_secs(60);

/// Sends a standby the log, until it goes. `received` is what it has sent so far.
pub(crate) async fn feed(
    server: &Server,
    mut read: ReadHalf,
    mut write: WriteHalf,
    mut received: Vec<u8>,
) -> io::Result<()> {
    let mut parts: Option<mpsc::UnboundedReceiver<Chunk>> = None;
    let (mut heard, mut asked) = (server.host.monotonic(), false);
    loop {
        while let Some(frame) = frame(&mut received).map_err(|Senseless| io::ErrorKind::InvalidData)? {
            if let Some(place) = wire::started(&frame) {
                match follow_from(server, place) {
                    Ok((missed, rest)) => {
                        write.write_for(read.origin(), &wire::copy_both()).await?;
                        write.write_for(Origin::default(), &missed).await?;
                        parts = Some(rest);
                    }
                    Err(error) => {
                        let mut refusal = Replies::default();
                        refusal.error(&error);
                        return write.write_for(read.origin(), &refusal.0).await;
                    }
                }
            } else if let Some(place) = wire::flushed(&frame) {
                server.with(|machine, now| machine.copied(place, now));
            } else if matches!(frame.kind, b'X' | b'c') {
                return Ok(());
            }
        }
        let due = heard + if asked { PATIENCE } else { PATIENCE / 2 };
        let next = async {
            match &mut parts {
                Some(parts) => parts.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            chunk = next => {
                let Some(Chunk { origin, end, bytes }) = chunk else { return Ok(()) };
                write.write_for(origin, &wire::log_data(end, clock(server), &bytes)).await?;
            }
            len = read.read_buf(&mut received) => {
                if len? == 0 {
                    return Ok(());
                }
                (heard, asked) = (server.host.monotonic(), false);
            }
            () = server.host.sleep_until(due) => {
                if asked {
                    return Ok(());
                }
                asked = true;
                let end = server.state().machine.replicated.logged;
                write.write_for(Origin::default(), &wire::keepalive(end, clock(server), true)).await?;
            }
        }
    }
}

/// What the log has from this place on, and the rest as it is written.
fn follow_from(server: &Server, place: u64) -> Result<(Vec<u8>, mpsc::UnboundedReceiver<Chunk>), SqlError> {
    let mut state = server.state();
    let (bytes, end) = state.journal.tail(place);
    if place > end {
        // A standby has what this server has not: one of them is of another history.
        let lsn = |place: u64| format!("{:X}/{:X}", place >> 32, place & 0xffff_ffff);
        let (asked, has) = (lsn(place), lsn(end));
        let text = "is ahead of the WAL flush position of this server";
        return Err(SqlError::fatal("XX000", format!("requested starting point {asked} {text} {has}")));
    }
    let (feed, parts) = mpsc::unbounded_channel();
    state.feeds.push(feed);
    let missed = if bytes.is_empty() { bytes } else { wire::log_data(end, clock(server), &bytes) };
    Ok((missed, parts))
}

/// The time as messages have it.
fn clock(server: &Server) -> i64 {
    timestamp(server.host.wall().as_nanos())
}
