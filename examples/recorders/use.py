import sys
from recorder import Recorder


class Lock:
    def acquire(self):
        return True

    def release(self):
        pass


lock, recorder = Lock(), Recorder(sys.argv[1])
recorder.note("invoke", "acquire", "stock")
if lock.acquire():
    recorder.note("ok", "acquire", "stock")
    # The work.
    recorder.note("invoke", "release", "stock")
    lock.release()
    recorder.note("ok", "release", "stock")
else:
    recorder.note("fail", "acquire", "stock")
