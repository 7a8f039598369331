"""python-redis-lock, asked by picklock. Its leases are whole seconds, and so are its waits, which are no longer than a lease."""
import os
import sys

import redis
import redis_lock
from redis.exceptions import RedisError

store = redis.Redis.from_url(os.environ["PICKLOCK_STORES"])
ttl = max(1, int(os.environ["PICKLOCK_TTL_MS"]) // 1000)
held = {}

for line in sys.stdin:
    verb, key, *rest = line.split()
    try:
        if verb == "acquire":
            lock, wait = redis_lock.Lock(store, key, expire=ttl), min(int(rest[0]) // 1000, ttl)
            if lock.acquire(timeout=wait) if wait else lock.acquire(blocking=False):
                held[key] = lock
                print("granted", flush=True)
            else:
                print("refused", flush=True)
        elif verb == "release":
            held.pop(key).release()
            print("released", flush=True)
        elif verb == "renew":
            held[key].extend()
            print("renewed", flush=True)
        else:
            print("error not understood:", verb, flush=True)
    except redis_lock.NotAcquired as error:
        print("lost" if verb == "renew" else f"error {error}", flush=True)
    except RedisError as error:
        print("error", error, flush=True)
