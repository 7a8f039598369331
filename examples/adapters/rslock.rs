//! rslock's `LockManager` on one store or several: picklock run --program target/adapters/rust/rslock --stores 5
use std::collections::BTreeMap;
use std::env::var;
use std::io::stdin;
use std::time::Duration;

use rslock::{LockError, LockManager};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let manager = LockManager::new(var("PICKLOCK_STORES")?.split(',').collect());
    let ttl = Duration::from_millis(var("PICKLOCK_TTL_MS")?.parse()?);
    let mut held = BTreeMap::new();
    for line in stdin().lines() {
        let line = line?;
        let words: Vec<&str> = line.split(' ').collect();
        if words[0] == "acquire" {
            match manager.lock(words[1].as_bytes(), ttl).await {
                Ok(lock) => {
                    println!("granted until_ms={}", lock.validity_time);
                    held.insert(words[1].to_owned(), lock);
                }
                Err(LockError::Unavailable) => println!("refused"),
                Err(error) => println!("error {error}"),
            }
        } else if let Some(lock) = held.remove(words[1]) {
            manager.unlock(&lock).await;
            println!("released");
        }
    }
    Ok(())
}
