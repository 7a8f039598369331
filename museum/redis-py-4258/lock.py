"""redis-py's Lock without a lease and without retries of the connection; with the word `lease`, with one."""
import os
import sys

import redis
from redis.exceptions import LockError, LockNotOwnedError, RedisError

store = redis.Redis.from_url(os.environ["PICKLOCK_STORES"], retry=None)
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
        elif verb == "release":
            held[key].release()
            print("released", flush=True)
        elif verb == "renew":
            held[key].reacquire()
            print("renewed", flush=True)
        else:
            print("error not understood:", verb, flush=True)
    except LockNotOwnedError as error:
        print("lost" if verb == "renew" else f"error {error}", flush=True)
    except (LockError, RedisError) as error:
        print("error", error, flush=True)
