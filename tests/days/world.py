# SPDX-License-Identifier: GPL-2.0-or-later
"""The world of one walk: two hosts, a journal server, disks, and what was acknowledged.

A lineage is what an administrator calls "the volume": a disk, its copies, and the log. Of each
file the world knows which contents are allowed: after an acknowledged fsync exactly one. A Disk
that mounts must show an allowed content of each file of its lineage. --accept-loss, and nothing
else, makes a disk the first of a new lineage.
"""
import hashlib
import os
import re
import shutil
import signal
import subprocess
import time

BUILD = os.environ["RJ_BUILD"]
TOOLS = {name: f"{BUILD}/{room}/{name}" for name, room in (
    ("mkrjfs", "mkrjfs"), ("rjtune", "rjtune"), ("rjrecover", "rjrecover"),
    ("mount.rj", "rjmount"), ("umount.rj", "rjmount"), ("rjournald", "rjournald"),
    ("rjctl", "rjctl"), ("rjlog", "rjlog"), ("rjbackup", "rjbackup"), ("rjserver", "rjserver"))}
LIMIT = 120  # seconds, for each command: none may hang
KINDS = {
    "ext4": ["-t", "ext4", "-b", "4096"],
    "ext4-1k": ["-t", "ext4", "-b", "1024"],
    "ext3": ["-t", "ext3", "-b", "1024"],
    "ext4-noextent": ["-t", "ext4", "-b", "4096", "-O", "^extent,^64bit"],
    "ext4-bigalloc": ["-t", "ext4", "-b", "1024", "-O", "bigalloc", "-C", "4096"],
}


class Bad(AssertionError):
    """What no walk may show."""


class Lineage:
    def __init__(self, allowed=None):
        self.allowed = allowed or {}  # name: set of hashes; None in it: no such file
        self.learn = allowed is None  # what the next mount shows is what there is


class Disk:
    def __init__(self, path, lineage, host="a"):
        self.path, self.lineage, self.host = path, lineage, host
        self.mnt = None      # where it is mounted
        self.options = ""    # and how
        self.fenced = False  # another disk of its lineage was mounted since
        self.refusal = None  # what the last command said, if it refused


class Result:
    def __init__(self, status, out):
        self.status, self.out = status, out


def sha(data):
    return hashlib.sha256(data).hexdigest()


