"""redis-py's asyncio Lock, asked by picklock: picklock run --program 'python3 examples/adapters/redis_py_asyncio.py'"""
import asyncio
import os
import sys

import redis.asyncio as redis
from redis.exceptions import LockError, RedisError


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
            else:
                await held.pop(key).release()
                print("released", flush=True)
        except (LockError, RedisError) as error:
            print("error", error, flush=True)


asyncio.run(main())
