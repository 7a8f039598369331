"""pottery's Redlock, asked by picklock: picklock run --program 'python3 examples/adapters/pottery_redlock.py' --stores 5"""
import os
import sys

from pottery import Redlock
from pottery.exceptions import ExtendUnlockedLock, PrimitiveError
from redis import Redis
from redis.exceptions import RedisError

masters = [Redis.from_url(url, socket_timeout=0.1) for url in os.environ["PICKLOCK_STORES"].split(",")]
ttl = int(os.environ["PICKLOCK_TTL_MS"]) / 1000
held = {}

for line in sys.stdin:
    verb, key, *rest = line.split()
    try:
        if verb == "acquire":
            lock = Redlock(key=key, masters=masters, auto_release_time=ttl)
            if lock.acquire(timeout=int(rest[0]) / 1000):
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
    except ExtendUnlockedLock:
        print("lost", flush=True)
    except (PrimitiveError, RedisError) as error:
        print("error", type(error).__name__, flush=True)
