//! The task that imports slots from another node, as long as there is one.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use picklock_sim::host::Origin;

use super::caller::Caller;
use super::server::Server;
use crate::protocol::resp;
use crate::server::following::{Begun, Imported, Importing};
use crate::server::store::Effects;

/// How long the source may be silent: `repl-timeout`.
const PATIENCE: Duration = Duration::from_secs(60);

/// After a failure it is tried anew so often: every tenth time that a node looks at its tasks.
const RETRY: Duration = Duration::from_secs(1);

/// So often the source hears how far this node is.
const ACK: Duration = Duration::from_millis(100);

/// Imports the slots that the node is asked to.
pub(super) async fn imports(server: Arc<Server>) {
    loop {
        server.imports.notified().await;
        loop {
            server.awake().await;
            match server.in_import(|node, now| node.begin_import(now)) {
                Begun::Nothing => break,
                Begun::Later => server.host.sleep(ACK).await,
                Begun::Importing(importing) => {
                    if let Err(error) = import(&server, &importing).await {
                        let (id, why) = (importing.id, format!("Main channel - {error}"));
                        server.awake().await;
                        server.in_import(|node, now| ((), node.import_failed(now, &id, &why)));
                        server.host.sleep(RETRY).await;
                        server.shared().node.retry_import(&id);
                    }
                }
            }
        }
    }
}

/// One attempt, which ends when the slots are this node's, or are not to be imported any more.
async fn import(server: &Server, importing: &Importing) -> io::Result<()> {
    let Importing { id, slots, source } = importing;
    let mut source = Caller::to(server, &source.host, PATIENCE).await?;
    let bounds: Vec<String> =
        slots.iter().flat_map(|(first, last)| [first.to_string(), last.to_string()]).collect();
    let mut words: Vec<&[u8]> = vec![b"CLUSTER", b"SYNCSLOTS", b"SYNC", id.as_bytes()];
    words.extend(bounds.iter().map(|bound| bound.as_bytes()));
    source.ask(&words).await?;
    server.shared().node.import_is_fed(id);
    let mut ack = Vec::new();
    resp::request(&mut ack, &[b"CLUSTER", b"SYNCSLOTS", b"ACK", b"wait-stream-eof", b"0"]);
    let mut has_all = false;
    loop {
        tokio::select! {
            biased;
            command = source.command() => {
                let command = command?;
                server.awake().await;
                let args: Vec<&[u8]> = command.iter().map(Vec::as_slice).collect();
                match server.in_import(|node, now| node.import_one(now, id, &args)) {
                    Imported::More => continue,
                    Imported::All => has_all = true,
                    Imported::Over => return Ok(()),
                }
            }
            () = server.imports.notified() => {}
            () = server.host.sleep(ACK), if has_all => {}
        }
        server.awake().await;
        if !server.shared().node.imports(id) {
            return Ok(());
        }
        if has_all {
            source.send(&ack).await?;
        }
    }
}

impl Server {
    /// Has the node do something for an import, and makes known what comes of it.
    fn in_import<T>(
        &self,
        does: impl FnOnce(&mut crate::server::node::Node, picklock_model::time::WallTime) -> (T, Effects),
    ) -> T {
        let mut shared = self.shared();
        let (done, effects) = does(&mut shared.node, self.host.wall());
        self.publish(&mut shared, Origin::default(), effects);
        if self.needs_ticks(&shared.node) {
            self.ticks.notify_one();
        }
        done
    }
}
