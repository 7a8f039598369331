# recorder.py: writes what threads ask of a lock, for `picklock judge`.
import json, os, socket, threading, time


class Recorder:
    def __init__(self, path):
        # A clock that is never set back, on the machine's date; a process of the system is a host of its own.
        self.ahead = time.time_ns() - time.monotonic_ns()
        self.host = f"{socket.gethostname()}-{os.getpid()}"
        self.file = open(path, "a", encoding="utf-8")
        self.mutex = threading.Lock()

    def note(self, type, f, key, **more):
        with self.mutex:  # The clock is read inside, so that the lines are in its order.
            line = {"time_ns": time.monotonic_ns() + self.ahead, "host": self.host,
                    "process": threading.get_ident(), "type": type, "f": f, "key": key, **more}
            self.file.write(json.dumps(line) + "\n")
            self.file.flush()
