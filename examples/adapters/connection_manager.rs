//! A lease lock by hand on the redis crate's `ConnectionManager`: picklock run --program target/adapters/rust/connection_manager
use std::collections::BTreeMap;
use std::env::var;
use std::io::stdin;
use std::time::Duration;

use redis::aio::ConnectionManager;
use redis::{AsyncCommands, ExistenceCheck, RedisResult, Script, SetExpiry, SetOptions};
use tokio::time::{Instant, sleep};

const RELEASE: &str =
    "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end";
const RENEW: &str =
    "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) else return 0 end";

struct Lock {
    store: ConnectionManager,
    ttl_ms: u64,
    held: BTreeMap<String, String>,
    number: u64,
}

impl Lock {
    async fn acquire(&mut self, key: &str, wait: Duration) -> RedisResult<&'static str> {
        self.number += 1;
        let owner = format!("{}:{}", var("HOSTNAME").unwrap_or_default(), self.number);
        let options = SetOptions::default()
            .conditional_set(ExistenceCheck::NX)
            .with_expiration(SetExpiry::PX(self.ttl_ms));
        let end = Instant::now() + wait;
        loop {
            if self.store.set_options(key, &owner, options.clone()).await? {
                self.held.insert(key.to_owned(), owner);
                return Ok("granted");
            }
            if Instant::now() >= end {
                return Ok("refused");
            }
            sleep(Duration::from_millis(20)).await;
        }
    }

    async fn release(&mut self, key: &str) -> RedisResult<&'static str> {
        let owner = self.held.remove(key).unwrap_or_default();
        let gone: u32 = Script::new(RELEASE).key(key).arg(owner).invoke_async(&mut self.store).await?;
        Ok(if gone == 1 { "released" } else { "error it was not held any more" })
    }

    async fn renew(&mut self, key: &str) -> RedisResult<&'static str> {
        let (owner, script) = (self.held.get(key).cloned().unwrap_or_default(), Script::new(RENEW));
        let kept: u32 = script.key(key).arg(owner).arg(self.ttl_ms).invoke_async(&mut self.store).await?;
        Ok(if kept == 1 { "renewed" } else { "lost" })
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let store = ConnectionManager::new(redis::Client::open(var("PICKLOCK_STORES")?)?).await?;
    let mut lock = Lock { store, ttl_ms: var("PICKLOCK_TTL_MS")?.parse()?, held: BTreeMap::new(), number: 0 };
    for line in stdin().lines() {
        let line = line?;
        let words: Vec<&str> = line.split(' ').collect();
        let answer = match words[..] {
            ["acquire", key, wait] => lock.acquire(key, Duration::from_millis(wait.parse()?)).await,
            ["release", key] => lock.release(key).await,
            ["renew", key] => lock.renew(key).await,
            _ => Ok("error not understood"),
        };
        println!("{}", answer.map_or_else(|error| format!("error {error}"), str::to_owned));
    }
    Ok(())
}
