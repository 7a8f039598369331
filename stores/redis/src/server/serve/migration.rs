//! The part of MIGRATE that talks to the other node. This node does nothing else meanwhile.

use std::io;
use std::time::Duration;

use picklock_sim::host::Origin;

use super::caller::Caller;
use super::server::Server;
use crate::protocol::resp::Reply;
use crate::server::node::{Migration, SessionId};

impl Server {
    /// Sends the keys of the MIGRATE that a session has just begun, and answers it.
    pub(super) async fn migrate(&self, origin: Origin, id: SessionId, out: &mut Vec<u8>) {
        let Some(migration) = self.shared().node.migration.take() else { return };
        self.stall_for(&migration);
        let mut replies = Vec::new();
        let sent = self.send_keys(&migration, &mut replies).await;
        self.go_on();
        let now = self.host.wall();
        let mut shared = self.shared();
        let unreachable = sent.is_err_and(|error| error.kind() != io::ErrorKind::UnexpectedEof);
        let (reply, effects) = shared.node.finish_migration(now, &migration, &replies);
        let reply = if unreachable && replies.is_empty() {
            Reply::error("IOERR error or timeout connecting to the client")
        } else {
            reply
        };
        reply.encode(shared.node.session(id).protocol, out);
        self.publish(&mut shared, origin, effects);
    }

    /// Nothing else is done until all is answered: twice the time of a step at most, to connect and to be answered.
    fn stall_for(&self, migration: &Migration) {
        let most = Duration::from_millis(migration.timeout_ms) * 2;
        self.shared().stalled_until = Some(self.host.monotonic() + most);
    }

    async fn send_keys(&self, migration: &Migration, replies: &mut Vec<Reply>) -> io::Result<()> {
        let patience = Duration::from_millis(migration.timeout_ms);
        let Migration { host, port, .. } = migration;
        let mut caller = Caller::connect(&self.host, host, *port, patience).await?;
        caller.send(&migration.request).await?;
        for _ in 0..migration.before + migration.keys.len() {
            replies.push(caller.reply().await?);
        }
        Ok(())
    }
}
