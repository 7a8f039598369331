//! The scripts of Redisson's read-write lock that its bugs are about, by their behaviour: a hash with the mode and the count
//! of each holder, and beside it for each read lock a key of its own, whose lease says until when that one holds. When a reader
//! leaves, the lease of the whole becomes the longest that is left of these.
//!
//! Left out on purpose: that a writer counts how often it holds.

use std::time::Duration;

use picklock_model::ids::Key;
use redis::RedisResult;

use crate::client::connection::Connection;
use crate::client::script::Lua;
use crate::redis::common::millis;

/// Enters to read: if nobody is there, only readers are, or the writer is this owner.
pub(super) async fn enter_to_read(
    redis: &Connection,
    key: &Key,
    owner: &str,
    ttl: Duration,
) -> RedisResult<bool> {
    static SCRIPT: Lua = Lua::new(
        "local mode = redis.call('hget', KEYS[1], 'mode')
             if mode == 'write' and redis.call('hexists', KEYS[1], ARGV[1] .. ':write') == 0 then
               return 0
             end
             if not mode then
               redis.call('hset', KEYS[1], 'mode', 'read')
             end
             local nth = redis.call('hincrby', KEYS[1], ARGV[1], 1)
             redis.call('set', KEYS[1] .. ':timeout:' .. ARGV[1] .. ':' .. nth, 1, 'px', ARGV[2])
             redis.call('pexpire', KEYS[1], ARGV[2])
             return 1",
    );
    SCRIPT.key(key.as_str()).arg(owner).arg(millis(ttl)).invoke_async(&mut redis.clone()).await
}

/// Enters to write, if nobody is there.
pub(super) async fn enter_to_write(
    redis: &Connection,
    key: &Key,
    owner: &str,
    ttl: Duration,
) -> RedisResult<bool> {
    static SCRIPT: Lua = Lua::new(
        "if redis.call('exists', KEYS[1]) == 1 then
               return 0
             end
             redis.call('hset', KEYS[1], 'mode', 'write', ARGV[1] .. ':write', 1)
             redis.call('pexpire', KEYS[1], ARGV[2])
             return 1",
    );
    SCRIPT.key(key.as_str()).arg(owner).arg(millis(ttl)).invoke_async(&mut redis.clone()).await
}

/// Takes one off the owner's read locks. What is left gets the longest lease that is left of a read lock; if there is none,
/// the lock is deleted, unless `spares_writer` and somebody writes. False if the owner does not read.
pub(super) async fn leave_reading(
    redis: &Connection,
    key: &Key,
    owner: &str,
    spares_writer: bool,
) -> RedisResult<bool> {
    static SCRIPT: Lua = Lua::new(
        "if redis.call('hexists', KEYS[1], ARGV[1]) == 0 then
               return 0
             end
             local count = redis.call('hincrby', KEYS[1], ARGV[1], -1)
             if count == 0 then
               redis.call('hdel', KEYS[1], ARGV[1])
             end
             redis.call('del', KEYS[1] .. ':timeout:' .. ARGV[1] .. ':' .. count + 1)
             if redis.call('hlen', KEYS[1]) > 1 then
               local longest = 0
               for _, holder in ipairs(redis.call('hkeys', KEYS[1])) do
                 for nth = 1, tonumber(redis.call('hget', KEYS[1], holder)) or 0 do
                   local left = redis.call('pttl', KEYS[1] .. ':timeout:' .. holder .. ':' .. nth)
                   longest = math.max(longest, left)
                 end
               end
               if longest > 0 then
                 redis.call('pexpire', KEYS[1], longest)
                 return 1
               end
               if ARGV[2] == 'yes' and redis.call('hget', KEYS[1], 'mode') == 'write' then
                 return 1
               end
             end
             redis.call('del', KEYS[1])
             return 1",
    );
    let mut call = SCRIPT.key(key.as_str());
    call.arg(owner).arg(if spares_writer { "yes" } else { "no" });
    call.invoke_async(&mut redis.clone()).await
}

/// Leaves as the writer; if it reads as well, it goes on as a reader. False if the owner does not write.
pub(super) async fn leave_writing(redis: &Connection, key: &Key, owner: &str) -> RedisResult<bool> {
    static SCRIPT: Lua = Lua::new(
        "if redis.call('hdel', KEYS[1], ARGV[1] .. ':write') == 0 then
               return 0
             end
             if redis.call('hlen', KEYS[1]) == 1 then
               redis.call('del', KEYS[1])
             else
               redis.call('hset', KEYS[1], 'mode', 'read')
             end
             return 1",
    );
    SCRIPT.key(key.as_str()).arg(owner).invoke_async(&mut redis.clone()).await
}

/// Renews the lease of the whole if the owner holds it in either mode, and `each_reader`: of its read locks too.
pub(super) async fn renew(
    redis: &Connection,
    key: &Key,
    owner: &str,
    ttl: Duration,
    each_reader: bool,
) -> RedisResult<bool> {
    static SCRIPT: Lua = Lua::new(
        "local reads = tonumber(redis.call('hget', KEYS[1], ARGV[1]) or 0)
             if reads == 0 and redis.call('hexists', KEYS[1], ARGV[1] .. ':write') == 0 then
               return 0
             end
             redis.call('pexpire', KEYS[1], ARGV[2])
             if ARGV[3] == 'yes' then
               for nth = 1, reads do
                 redis.call('pexpire', KEYS[1] .. ':timeout:' .. ARGV[1] .. ':' .. nth, ARGV[2])
               end
             end
             return 1",
    );
    let mut call = SCRIPT.key(key.as_str());
    call.arg(owner).arg(millis(ttl)).arg(if each_reader { "yes" } else { "no" });
    call.invoke_async(&mut redis.clone()).await
}
