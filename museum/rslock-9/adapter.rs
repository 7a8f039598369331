//! rslock's `LockManager`, of the versions that take a lease in milliseconds.
use std::collections::BTreeMap;
use std::env::var;
use std::io::stdin;

use rslock::{LockError, LockManager};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let manager = LockManager::new(var("PICKLOCK_STORES")?.split(',').collect());
    let ttl = var("PICKLOCK_TTL_MS")?.parse()?;
    let mut held = BTreeMap::new();
    for line in stdin().lines() {
        let line = line?;
        let words: Vec<&str> = line.split(' ').collect();
        let said = match words[..] {
            ["acquire", key, _] => match manager.lock(key.as_bytes(), ttl).await {
                Ok(lock) => {
                    let until = lock.validity_time;
                    held.insert(key.to_owned(), lock);
                    format!("granted until_ms={until}")
                }
                Err(LockError::Unavailable) => "refused".to_owned(),
                Err(error) => format!("error {error:?}"),
            },
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
