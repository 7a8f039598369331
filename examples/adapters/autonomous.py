"""An autonomous client: a lease lock by hand with redis-py, around a nightly job.

picklock run --autonomous --program 'python3 examples/adapters/autonomous.py' --scenario pause
"""
import os
import time
import uuid

import redis
from redis.exceptions import RedisError

KEY = "jobs:nightly"
RELEASE = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end"

store = redis.Redis.from_url(os.environ["PICKLOCK_STORES"])
ttl = int(os.environ["PICKLOCK_TTL_MS"])


def say(what):
    print(what, KEY, flush=True)


while True:
    owner = str(uuid.uuid4())
    say("wants")
    try:
        while not store.set(KEY, owner, nx=True, px=ttl):
            time.sleep(0.02)
        say("holds")
        time.sleep(0.1)  # the job
        say("frees")
        store.eval(RELEASE, 1, KEY, owner)
    except RedisError:
        time.sleep(0.02)  # what came of it is not known: the lease will end it
    time.sleep(0.03)
