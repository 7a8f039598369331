//! rslock's `LockManager`.
use std::collections::BTreeMap;
use std::env::var;
use std::io::stdin;
use std::time::Duration;

use rslock::{Lock, LockError, LockManager};

/// The answer to a request for a lease; the lock is kept for its release.
fn answer(
    words: [&str; 2],
    asked: Result<Lock, LockError>,
    key: &str,
    held: &mut BTreeMap<String, Lock>,
) -> String {
    let [yes, no] = words;
    match asked {
        Ok(lock) => {
            let until = lock.validity_time;
            held.insert(key.to_owned(), lock);
            format!("{yes} until_ms={until}")
        }
        Err(LockError::Unavailable) => no.to_owned(),
        Err(error) => format!("error {error}"),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let manager = LockManager::new(var("PICKLOCK_STORES")?.split(',').collect());
    let ttl = Duration::from_millis(var("PICKLOCK_TTL_MS")?.parse()?);
    let mut held = BTreeMap::new();
    for line in stdin().lines() {
        let line = line?;
        let words: Vec<&str> = line.split(' ').collect();
        let said = match words[..] {
            ["acquire", key, _] => {
                let asked = manager.lock(key.as_bytes(), ttl).await;
                answer(["granted", "refused"], asked, key, &mut held)
            }
            ["renew", key] => {
                let asked = manager.extend(&held[key], ttl).await;
                answer(["renewed", "lost"], asked, key, &mut held)
            }
            ["release", key] => {
                manager.unlock(&held[key]).await;
                held.remove(key);
                "released".to_owned()
            }
            _ => format!("error not understood: {line}"),
        };
        println!("{said}");
    }
    Ok(())
}
