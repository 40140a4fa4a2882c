# SPDX-License-Identifier: GPL-2.0-or-later
"""A journal server, and what stands between it and the hosts when it does not answer as it should."""
import os
import re
import shutil
import socket
import subprocess
import threading
import time


class Server:
    """One for many walks; and one with a door for each walk whose store goes wrong."""

    def __init__(self, tool, where):
        self.tool, self.dir, self.log = tool, f"{where}/srv", f"{where}/rjserver.log"
        self.port, self.process = 0, None

    def start(self):
        if self.process:
            return
        for _ in range(50):
            with open(self.log, "w") as f:
                self.process = subprocess.Popen(
                    [self.tool, "-q", "-d", self.dir, "-l", f"127.0.0.1:{self.port}", "--insecure"],
                    stdout=f, stderr=f, start_new_session=True)
            for _ in range(2000):
                m = re.search(r"listening on .*:(\d+)", open(self.log).read())
                if m:
                    self.port = int(m.group(1))
                    return
                if self.process.poll() is not None:
                    break
                time.sleep(0.005)
            self.stop()
            time.sleep(0.1)  # the port is still in use
        raise RuntimeError("the server does not start: " + open(self.log).read())

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None

    def save(self, to):
        """A copy of its store, of one moment."""
        self.stop()
        shutil.rmtree(to, ignore_errors=True)
        if os.path.isdir(self.dir):
            shutil.copytree(self.dir, to, ignore=shutil.ignore_patterns("control"))
        self.start()

    def put_back(self, saved):
        """None: with nothing in it."""
        self.stop()
        shutil.rmtree(self.dir, ignore_errors=True)
        if saved:
            shutil.copytree(saved, self.dir)
        self.start()


class Door:
    """A port before the server's: MODE is open, slow, or a status that it answers itself."""

    def __init__(self, server):
        self.server, self.mode, self.open = server, "open", set()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def turn(self, mode):
        self.mode = mode
        for s in list(self.open):
            self.end(s)

    def end(self, s):
        self.open.discard(s)
        try:
            s.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def accept(self):
        while True:
            try:
                s, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(s,), daemon=True).start()

    def serve(self, s):
        self.open.add(s)
        try:
            if self.mode.isdigit():
                s.recv(65536)
                s.sendall(f"HTTP/1.1 {self.mode} No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode())
            else:
                there = socket.create_connection(("127.0.0.1", self.server.port))
                self.open.add(there)
                threading.Thread(target=self.pump, args=(there, s), daemon=True).start()
                self.pump(s, there)
        except OSError:
            pass
        self.end(s)
        s.close()

    def pump(self, a, b):
        try:
            while data := a.recv(65536):
                if self.mode == "slow":
                    time.sleep(0.1)
                b.sendall(data)
        except OSError:
            pass
        self.end(a)
        self.end(b)

    def close(self):
        self.turn("closed")
        self.listener.close()
