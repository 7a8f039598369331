"""redlock-py's Redlock, asked by picklock: picklock run --program 'python3 examples/adapters/redlock_py.py' --stores 3"""
import os
import sys

from redis.exceptions import RedisError
from redlock import MultipleRedlockException, Redlock

locks = Redlock(os.environ["PICKLOCK_STORES"].split(","), retry_count=1)
ttl = int(os.environ["PICKLOCK_TTL_MS"])
held = {}

for line in sys.stdin:
    verb, key, *_ = line.split()
    try:
        if verb == "acquire":
            lock = locks.lock(key, ttl)
            held[key] = lock
            print(f"granted until_ms={lock.validity}" if lock else "refused", flush=True)
        elif verb == "release":
            locks.unlock(held.pop(key))
            print("released", flush=True)
        else:
            print("error not understood:", verb, flush=True)
    except (MultipleRedlockException, RedisError) as error:
        print("error", str(error).replace("\n", " "), flush=True)
