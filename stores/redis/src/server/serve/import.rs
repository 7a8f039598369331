//! The task that imports slots from another node, as long as there is one.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use picklock_sim::host::Origin;

use super::caller::Caller;
use super::server::Server;
use crate::protocol::resp;
use crate::server::following::{Imported, Importing};
use crate::server::node::PORT;

/// How long the source may be silent: `repl-timeout`.
const PATIENCE: Duration = Duration::from_secs(60);

/// After a failure it is tried anew so often: every tenth time that the node looks at its tasks.
const RETRY: Duration = Duration::from_secs(1);

/// Imports the slots that the node is asked to.
pub(super) async fn imports(server: Arc<Server>) {
    loop {
        server.imports.notified().await;
        loop {
            server.awake().await;
            let begun = server.shared().node.begin_import(server.host.wall());
            let Some(importing) = begun else { break };
            if let Err(error) = import(&server, &importing).await {
                server.awake().await;
                let mut shared = server.shared();
                let effects =
                    shared.node.import_failed(server.host.wall(), &format!("Main channel - {error}"));
                server.publish(&mut shared, Origin::default(), effects);
            }
            server.host.sleep(RETRY).await;
            if !server.shared().node.retries_import() {
                break;
            }
        }
    }
}

/// One attempt, which ends when the slots are this node's.
async fn import(server: &Server, importing: &Importing) -> io::Result<()> {
    let Importing { id, slots, source } = importing;
    let mut source = Caller::connect(&server.host, &source.host, PORT, PATIENCE).await?;
    let bounds: Vec<String> =
        slots.iter().flat_map(|(first, last)| [first.to_string(), last.to_string()]).collect();
    let mut words: Vec<&[u8]> = vec![b"CLUSTER", b"SYNCSLOTS", b"SYNC", id.as_bytes()];
    words.extend(bounds.iter().map(|bound| bound.as_bytes()));
    source.ask(&words).await?;
    server.shared().node.import_is_fed();
    loop {
        let command = source.command().await?;
        server.awake().await;
        let args: Vec<&[u8]> = command.iter().map(Vec::as_slice).collect();
        let imported = {
            let mut shared = server.shared();
            let (imported, effects) = shared.node.import_one(server.host.wall(), &args);
            server.publish(&mut shared, Origin::default(), effects);
            imported
        };
        match imported {
            Imported::More => {}
            Imported::All => {
                let mut ack = Vec::new();
                resp::request(&mut ack, &[b"CLUSTER", b"SYNCSLOTS", b"ACK", b"wait-stream-eof", b"0"]);
                source.send(&ack).await?;
            }
            Imported::Taken => return Ok(()),
        }
    }
}
