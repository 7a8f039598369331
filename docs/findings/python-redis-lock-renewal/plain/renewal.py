"""A process is stopped (SIGSTOP) for longer than the lease while it holds the lock. It then tries to acquire the lock again for 8 s."""

import collections
import os
import signal
import sys
import threading
import time

import redis
import redis_lock

EXPIRE, AGAIN = 2, 8
threading.excepthook = lambda about: print(f"the renewal thread ended: {about.exc_type.__name__}", flush=True)


def client():
    return redis.Redis("127.0.0.1", int(sys.argv[1]))


def answer_of(call, *arguments, **options):
    try:
        return str(call(*arguments, **options))
    except Exception as error:
        return type(error).__name__


def work(pipe):
    lock = redis_lock.Lock(client(), "job", expire=EXPIRE, auto_renewal=True)
    print("acquire():", answer_of(lock.acquire), flush=True)
    os.write(pipe, b"held")
    time.sleep(EXPIRE + 2)  # Work, during which the process is stopped.
    print("release():", answer_of(lock.release), flush=True)
    began, answers, last = time.monotonic(), collections.Counter(), None
    while time.monotonic() - began < AGAIN and last != "True":
        answer = answer_of(lock.acquire, blocking=False)
        if answer != last:
            print(f"{time.monotonic() - began:.1f} s: acquire(): {answer}, the key exists: {lock.locked()}", flush=True)
        last = answer
        answers[answer] += 1
        time.sleep(0.1)
    print(f"acquired {answers['True']} times in {sum(answers.values())} attempts, {time.monotonic() - began:.1f} s:", dict(answers))


reading, writing = os.pipe()
worker = os.fork()
if worker == 0:
    work(writing)
    os._exit(0)
os.read(reading, 4)
os.kill(worker, signal.SIGSTOP)
time.sleep(EXPIRE + 1)
print("after a pause of 3 s the key exists:", bool(client().exists("lock:job")), flush=True)
os.kill(worker, signal.SIGCONT)
os.waitpid(worker, 0)
