"""The RedLock of glasslion's package redlock."""
import os
import sys
from urllib.parse import urlsplit

from redlock import RedLock

urls = [urlsplit(url) for url in os.environ["PICKLOCK_STORES"].split(",")]
nodes = [{"host": url.hostname, "port": url.port} for url in urls]
ttl = int(os.environ["PICKLOCK_TTL_MS"])
held = {}

for line in sys.stdin:
    verb, key, *_ = line.split()
    try:
        if verb == "acquire":
            lock = RedLock(key, connection_details=nodes, ttl=ttl)
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
