"""redis-py's Lock of the 2.x series, whose first argument is the lease in seconds."""
import os
import sys

import redis
from redis.lock import Lock

store = redis.StrictRedis.from_url(os.environ["PICKLOCK_STORES"])
ttl = int(os.environ["PICKLOCK_TTL_MS"]) / 1000
held = {}

for line in sys.stdin:
    verb, key, *rest = line.split()
    try:
        if verb == "acquire":
            lock = Lock(store, key, timeout=ttl, sleep=0.02, blocking_timeout=int(rest[0]) / 1000)
            if lock.acquire():
                held[key] = lock
                print("granted", flush=True)
            else:
                print("refused", flush=True)
        elif verb == "release":
            held.pop(key).release()
            print("released", flush=True)
    except Exception as error:
        print("error", str(error).replace("\n", " "), flush=True)
