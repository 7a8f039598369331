//! A primary asks its controller again and again whether it leads, which shows the controller that it is there.

use std::sync::Arc;

use crate::controller::Question;
use crate::server::config::Pair;
use crate::server::shared::Server;

/// Asks for as long as the host runs.
pub(crate) async fn confirm(server: Arc<Server>, pair: Pair) {
    let mut question = Question::new(server.host.clone(), pair.controller);
    loop {
        let asked = server.host.monotonic();
        match question.ask(pair.interval).await {
            Some(true) => server.with(|machine, now| machine.confirmed(asked, now)),
            Some(false) => server.with(|machine, now| machine.replaced(now)),
            None => {}
        }
        server.host.sleep_until(asked + pair.interval).await;
    }
}
