"""redis-py's asyncio Lock, asked by picklock: picklock run --program 'python3 examples/adapters/redis_py_asyncio.py'"""
import asyncio
import os
import sys

import redis.asyncio as redis
from redis.exceptions import LockError, LockNotOwnedError, RedisError


async def main():
    store = redis.Redis.from_url(os.environ["PICKLOCK_STORES"])
    ttl = int(os.environ["PICKLOCK_TTL_MS"]) / 1000
    held = {}
    while line := await asyncio.to_thread(sys.stdin.readline):
        verb, key, *rest = line.split()
        try:
            if verb == "acquire":
                lock = store.lock(key, timeout=ttl, sleep=0.02, blocking_timeout=int(rest[0]) / 1000)
                if await lock.acquire():
                    held[key] = lock
                    print("granted", flush=True)
                else:
                    print("refused", flush=True)
            elif verb == "release":
                await held.pop(key).release()
                print("released", flush=True)
            elif verb == "renew":
                await held[key].reacquire()
                print("renewed", flush=True)
            else:
                print("error not understood:", verb, flush=True)
        except LockNotOwnedError as error:
            print("lost" if verb == "renew" else f"error {error}", flush=True)
        except (LockError, RedisError) as error:
            print("error", error, flush=True)


asyncio.run(main())
