"""celery-once's Redis backend: the key is locked when a task is queued, and cleared when the task is over."""
import os
import sys

from celery_once import AlreadyQueued
from celery_once.backends.redis import Redis

lease = int(os.environ["PICKLOCK_TTL_MS"]) // 1000
backend = Redis({"url": os.environ["PICKLOCK_STORES"] + "/0"})

for line in sys.stdin:
    verb, key, *_ = line.split()
    try:
        if verb == "acquire":
            backend.raise_or_lock(key, timeout=lease)
            print("granted", flush=True)
        elif verb == "release":
            backend.clear_lock(key)
            print("released", flush=True)
    except AlreadyQueued:
        print("refused", flush=True)
    except Exception as error:
        print("error", str(error).replace("\n", " "), flush=True)