class World:
    def __init__(self, where, log):
        self.dir, self.log = where, log
        self.serial = 0
        self.disks = {}
        self.server = None
        self.srv = f"{where}/srv"
        os.makedirs(f"{where}/store")
        for host in "ab":
            os.makedirs(f"{where}/{host}/floor")
            os.makedirs(f"{where}/{host}/run")
            with open(f"{where}/{host}/rj.conf", "w") as f:
                f.write(f"[local]\nfloor_dir = {where}/{host}/floor\n"
                        f"fallback_dirs = {where}\n[*]\nconnect_timeout = 2\n"
                        "request_timeout = 4\n")
            os.chmod(f"{where}/{host}/rj.conf", 0o600)
        self.port = None
        self.start_server()

    # ---- commands ----
    def env(self, host):
        e = dict(os.environ, RJ_RUN=f"{self.dir}/{host}/run", RJ_CONF=f"{self.dir}/{host}/rj.conf",
                 RJ_STATE=f"{self.dir}/{host}", LC_ALL="C.UTF-8")
        e.pop("RJ_CREDENTIALS", None)  # of the tests' rj.conf
        return e

    def run(self, host, *args, ok=None):
        """Run a command on a host; it must end. OK: the statuses that are no failure of the test."""
        argv = [TOOLS.get(args[0], args[0]), *args[1:]]
        shown = " ".join(args).replace(self.dir + "/", "")
        try:
            p = subprocess.run(["unshare", "-u", "sh", "-c", f"hostname {host}; exec \"$@\"", "sh",
                                *argv], env=self.env(host), stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT)
        except subprocess.TimeoutExpired:
            self.log(f"{host}$ {shown}: no end after {LIMIT} s")
            raise Bad(f"hangs: {shown}")
        out = p.stdout.decode(errors="replace")
        self.log(f"{host}$ {shown}: {p.returncode}\n" +
                 "".join(f"    {line[:600]}\n" for line in
                         out.replace(self.dir + "/", "").splitlines()[-12:]))
        if p.returncode < 0 or p.returncode in (134, 139):
            raise Bad(f"dies by a signal: {shown}")
        if ok is not None and p.returncode not in ok:
            raise Bad(f"status {p.returncode}, not {ok}: {shown}")
        return Result(p.returncode, out)

    # ---- the server ----
    def start_server(self):
        if self.server:
            return
        log = f"{self.dir}/rjserver.log"
        open(log, "w").close()
        port = self.port or 0
        for _ in range(50):
            with open(log, "a") as f:
                self.server = subprocess.Popen(
                    [TOOLS["rjserver"], "-d", self.srv, "-l", f"127.0.0.1:{port}", "--insecure"],
                    stdout=f, stderr=f, start_new_session=True)
            for _ in range(200):
                m = re.search(r"listening on .*:(\d+)", open(log).read())
                if m:
                    self.port = int(m.group(1))
                    return
                if self.server.poll() is not None:
                    break
                time.sleep(0.02)
            self.stop_server()
            time.sleep(0.1)  # the port is still in use
        raise RuntimeError("the server does not start: " + open(log).read())

    def stop_server(self):
        if self.server:
            self.server.kill()
            self.server.wait()
            self.server = None

    # ---- disks ----
    def new_path(self, ext="img"):
        self.serial += 1
        return f"{self.dir}/d{self.serial}.{ext}"

    def url(self, where):
        """A new log's, at the server or in a folder."""
        self.serial += 1
        if where == "rj":
            return f"rj://127.0.0.1:{self.port}/v{self.serial}"
        os.makedirs(f"{self.dir}/store/v{self.serial}")
        return f"file://{self.dir}/store/v{self.serial}"

    def mkrjfs(self, kind, where, words=()):
        path = self.new_path()
        url = self.url(where)
        size = "160M" if "-b 4096" in " ".join(KINDS[kind]) else "40M"
        os.truncate(os.open(path, os.O_CREAT | os.O_WRONLY), int(size[:-1]) << 20)
        self.run("a", "mkrjfs", "-q", "-F", *KINDS[kind], "-J",
                 ",".join([f"remote={url}", "size=4", *words]), path, ok=[0])
        d = Disk(path, Lineage({}))
        self.disks[os.path.basename(path)] = d
        return d

    def copy(self, d, host=None):
        path = self.new_path()
        subprocess.run(["cp", "--sparse=always", d.path, path], check=True)
        c = Disk(path, d.lineage, host or d.host)
        self.disks[os.path.basename(path)] = c
        self.log(f"{c.host}$ cp {os.path.basename(d.path)} {os.path.basename(path)}"
                 f"{' (mounted)' if d.mnt else ''}\n")
        return c

    def daemons(self, d):
        """The supervisor and the worker that serve a disk."""
        p = subprocess.run(["pgrep", "-f", f"rjournald .*{re.escape(d.path)}$"], stdout=subprocess.PIPE)
        return [int(x) for x in p.stdout.split()]

    def wait_gone(self, d, seconds=40):
        end = time.monotonic() + seconds
        while self.daemons(d):
            if time.monotonic() > end:
                return False
            time.sleep(0.02)
        return True

    # ---- the oracle ----
    def content(self, d):
        """What the mount shows: name to hash."""
        found = {}
        for name in os.listdir(d.mnt):
            p = f"{d.mnt}/{name}"
            if name[0] == "f" and os.path.isfile(p):
                with open(p, "rb") as f:
                    found[name] = sha(f.read())
        return found

    def check_content(self, d):
        found, line = self.content(d), d.lineage
        if line.learn:
            line.allowed, line.learn = {n: {h} for n, h in found.items()}, False
        for name, allowed in sorted(line.allowed.items()):
            if found.get(name) not in allowed:
                raise Bad(f"lost: {name} of {os.path.basename(d.path)} is "
                          f"{'there' if name in found else 'not there'}, with status 0")
        line.allowed = {n: {found.get(n)} for n in line.allowed}

    def write(self, d, name, data):
        """Replace a file so that a crash leaves the old or the new one; fsync. True: acknowledged."""
        line = d.lineage
        old = line.allowed.get(name, {None})
        line.allowed[name] = old | {sha(data)}
        blob = self.new_path("blob")
        with open(blob, "wb") as f:
            f.write(data)
        script = 'cat "$1" >"$2/.new" && sync "$2/.new" && mv "$2/.new" "$2/$3" && sync "$2"'
        return self.acknowledge(d, name, {sha(data)}, script, blob)

    def unlink(self, d, name):
        line = d.lineage
        line.allowed[name] = line.allowed.get(name, {None}) | {None}
        return self.acknowledge(d, name, {None}, 'rm -f "$2/$3" && sync "$2"', "")

    def acknowledge(self, d, name, after, script, blob):
        try:
            p = subprocess.run(["sh", "-c", script, "sh", blob, d.mnt, name], timeout=60,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            return None
        if p.returncode == 0:
            if d.fenced:
                raise Bad(f"two copies acknowledge: {os.path.basename(d.path)} wrote {name} after "
                          "another copy was mounted")
            d.lineage.allowed[name] = after
        self.log(f"{d.host}$ write {name} on {os.path.basename(d.path)}: {p.returncode}\n")
        return p.returncode == 0

    def close(self):
        subprocess.run(["pkill", "-KILL", "-f", f"rj[a-z]* .*{re.escape(self.dir)}/"],
                       stdout=subprocess.DEVNULL)
        self.stop_server()
        for line in reversed(open("/proc/mounts").read().splitlines()):
            mnt = line.split()[1]
            if mnt.startswith(self.dir + "/"):
                subprocess.run(["umount", "-l", mnt], stderr=subprocess.DEVNULL)
        shutil.rmtree(self.dir, ignore_errors=True)


def send(pids, number):
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


def kill(pids):
    send(pids, signal.SIGKILL)


def stop(pids):
    """Stop them, and wait until each thread has stopped."""
    send(pids, signal.SIGSTOP)
    end = time.monotonic() + 20
    for pid in pids:
        while time.monotonic() < end:
            try:
                states = [open(f"/proc/{pid}/task/{t}/stat").read().rsplit(")", 1)[1].split()[0]
                          for t in os.listdir(f"/proc/{pid}/task")]
            except (FileNotFoundError, ProcessLookupError):
                break
            if all(s in "TtZX" for s in states):
                break
            time.sleep(0.005)
