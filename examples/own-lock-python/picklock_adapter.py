"""Lets picklock ask for the lock: see docs/guide/programs.md of picklock."""
import os
import sys

import redis

from lock import Lease

store = redis.Redis.from_url(os.environ["PICKLOCK_STORES"], socket_timeout=1)
ttl_ms = int(os.environ["PICKLOCK_TTL_MS"])
held = {}

for line in sys.stdin:
    verb, key, *_ = line.split()
    try:
        if verb == "acquire":
            lease = Lease(store, key, ttl_ms)
            granted = lease.acquire()
            if granted:
                held[key] = lease
            print("granted" if granted else "refused", flush=True)
        else:
            print("released" if held.pop(key).release() else "error it was not held any more", flush=True)
    except redis.RedisError as error:
        print("error", error, flush=True)
