"""python-redis-lock with automatic renewal, one Lock for each key, driven by picklock. With `anew` each acquire has a new Lock."""
import os
import sys

import redis
import redis_lock

store = redis.Redis.from_url(os.environ["PICKLOCK_STORES"])
ttl = int(os.environ["PICKLOCK_TTL_MS"]) // 1000
locks = {}

for line in sys.stdin:
    verb, key, *rest = line.split()
    try:
        if verb == "acquire":
            if key not in locks or "anew" in sys.argv:
                locks[key] = redis_lock.Lock(store, key, expire=ttl, auto_renewal=True)
            granted = locks[key].acquire(timeout=max(1, int(rest[0]) // 1000))
            print("granted" if granted else "refused", flush=True)
        else:
            locks[key].release()
            print("released", flush=True)
    except (redis.RedisError, RuntimeError) as error:
        print("error", type(error).__name__, error, flush=True)
