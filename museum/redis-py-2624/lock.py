"""redis-py's asyncio Lock, with a caller that gives up on an attempt after a third of the lease and tries again."""
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
        verb, key, *_ = line.split()
        try:
            if verb == "acquire":
                lock = store.lock(key, timeout=ttl, blocking=False)
                if await asyncio.wait_for(lock.acquire(), ttl / 3):
                    held[key] = lock
                    print("granted", flush=True)
                else:
                    print("refused", flush=True)
            elif verb == "release":
                await held.pop(key).release()
                print("released", flush=True)
        except asyncio.TimeoutError:
            print("refused", flush=True)
        except (LockError, RedisError) as error:
            print("error", error, flush=True)


asyncio.run(main())
