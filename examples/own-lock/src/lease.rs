//! A lease with a deadline that its holder keeps, and a fencing token from the script that takes it.

use std::time::Duration;

use picklock::{
    Belief, Connection, Deadline, Design, Grant, Host, Key, Lock, LockError, Context, Token, on_redis,
};
use redis::Script;

const ACQUIRE: &str = "if redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
                         return redis.call('incr', KEYS[2])
                       else return false end";
const RELEASE: &str = "if redis.call('get', KEYS[1]) == ARGV[1] then
                         return redis.call('del', KEYS[1])
                       else return 0 end";

/// A client of the lock.
pub struct Lease {
    host: Host,
    pub(crate) redis: Connection,
    ttl: Duration,
}

/// The lock as picklock tests it: on one Redis, with holders that look at their deadline, and with tokens.
pub fn lease() -> Design {
    on_redis("lease", 1, Lease::connect).believing(Belief::Honest).fenced()
}

impl Lease {
    pub(crate) async fn connect(context: Context) -> Result<Lease, LockError> {
        Ok(Lease { redis: Connection::to(&context, 0)?, host: context.host, ttl: context.ttl })
    }
}

impl Lock for Lease {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        let owner = self.host.rng().owner_id();
        // Read before the request is sent: Redis counts the lease from later on. A hundredth less, and two
        // milliseconds, because its clock may be the faster one.
        let deadline = self.host.monotonic() + self.ttl * 99 / 100 - Duration::from_millis(2);
        let script = Script::new(ACQUIRE);
        let mut call = script.key(key.as_str());
        call.key(format!("{{{key}}}:token")).arg(&owner).arg(self.ttl.as_millis() as u64);
        let token: Option<u64> = call.invoke_async(&mut self.redis.clone()).await?;
        let grant = Grant::new(key, owner).with_deadline(Deadline::Monotonic(deadline));
        Ok(token.map(|token| grant.with_token(Token(token))))
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        let script = Script::new(RELEASE);
        let mut call = script.key(grant.key.as_str());
        Ok(call.arg(&grant.owner).invoke_async(&mut self.redis.clone()).await?)
    }
}
