//! A primary asks its controller again and again whether it leads, which shows the controller that it is there.

use std::io;
use std::sync::Arc;

use picklock_model::ids::Origin;
use picklock_sim::stream::Stream;
use tokio::io::AsyncReadExt as _;

use crate::PORT;
use crate::controller::{ASKS, CONFIRMED};
use crate::server::config::Pair;
use crate::server::shared::Server;

/// Asks for as long as the host runs.
pub(crate) async fn confirm(server: Arc<Server>, pair: Pair) {
    let mut stream = None;
    loop {
        let asked = server.host.monotonic();
        match server.host.timeout(pair.interval, ask(&server, &pair.controller, &mut stream)).await {
            Ok(Ok(true)) => server.with(|machine, now| machine.confirmed(asked, now)),
            Ok(Ok(false)) => server.with(|machine, now| machine.replaced(now)),
            // The next one is asked on a new connection.
            Ok(Err(_)) | Err(_) => stream = None,
        }
        server.host.sleep_until(asked + pair.interval).await;
    }
}

/// Asks once.
async fn ask(server: &Server, controller: &str, stream: &mut Option<Stream>) -> io::Result<bool> {
    if stream.is_none() {
        *stream = Some(server.host.connect(controller, PORT).await?);
    }
    let Some(open) = stream else { return Err(io::ErrorKind::NotConnected.into()) };
    open.write_for(Origin::default(), ASKS).await?;
    let mut answer = Vec::new();
    while !answer.ends_with(b"\n") {
        if open.read_buf(&mut answer).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(answer == CONFIRMED)
}
