# recorder.py: writes what threads ask of a lock, for `picklock judge`.
import json, os, socket, threading, time


class Recorder:
    def __init__(self, path, clock=None):
        # A clock that is never set back, on the machine's date; a process of the system is a host of its own.
        ahead = time.time_ns() - time.monotonic_ns()
        # Processes of one machine that name its clock go by its date as it is.
        self.now = time.time_ns if clock else lambda: time.monotonic_ns() + ahead
        self.host = f"{socket.gethostname()}-{os.getpid()}"
        self.file = open(path, "a", encoding="utf-8")
        self.mutex = threading.Lock()
        if clock:
            self.write({"host": self.host, "type": "info", "f": "host", "clock": clock})

    def note(self, type, f, key, **more):
        thread = f"{threading.current_thread().name}-{threading.get_native_id()}"
        with self.mutex:  # The clock is read inside, so that the lines are in its order.
            self.write({"time_ns": self.now(), "host": self.host, "process": thread,
                        "type": type, "f": f, "key": key, **more})

    def write(self, line):
        self.file.write(json.dumps(line) + "\n")
        self.file.flush()
