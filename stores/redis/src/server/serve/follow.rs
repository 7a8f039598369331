//! The tasks of replication on a host: the cron of once a second, and the link to the primary.
//!
//! A replica connects when it is ordered to and as soon as a link breaks; if that fails, on the next beat of the cron. It
//! acknowledges on every beat, and when the primary asks.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use picklock_model::time::Monotonic;
use picklock_sim::host::Origin;
use picklock_sim::stream::{Stream, WriteHalf};
use tokio::io::AsyncReadExt as _;

use super::server::Server;
use crate::server::following::{Link, LinkError};
use crate::server::node::{LinkState, Upstream};

/// The period of the replication cron.
const BEAT: Duration = Duration::from_secs(1);

/// The period while this node wants another to take over.
const HURRIED_BEAT: Duration = Duration::from_millis(100);

/// Keeps a node in step with its primary, whenever it has one.
pub(crate) async fn follow(server: Arc<Server>) {
    let born = server.host.monotonic();
    loop {
        let upstream = server.shared().node.upstream().cloned();
        let Some(upstream) = upstream else {
            server.role_changed.notified().await;
            continue;
        };
        tokio::select! {
            biased;
            () = server.role_changed.notified() => {}
            () = keep_link(&server, &upstream, born) => {}
        }
    }
}

/// The cron of a node with replicas.
pub(crate) async fn cron(server: Arc<Server>) {
    let born = server.host.monotonic();
    loop {
        if !server.shared().node.needs_beats() {
            server.fed.notified().await;
            continue;
        }
        server.host.sleep_until(next_beat(born, server.host.monotonic())).await;
        let now = server.host.wall();
        let mut shared = server.shared();
        let effects = shared.node.beat(now);
        server.publish(&mut shared, Origin::default(), effects);
    }
}

fn next_beat(born: Monotonic, now: Monotonic) -> Monotonic {
    let beats = now.since(born).as_nanos() / BEAT.as_nanos() + 1;
    born + BEAT * u32::try_from(beats).unwrap_or(u32::MAX)
}

/// Links to the primary once; when that fails, waits for the next beat.
async fn keep_link(server: &Server, upstream: &Upstream, born: Monotonic) {
    let set = |state| server.shared().node.link_is(server.host.wall(), state);
    set(LinkState::Connecting);
    let linked = match server.host.connect(&upstream.host, upstream.port).await {
        // A broken link is not reported: it is made anew.
        Ok(stream) => replicate(server, stream, born).await.is_ok_and(|linked| linked),
        Err(_) => false,
    };
    // A failover that was planned may end with the link.
    let hurries = {
        let mut shared = server.shared();
        shared.node.link_is(server.host.wall(), LinkState::Down);
        let effects = std::mem::take(&mut shared.node.store.effects);
        server.publish(&mut shared, Origin::default(), effects);
        shared.node.is_handing_over()
    };
    if hurries {
        server.host.sleep(HURRIED_BEAT).await;
    } else if !linked {
        server.host.sleep_until(next_beat(born, server.host.monotonic())).await;
    }
}

/// Follows the primary over a connection until it breaks. True if the link was up.
async fn replicate(server: &Server, stream: Stream, born: Monotonic) -> io::Result<bool> {
    let (mut read, mut write) = stream.into_split();
    let mut link = Link::new(server.shared().node.introduction());
    server.shared().node.link_is(server.host.wall(), LinkState::Handshake);
    flush(&mut link, &mut write, Origin::default()).await?;
    let mut was_up = false;
    let mut beat = next_beat(born, server.host.monotonic());
    loop {
        let patience = beat.since(server.host.monotonic());
        let origin = match server.host.timeout(patience, read.read_buf(link.room())).await {
            Ok(Ok(0) | Err(_)) => return Ok(was_up),
            Ok(Ok(_)) => read.origin(),
            Err(_) => {
                beat = next_beat(born, server.host.monotonic());
                if server.shared().node.misses_primary(server.host.wall()) {
                    return Ok(was_up);
                }
                if was_up {
                    let offset = server.shared().node.offset();
                    link.acknowledge(offset);
                }
                Origin::default()
            }
        };
        was_up |= listen(server, &mut link, origin).map_err(io::Error::other)?;
        flush(&mut link, &mut write, origin).await?;
    }
}

/// Does what the bytes that have come say. True if the link is up.
fn listen(server: &Server, link: &mut Link, origin: Origin) -> Result<bool, LinkError> {
    let now = server.host.wall();
    let mut shared = server.shared();
    while let Some(heard) = shared.node.hear(now, link)? {
        if heard.resynced {
            server.journal.replace(&shared.node);
        }
        server.publish(&mut shared, origin, heard.effects);
    }
    Ok(shared.node.upstream().is_some_and(|upstream| upstream.link == LinkState::Up))
}

async fn flush(link: &mut Link, write: &mut WriteHalf, origin: Origin) -> io::Result<()> {
    let bytes = link.take_output();
    if !bytes.is_empty() {
        write.write_for(origin, &bytes).await?;
    }
    Ok(())
}
