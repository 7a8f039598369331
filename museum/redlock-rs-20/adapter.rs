//! The `RedLock` of the crate redlock. With the word `looks`, a validity longer than the lease counts as refused.
use std::collections::BTreeMap;
use std::env::{args, var};
use std::io::stdin;

use redlock::RedLock;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let stores = var("PICKLOCK_STORES")?;
    let manager = RedLock::new(stores.split(',').collect());
    let ttl = var("PICKLOCK_TTL_MS")?.parse()?;
    let looks = args().any(|word| word == "looks");
    let mut held = BTreeMap::new();
    for line in stdin().lines() {
        let line = line?;
        let words: Vec<&str> = line.split(' ').collect();
        let said = match words[..] {
            ["acquire", key, _] => match manager.lock(key.as_bytes(), ttl) {
                Ok(Some(lock)) if !looks || lock.validity_time <= ttl => {
                    let until = lock.validity_time;
                    held.insert(key.to_owned(), lock);
                    format!("granted until_ms={until}")
                }
                Ok(_) => "refused".to_owned(),
                Err(error) => format!("error {error}"),
            },
            ["release", key] => {
                manager.unlock(&held[key]);
                held.remove(key);
                "released".to_owned()
            }
            _ => format!("error not understood: {line}"),
        };
        println!("{said}");
    }
    Ok(())
}
