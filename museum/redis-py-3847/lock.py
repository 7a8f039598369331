"""redis-py's asyncio Lock without a lease and without retries of the connection."""
import asyncio
import os
import sys

import redis.asyncio as redis
from redis.exceptions import LockError, RedisError


async def main():
    store = redis.Redis.from_url(os.environ["PICKLOCK_STORES"], retry=None)
    held = {}
    while line := await asyncio.to_thread(sys.stdin.readline):
        verb, key, *rest = line.split()
        try:
            if verb == "acquire":
                lock = store.lock(key, sleep=0.02, blocking_timeout=int(rest[0]) / 1000)
                if await lock.acquire():
                    held[key] = lock
                    print("granted", flush=True)
                else:
                    print("refused", flush=True)
            elif verb == "release":
                await held[key].release()
                print("released", flush=True)
        except (LockError, RedisError) as error:
            print("error", error, flush=True)


asyncio.run(main())
