//! The standby's end of the connection with its primary.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use picklock_model::ids::Origin;

use super::wire::{self, FromPrimary};
use crate::link::Link;
use crate::protocol::timestamp;
use crate::server::record::Record;
use crate::server::shared::Server;

/// `wal_receiver_timeout`: a primary that says nothing for so long is given up.
const PATIENCE: Duration = Duration::from_secs(60);

/// `wal_retrieve_retry_interval`: how long after it has asked it asks again at the earliest.
const RETRY: Duration = Duration::from_secs(5);

/// Follows a primary until this server leads itself.
pub(crate) async fn follow(server: Arc<Server>, primary: String) {
    let following = async {
        loop {
            let asked = server.host.monotonic();
            let _ = listen(&server, &primary).await;
            server.host.sleep_until(asked + RETRY).await;
        }
    };
    tokio::select! {
        biased;
        () = server.promoted.notified() => {}
        () = following => {}
    }
}

/// Replays what comes on one connection.
async fn listen(server: &Server, primary: &str) -> io::Result<()> {
    let name = server.host.name();
    let given = [("user", "postgres"), ("replication", "true"), ("application_name", &*name)];
    let mut link = Link::open(&server.host, primary, &given).await?;
    let place = server.state().machine.replicated.logged;
    link.send(Origin::default(), &wire::start(place)).await?;
    report(server, &mut link).await?;
    loop {
        let Ok(frame) = server.host.timeout(PATIENCE, link.next()).await else { return Ok(()) };
        let frame = frame?;
        match wire::from_primary(&frame) {
            FromPrimary::Log { records } => {
                let (origin, records) = (link.origin(), Record::decode(records));
                server.with(|machine, now| machine.replay(origin, records, now));
                report(server, &mut link).await?;
            }
            FromPrimary::Keepalive { answers: true } => report(server, &mut link).await?,
            FromPrimary::Keepalive { .. } | FromPrimary::Other => {}
        }
    }
}

/// Says what is on the disk.
async fn report(server: &Server, link: &mut Link) -> io::Result<()> {
    let place = server.state().machine.replicated.logged;
    link.send(link.origin(), &wire::status(place, timestamp(server.host.wall().as_nanos()))).await
}
