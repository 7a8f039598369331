//! The renewal service: it renews every third of a lease what a client holds, as long as it hears from the client.
//!
//! What it knows is in memory. It renews a grant at once when it hears of it for the first time, or again after a silence, so that no
//! time of a lease is lost that is left still. A grant that turns out to be lost is not renewed any more. Each grant is renewed by a task and over
//! a connection of its own, in the service of the section that has it.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use picklock_model::ids::Origin;
use picklock_model::time::Monotonic;
use picklock_sim::host::Host;
use picklock_sim::store::StoreAddress;
use picklock_sim::stream::Stream;
use tokio::io::AsyncReadExt as _;

use super::PORT;
use super::wire::{self, Held, Line};
use crate::client::connection::Connection;
use crate::redis::common::extend_if_owner;

/// The terms on which it renews.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terms {
    /// How long it waits for a heartbeat, in thousandths of the lease.
    pub(super) patience_permille: u32,
}

/// Serves until the host stops.
pub(super) async fn serve(host: Host, address: StoreAddress, terms: Terms) {
    let Ok(listener) = host.bind(PORT).await else { return };
    let service = Arc::new(Service { host: host.clone(), address, terms, heard: Mutex::default() });
    while let Ok((stream, _)) = listener.accept().await {
        let service = Arc::clone(&service);
        host.spawn(async move {
            // A connection that broke is made anew by its client.
            let _ = service.attend(stream).await;
        });
    }
}

struct Service {
    host: Host,
    address: StoreAddress,
    terms: Terms,
    /// When it last heard of each grant that it renews.
    heard: Mutex<BTreeMap<Held, Monotonic>>,
}

impl Service {
    fn heard(&self) -> MutexGuard<'_, BTreeMap<Held, Monotonic>> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn attend(self: Arc<Service>, mut stream: Stream) -> io::Result<()> {
        let mut received = Vec::new();
        while stream.read_buf(&mut received).await? > 0 {
            let Some(end) = received.iter().rposition(|byte| *byte == b'\n') else { continue };
            let lines: Vec<u8> = received.drain(..=end).collect();
            let origin = stream.origin();
            for line in String::from_utf8_lossy(&lines).lines().filter_map(wire::read) {
                match line {
                    Line::Hold(held, ttl) => Arc::clone(&self).hold(held, ttl, origin),
                    Line::Free(held) => drop(self.heard().remove(&held)),
                }
            }
        }
        Ok(())
    }

    /// It has heard of a grant.
    fn hold(self: Arc<Service>, held: Held, ttl: Duration, origin: Origin) {
        let now = self.host.monotonic();
        if self.heard().insert(held.clone(), now).is_none() {
            let host = self.host.clone();
            host.spawn(async move { self.renew(held, ttl, origin).await });
        }
    }

    /// Renews a grant until it hears of it no more.
    async fn renew(&self, held: Held, ttl: Duration, origin: Origin) {
        let third = ttl / 3;
        let patience = ttl * self.terms.patience_permille / 1_000;
        let redis = Connection::serving(&self.host, self.address.clone(), third, origin);
        let mut lost = false;
        loop {
            let due = self.host.monotonic() + third;
            if !lost {
                let extending = extend_if_owner(&redis, &held.key, &held.owner, ttl);
                lost = matches!(self.host.timeout(third, extending).await, Ok(Ok(false)));
            }
            self.host.sleep_until(due).await;
            let now = self.host.monotonic();
            let mut heard = self.heard();
            match heard.get(&held) {
                None => return,
                Some(at) if now.since(*at) > patience => {
                    heard.remove(&held);
                    return;
                }
                Some(_) => {}
            }
        }
    }
}
