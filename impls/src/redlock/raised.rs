//! A token written back: the counter of a key is raised to it, by the holder alone. Why that gives tokens an order stands
//! with [`fenced_quorum`](super::fenced_quorum).

use picklock_model::ids::{Key, Token};
use redis::RedisResult;

use crate::client::connection::Connection;
use crate::client::script::Lua;
use crate::redis::common::counter_key;

/// Raises the counter of the key to at least `token` if the key still holds this value: false if it does not.
pub(crate) async fn raise_counter(
    node: &Connection,
    key: &Key,
    owner: &str,
    token: Token,
) -> RedisResult<bool> {
    static SCRIPT: Lua = Lua::new(
        "if redis.call('get', KEYS[1]) ~= ARGV[1] then
               return 0
             end
             local counter = redis.call('get', KEYS[2])
             if not counter or tonumber(counter) < tonumber(ARGV[2]) then
               redis.call('set', KEYS[2], ARGV[2])
             end
             return 1",
    );
    SCRIPT
        .key(key.as_str())
        .key(counter_key(key))
        .arg(owner)
        .arg(token.0)
        .invoke_async(&mut node.clone())
        .await
}
