"""RedBeat's lock around a beat: taken at the signal of Celery's beat service, extended by each tick, released when it closes."""
import os
import sys

from celery import Celery
from celery.signals import beat_init
from redbeat.schedulers import RedBeatScheduler

lease = int(os.environ["PICKLOCK_TTL_MS"]) // 1000
app = Celery(broker=os.environ["PICKLOCK_STORES"])
app.conf.beat_max_loop_interval = lease / 5
held = {}


class Beat:
    def __init__(self, key):
        self.scheduler = RedBeatScheduler(app, lock_key=key, lock_timeout=lease)


for line in sys.stdin:
    verb, key, *_ = line.split()
    try:
        if verb == "acquire":
            beat = Beat(key)
            beat_init.send(sender=beat)
            beat.scheduler.tick()
            held[key] = beat
            print("granted", flush=True)
        elif verb == "release":
            held.pop(key).scheduler.close()
            print("released", flush=True)
    except Exception as error:
        print("error", str(error).replace("\n", " "), flush=True)
