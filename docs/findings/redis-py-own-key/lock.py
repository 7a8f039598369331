"""redis-py's Lock with its default settings, so without a timeout, driven by picklock. With `lease` it has a timeout."""
import os
import sys

import redis
from redis.exceptions import LockError, RedisError

host, port = os.environ["PICKLOCK_STORES"].removeprefix("redis://").split(":")
store = redis.Redis(host, int(port))
ttl = int(os.environ["PICKLOCK_TTL_MS"]) / 1000 if "lease" in sys.argv else None
held = {}

for line in sys.stdin:
    verb, key, *rest = line.split()
    try:
        if verb == "acquire":
            lock = store.lock(key, timeout=ttl, sleep=0.02, blocking_timeout=int(rest[0]) / 1000)
            if lock.acquire():
                held[key] = lock
                print("granted", flush=True)
            else:
                print("refused", flush=True)
        else:
            held[key].release()
            print("released", flush=True)
    except (LockError, RedisError) as error:
        print("error", type(error).__name__, error, flush=True)
