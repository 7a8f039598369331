"""redis-py's Lock, asked by picklock: picklock run --program 'python3 examples/adapters/redis_py.py'"""
import os
import sys

import redis
from redis.exceptions import LockError, RedisError

store = redis.Redis.from_url(os.environ["PICKLOCK_STORES"])
ttl = int(os.environ["PICKLOCK_TTL_MS"]) / 1000
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
            held.pop(key).release()
            print("released", flush=True)
    except (LockError, RedisError) as error:
        print("error", error, flush=True)
