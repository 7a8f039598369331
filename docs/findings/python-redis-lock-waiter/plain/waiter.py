"""The holder is killed, its lock expires after 2 s, and a client that waits with timeout=10 acquires it after 10 s."""

import os
import signal
import sys
import threading
import time

import redis
import redis_lock

ADDRESS = {"host": "127.0.0.1", "port": int(sys.argv[1])}
# redis-py 8 ends a BLPOP after 5 s by default. `defaults` keeps its defaults.
OPTIONS = {} if "defaults" in sys.argv else {"socket_timeout": None}
EXPIRE, TIMEOUT = 2, 10


def hold():
    """A process that acquires the lock, with renewal, and is killed."""
    lock = redis_lock.Lock(redis.Redis(**ADDRESS), "job", expire=EXPIRE, auto_renewal=True)
    lock.acquire()
    os.kill(os.getpid(), signal.SIGKILL)


def seconds():
    return time.monotonic() - began


def watch():
    """Prints when the lock is free."""
    store = redis.Redis(**ADDRESS)
    while store.exists("lock:job"):
        time.sleep(0.01)
    print(f"the lock expired after {seconds():.1f} s: nobody holds it", flush=True)


holder = os.fork()
if holder == 0:
    hold()
os.waitpid(holder, 0)
began = time.monotonic()
watcher = threading.Thread(target=watch)
watcher.start()
waiter = redis_lock.Lock(redis.Redis(**ADDRESS, **OPTIONS), "job", expire=EXPIRE, auto_renewal=True)
try:
    answer = waiter.acquire(timeout=TIMEOUT)
except redis.RedisError as error:
    answer = f"{type(error).__name__}: {error}"
watcher.join()
print(f"acquire(timeout={TIMEOUT}) answered {answer} after {seconds():.1f} s")
