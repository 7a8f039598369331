"""Writes to a named pipe of the machine: a mount that is read only does not keep anybody from it."""

import os

from common import attempt, detours, expect, outside

for way in detours(outside("PIPE")):
    for flags in [os.O_WRONLY, os.O_RDWR, os.O_RDONLY]:
        attempt(f"open {way}", lambda: os.close(os.open(way, flags | os.O_NONBLOCK)))
reader, writer = os.pipe()
expect("a pipe of its own", lambda: os.close(os.open(f"/proc/self/fd/{writer}", os.O_WRONLY)))
