"""redlock-py's Redlock, which reports how long its lock is valid."""
import builtins
import os
import sys
import time

# Its module is for Python 2 as well.
builtins.basestring = str

from redlock import Redlock

locks = Redlock([{"host": url.split("//")[1].split(":")[0], "port": 6379}
                 for url in os.environ["PICKLOCK_STORES"].split(",")], retry_count=1)
ttl = int(os.environ["PICKLOCK_TTL_MS"])
held = {}

for line in sys.stdin:
    verb, key, *rest = line.split()
    try:
        if verb == "acquire":
            end = time.monotonic() + int(rest[0]) / 1000
            lock = locks.lock(key, ttl)
            while not lock and time.monotonic() < end:
                time.sleep(0.02)
                lock = locks.lock(key, ttl)
            held[key] = lock
            print(f"granted until_ms={int(lock.validity)}" if lock else "refused", flush=True)
        elif verb == "release":
            locks.unlock(held.pop(key))
            print("released", flush=True)
    except Exception as error:
        print("error", str(error).replace("\n", " "), flush=True)
