"""A lease lock without any library: SET NX PX to acquire, scripts that compare to release and to renew."""
import os
import socket
import sys
import time
import uuid
from urllib.parse import urlsplit

RELEASE = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end"
RENEW = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) else return 0 end"

store = urlsplit(os.environ["PICKLOCK_STORES"])
ttl = os.environ["PICKLOCK_TTL_MS"]
held = {}


def call(*words):
    """One request on a connection of its own; its reply's first line."""
    with socket.create_connection((store.hostname, store.port), timeout=1) as conn:
        parts = [f"*{len(words)}"] + [part for word in words for part in (f"${len(word)}", word)]
        conn.sendall(("\r\n".join(parts) + "\r\n").encode())
        return conn.makefile("rb").readline().decode().strip()


for line in sys.stdin:
    verb, key, *rest = line.split()
    try:
        if verb == "acquire":
            owner, until = str(uuid.uuid4()), time.monotonic() + int(rest[0]) / 1000
            while not (granted := call("SET", key, owner, "NX", "PX", ttl) == "+OK") and time.monotonic() < until:
                time.sleep(0.02)
            held[key] = owner
            print("granted" if granted else "refused", flush=True)
        elif verb == "release":
            left = call("EVAL", RELEASE, "1", key, held.pop(key))
            print("released" if left == ":1" else "error it was not held any more", flush=True)
        elif verb == "renew":
            print("renewed" if call("EVAL", RENEW, "1", key, held[key], ttl) == ":1" else "lost", flush=True)
        else:
            print("error not understood:", verb, flush=True)
    except OSError as error:
        print("error", error, flush=True)
