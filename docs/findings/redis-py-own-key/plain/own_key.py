"""The server stops for 6 s (SIGSTOP) while a client acquires a free lock. All settings are the defaults of redis-py."""

import os
import signal
import sys
import threading
import time

import redis

PATIENCE = 20


def acquire(name, **options):
    """A thread acquires a free lock; prints what it gets, and the record of the lock after so long."""
    store = redis.Redis(port=int(sys.argv[1]))
    store.ping()
    yield
    lock = store.lock(name, **options)
    answers = []
    began = time.monotonic()
    thread = threading.Thread(target=lambda: answers.append(lock.acquire()), daemon=True)
    thread.start()
    yield
    thread.join(began + PATIENCE - time.monotonic())
    text = f"answered {answers[0]} after" if answers else "has not returned after"
    seconds = min(time.monotonic() - began, PATIENCE)
    print(f"lock({name!r}, {options}).acquire() {text} {seconds:.0f} s; the key exists: {bool(store.exists(name))}, its TTL: {store.ttl(name)} s")


calls = [acquire("without a timeout"), acquire("with a timeout", timeout=60), acquire("with a limit", timeout=60, blocking_timeout=15)]
for call in calls:
    next(call)  # It connects.
server = int(sys.argv[2])
os.kill(server, signal.SIGSTOP)
for call in calls:
    next(call)  # It sends its request.
time.sleep(6)
os.kill(server, signal.SIGCONT)
print("no other client uses these locks", flush=True)
for call in calls:
    next(call, None)
