"""python-redis-lock with automatic renewal, driven by picklock. With `short` each acquire waits for one lease at most."""
import os
import sys

import redis
import redis_lock

# Without a limit on the socket: the one that redis-py has by default would end a long wait.
store = redis.Redis.from_url(os.environ["PICKLOCK_STORES"], socket_timeout=None)
ttl = int(os.environ["PICKLOCK_TTL_MS"]) // 1000
held = {}

for line in sys.stdin:
    verb, key, *rest = line.split()
    try:
        if verb == "acquire":
            lock = held[key] = redis_lock.Lock(store, key, expire=ttl, auto_renewal=True)
            timeout = ttl if "short" in sys.argv else max(1, int(rest[0]) // 1000)
            print("granted" if lock.acquire(timeout=timeout) else "refused", flush=True)
        else:
            held.pop(key).release()
            print("released", flush=True)
    except (redis.RedisError, RuntimeError) as error:
        print("error", type(error).__name__, error, flush=True)
