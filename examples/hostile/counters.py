"""Prints what is in each file of `/proc` and `/sys` that can be read: another run must find the same."""

import os
import zlib

MOST = 30_000


def files(top):
    for folder, folders, names in os.walk(top):
        folders.sort()
        # Its own processes; theirs are looked at by themselves.
        if folder == "/proc":
            folders[:] = [name for name in folders if not name.isdigit()] + ["self"]
        if folder.startswith("/proc/self"):
            folders[:] = [name for name in folders if name in ("net", "attr")]
        for name in sorted(names):
            yield os.path.join(folder, name)


seen = 0
for top in ["/proc", "/sys"]:
    for path in files(top):
        if seen == MOST:
            break
        seen += 1
        try:
            file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
            text = os.read(file, 65536)
            os.close(file)
        except OSError as error:
            text = str(error.errno).encode()
        print(f"{zlib.crc32(text):08x} {path}", text[:80] if len(text) < 80 else "")
print("works", seen, flush=True)
