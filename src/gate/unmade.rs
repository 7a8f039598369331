//! The error of a design whose clients cannot be made. A run only tries again, as a service would; here the test is wrong.

use std::sync::{Arc, Mutex, PoisonError};

use picklock_sim::design::Design;

/// The results of the attempts to make clients.
#[derive(Clone, Default)]
pub(super) struct Unmade(Arc<Mutex<Attempts>>);

#[derive(Default)]
struct Attempts {
    made: bool,
    error: Option<String>,
}

impl Unmade {
    /// The same design, its attempts noted.
    pub(super) fn watching(&self, design: &Design) -> Design {
        let (client, all) = (Arc::clone(&design.client), self.clone());
        let watched = move |context| {
            let (making, all) = (client(context), all.clone());
            Box::pin(async move {
                let made = making.await;
                let mut attempts = all.0.lock().unwrap_or_else(PoisonError::into_inner);
                match &made {
                    Ok(_) => attempts.made = true,
                    Err(error) => {
                        attempts.error.get_or_insert_with(|| error.to_string());
                    }
                }
                drop(attempts);
                made
            }) as _
        };
        Design { client: Arc::new(watched), ..design.clone() }
    }

    /// The reason why none was ever made; `None` if one was, or none was asked for.
    pub(super) fn why(&self) -> Option<String> {
        let attempts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let error = attempts.error.as_ref().filter(|_| !attempts.made)?;
        // An error of the simulated network has no number of the machine.
        let remedy = if error.contains("os error") {
            ". It opens a socket of the machine, which leads out of the simulated world: use Connection::to, or Host::connect"
        } else {
            ""
        };
        Some(format!(
            "No client could be made, and so nothing was tried: its connect function says \"{error}\"{remedy}."
        ))
    }
}
