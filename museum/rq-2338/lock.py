"""rq's scheduler lock: heartbeat at each third of the lease, one lock for each queue. Its lease is the interval and 60 s."""
import os
import sys
import time

# Its log goes to standard output: the answers have a copy of it, and the log goes to standard error.
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)

import redis
from rq.scheduler import RQScheduler

store = redis.Redis.from_url(os.environ["PICKLOCK_STORES"])
interval = max(1, int(os.environ["PICKLOCK_TTL_MS"]) // 1000 - 60)
held = {}

for line in sys.stdin:
    verb, key, *rest = line.split()
    try:
        if verb == "acquire":
            scheduler = RQScheduler([key], connection=store, interval=interval)
            end = time.monotonic() + int(rest[0]) / 1000
            while not scheduler.acquire_locks() and time.monotonic() < end:
                time.sleep(1)
            if scheduler.acquired_locks:
                held[key] = scheduler
            print("granted" if scheduler.acquired_locks else "refused", file=answers, flush=True)
        elif verb == "renew":
            held[key].heartbeat()
            print("renewed" if key in held[key].acquired_locks else "lost", file=answers, flush=True)
        elif verb == "release":
            held.pop(key).release_locks()
            print("released", file=answers, flush=True)
    except Exception as error:
        print("error", str(error).replace("\n", " "), file=answers, flush=True)
