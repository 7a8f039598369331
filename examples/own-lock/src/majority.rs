//! Redlock by hand: the lock is whose key a majority of five nodes has set. [`patient`] waits for the answer of each node, however
//! long that takes, so that one dead node stops everybody. [`hurried`] gives each a twentieth of the lease.

use std::time::Duration;

use picklock::{
    Belief, Connection, Context, Deadline, Design, Grant, Host, Key, Lock, LockError, on_redis_with,
};
use redis::{RedisResult, Script, cmd};

const RELEASE: &str = "if redis.call('get', KEYS[1]) == ARGV[1] then
                         return redis.call('del', KEYS[1])
                       else return 0 end";

/// A client of the lock.
pub struct Majority {
    host: Host,
    nodes: Vec<Connection>,
    ttl: Duration,
}

/// The lock with a bug: nothing bounds how long a node may take to answer.
pub fn patient() -> Design {
    on_redis_with("patient", 5, Duration::from_secs(3_600), Majority::connect).believing(Belief::Honest)
}

/// The same lock, which goes on to the next node after 50 ms.
pub fn hurried() -> Design {
    on_redis_with("hurried", 5, Duration::from_millis(50), Majority::connect).believing(Belief::Honest)
}

impl Majority {
    async fn connect(context: Context, timeout: Duration) -> Result<Majority, LockError> {
        let connection = |address| Connection::new(&context.host, address, timeout);
        let nodes = context.stores.into_iter().map(connection).collect();
        Ok(Majority { nodes, host: context.host.clone(), ttl: context.ttl })
    }

    async fn give_back(&self, key: &Key, owner: &str) {
        for node in &self.nodes {
            let script = Script::new(RELEASE);
            let mut call = script.key(key.as_str());
            // A node that does not answer keeps the key until its lease is over.
            let _: RedisResult<i64> = call.arg(owner).invoke_async(&mut node.clone()).await;
        }
    }
}

impl Lock for Majority {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        let owner = self.host.rng().owner_id();
        let deadline = self.host.monotonic() + self.ttl * 99 / 100 - Duration::from_millis(2);
        let mut votes = 0;
        for node in &self.nodes {
            let mut set = cmd("SET");
            set.arg(key.as_str()).arg(&owner).arg("NX").arg("PX").arg(self.ttl.as_millis() as u64);
            let granted: RedisResult<bool> = set.query_async(&mut node.clone()).await;
            votes += usize::from(granted.unwrap_or(false));
        }
        if votes > self.nodes.len() / 2 && self.host.monotonic() < deadline {
            return Ok(Some(Grant::new(key, owner).with_deadline(Deadline::Monotonic(deadline))));
        }
        self.give_back(key, &owner).await;
        Ok(None)
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        self.give_back(&grant.key, &grant.owner).await;
        Ok(())
    }
}
