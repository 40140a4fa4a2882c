# SPDX-License-Identifier: GPL-2.0-or-later
"""The programs that write: a process of their own, since one that waits for a journal cannot be killed.

It reads lines of JSON, {"op", "dir", "name", "data"}, and answers each with an errno; 0: every
fsync of it has returned.
"""
import ctypes
import json
import os
import select
import subprocess
import sys

LIBC = ctypes.CDLL(None, use_errno=True)


def fsync(path):
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def syncfs(path):
    fd = os.open(path, os.O_RDONLY)
    bad = LIBC.syncfs(fd)
    os.close(fd)
    if bad:
        raise OSError(ctypes.get_errno(), path)


def put(path, data):
    with open(path, "wb") as f:
        f.write(data)
        f.flush()
        os.fsync(f.fileno())


def act(op, where, name, data):
    path = f"{where}/{name}"
    if op == "write":  # a crash leaves the old file or the new one
        put(f"{where}/.new", data)
        os.rename(f"{where}/.new", path)
        fsync(where)
    elif op == "append":
        with open(path, "ab") as f:
            f.write(data)
            f.flush()
            os.fsync(f.fileno())
        fsync(where)
    elif op == "unlink":
        os.unlink(path)
        fsync(where)
    else:  # lived in: blocks that were in use, and are free now
        for i in range(10):
            put(f"{where}/x{i}", os.urandom(i * 7000 + 100))
        for i in range(1, 10, 2):
            os.unlink(f"{where}/x{i}")
        syncfs(where)


class Writer:
    def __init__(self):
        self.p = None

    def do(self, op, where, name="", data=b"", seconds=60):
        """The errno; None: no answer in time."""
        if not self.p:
            self.p = subprocess.Popen([sys.executable, "-E", "-s", "-S", __file__], bufsize=0,
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        line = json.dumps({"op": op, "dir": where, "name": name, "data": data.hex()})
        self.p.stdin.write(line.encode() + b"\n")
        if select.select([self.p.stdout], [], [], seconds)[0]:
            return int(self.p.stdout.readline())
        self.p.kill()  # it ends when the journal does
        self.p = None
        return None


def main():
    for line in sys.stdin:
        said = json.loads(line)
        try:
            act(said["op"], said["dir"], said["name"], bytes.fromhex(said["data"]))
            code = 0
        except OSError as e:
            code = e.errno
        print(code, flush=True)


if __name__ == "__main__":
    main()
