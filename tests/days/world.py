# SPDX-License-Identifier: GPL-2.0-or-later
"""The world of one walk: two hosts, a journal server, stores in folders, and disks."""
import ctypes
import os
import shutil
import signal
import socket
import subprocess
import time

from oracle import Bad, Disk, Lineage, Log, check_mount, sha
from server import Door, Server
from writer import LIBC, Writer

BUILD = os.environ["RJ_BUILD"]
TOOLS = {name: f"{BUILD}/{room}/{name}" for name, room in (
    ("mkrjfs", "mkrjfs"), ("rjtune", "rjtune"), ("rjrecover", "rjrecover"),
    ("mount.rj", "rjmount"), ("umount.rj", "rjmount"), ("rjournald", "rjournald"),
    ("rjctl", "rjctl"), ("rjlog", "rjlog"), ("rjbackup", "rjbackup"), ("rjserver", "rjserver"))}
LIMIT = 120  # seconds, for each command: none may hang
# small groups: an image of 40 MiB has a backup superblock, so that there is a mark
BLOCKS4K = ["-b", "4096", "-g", "4096", "-N", "1024"]
KINDS = {
    "ext4": ["-t", "ext4", *BLOCKS4K],
    "ext4-1k": ["-t", "ext4", "-b", "1024"],
    "ext3": ["-t", "ext3", "-b", "1024"],
    "ext3-4k": ["-t", "ext3", *BLOCKS4K],
    "ext4-noextent": ["-t", "ext4", *BLOCKS4K, "-O", "^extent,^64bit"],
    "ext4-bigalloc": ["-t", "ext4", "-b", "1024", "-O", "bigalloc", "-C", "4096"],
}
CLONE_NEWUTS = 0x04000000
HOSTS = {}     # name: the namespace in which a machine has that name
SHARED = {}    # the server of all walks that break none, and the writer


def call(number):
    if number:
        raise OSError(ctypes.get_errno(), "namespace")


def enter(host):
    """What is started from here on runs on that machine."""
    if not HOSTS:
        for name in ("a", "b"):
            call(LIBC.unshare(CLONE_NEWUTS))
            socket.sethostname(name)
            HOSTS[name] = os.open("/proc/self/ns/uts", os.O_RDONLY)
    call(LIBC.setns(HOSTS[host], CLONE_NEWUTS))


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def copy_file(a, b):
    """Its holes stay holes."""
    subprocess.run(["cp", "--sparse=always", a, b], check=True)


class World:
    def __init__(self, where, log, own_server=False, conf=""):
        self.dir, self.log = where, log
        self.serial = 0
        self.disks = {}
        self.door = None
        self.loops = []
        self.theme_file = False  # volumes have a fallback file
        self.meddled = False  # the store was another one for a while
        self.adopted = False  # the store that is there now is gone on with
        os.makedirs(f"{where}/store")
        for room in ("fb", "fb.away"):  # the fallback files of this host, and of another
            os.makedirs(f"{where}/{room}")
        for host in "ab":
            os.makedirs(f"{where}/{host}/floor")
            os.makedirs(f"{where}/{host}/run")
            with open(f"{where}/{host}/rj.conf", "w") as f:
                f.write(f"[local]\nfloor_dir = {where}/{host}/floor\ndrill_dir = {where}/{host}/drill\n"
                        f"fallback_dirs = {where}/fb\n[*]\nconnect_timeout = 2\n"
                        f"request_timeout = 4\n{conf}".replace("DIR", where))
            os.chmod(f"{where}/{host}/rj.conf", 0o600)
        if own_server:
            self.server = Server(TOOLS["rjserver"], where)
            self.server.start()
            self.door = Door(self.server)
        else:
            if "server" not in SHARED:
                room = f"{os.path.dirname(where)}/{os.path.basename(where)}.server"
                os.makedirs(room)
                SHARED["server"] = Server(TOOLS["rjserver"], room)
            self.server = SHARED["server"]
            self.server.start()
        self.writer = SHARED.setdefault("writer", Writer())

    # ---- commands ----
    def start(self, host, *args):
        """Begin a command on a host."""
        env = dict(os.environ, RJ_RUN=f"{self.dir}/{host}/run", RJ_CONF=f"{self.dir}/{host}/rj.conf",
                   RJ_STATE=f"{self.dir}/{host}", BLKID_FILE=f"{self.dir}/blkid.tab", LC_ALL="C.UTF-8")
        env.pop("RJ_CREDENTIALS", None)  # of the tests' rj.conf
        enter(host)
        return subprocess.Popen([TOOLS.get(args[0], args[0]), *args[1:]], env=env, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def run(self, host, *args, ok=None):
        """Run a command on a host; it must end. OK: the statuses that are no failure of the test."""
        shown = " ".join(args).replace(self.dir + "/", "")
        p = self.start(host, *args)
        try:
            out, _ = p.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            self.log(f"{host}$ {shown}: no end after {LIMIT} s\n")
            raise Bad(f"hangs: {shown}")
        p.out = out.decode(errors="replace")
        self.log(f"{host}$ {shown}: {p.returncode}\n" +
                 "".join(f"    {line[:600]}\n" for line in
                         p.out.replace(self.dir + "/", "").splitlines()[-12:]))
        if p.returncode < 0 or p.returncode in (134, 139):
            raise Bad(f"dies by a signal: {shown}")
        if ok is not None and p.returncode not in ok:
            raise Bad(f"status {p.returncode}, not {ok}: {shown}")
        p.status = p.returncode
        return p

    # ---- disks ----
    def new_path(self, ext="img"):
        self.serial += 1
        return f"{self.dir}/d{self.serial}.{ext}"

    def url(self, where):
        """A new log's, at the server or in a folder."""
        self.serial += 1
        if where == "rj":
            port = self.door.port if self.door else self.server.port
            return f"rj://127.0.0.1:{port}/{os.path.basename(self.dir).replace('.', '')}v{self.serial}"
        os.makedirs(f"{self.dir}/store/v{self.serial}")
        return f"file://{self.dir}/store/v{self.serial}"

    def add(self, d):
        self.disks[d.name] = d
        return d

    def mkrjfs(self, kind, where, words=()):
        path = self.new_path()
        with open(path, "wb") as f:
            f.truncate(40 << 20)
        self.run("a", "mkrjfs", "-q", "-F", *KINDS[kind], "-J",
                 ",".join([f"remote={self.url(where)}", "size=4", *words]), path, ok=[0])
        d = self.add(Disk(path, Lineage({})))
        d.log = Log()
        d.hold(True)
        return d

    def copy(self, d, host=None):
        path = self.new_path()
        copy_file(d.path, path)
        c = self.add(Disk(path, d.lineage, host or d.host))
        c.log, c.gave_up = d.log, d.gave_up
        if d.path in d.log.holders and not d.mnt:
            c.hold(False)
        self.log(f"{c.host}$ cp {d.name} {c.name}{' (mounted)' if d.mnt else ''}\n")
        return c

    def at_server(self, d):
        """Is the log that the superblock names at the journal server?"""
        with open(d.path, "rb") as f:
            f.seek(1024 + 0x2FC)
            return b"rj://" in f.read(256)

    def find_supervisor(self, d):
        """By the lock files of the daemons of its host."""
        run = f"{self.dir}/{d.host}/run"
        for room in os.listdir(run):
            try:
                pid, path = open(f"{run}/{room}/lock").read().split()[:2]
            except (OSError, ValueError):
                continue
            if path == d.path and alive(pid):
                d.supervisor = int(pid)

    def daemons(self, d):
        """The supervisor and the worker that serve a disk."""
        if not d.supervisor or not alive(d.supervisor):
            return []
        with open(f"/proc/{d.supervisor}/task/{d.supervisor}/children") as f:
            return [d.supervisor, *map(int, f.read().split())]

    def close(self):
        mounts = [line.split()[1] for line in open("/proc/mounts")]
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline") as f:
                    words = f.read().split("\0")
            except (OSError, UnicodeDecodeError):
                continue
            if "/rj" in words[0] and any(w.startswith(self.dir + "/") for w in words[1:]):
                send([int(pid)], signal.SIGKILL)
        if self.door:
            self.door.close()
            self.server.stop()
        for mnt in reversed(mounts):
            if mnt.startswith(self.dir + "/"):
                subprocess.run(["umount", "-l", mnt], stderr=subprocess.DEVNULL)
        for loop in self.loops:
            subprocess.run(["losetup", "-d", loop], stderr=subprocess.DEVNULL)
        shutil.rmtree(self.dir, ignore_errors=True)

    # ---- files ----
    def write(self, d, name, data, op="write", seconds=60):
        """Replace a file so that a crash leaves the old or the new one; fsync."""
        line = d.lineage
        line.allowed[name] = line.allowed.get(name, {None}) | {sha(data)}
        return self.acknowledge(d, name, {sha(data)}, op, data, seconds)

    def unlink(self, d, name):
        line = d.lineage
        if name not in os.listdir(d.mnt):  # no fsync has anything to do
            return True
        line.allowed[name] = line.allowed.get(name, {None}) | {None}
        return self.acknowledge(d, name, {None}, "unlink", b"")

    def acknowledge(self, d, name, after, op, data, seconds=60):
        code = self.writer.do(op, d.mnt, name, data, seconds)
        self.log(f"{d.host}$ {op} {name} on {d.name}: {'no answer' if code is None else code}\n")
        if code != 0:
            return False
        if d.fenced:
            raise Bad(f"two copies acknowledge: {d.name} wrote {name} after another copy was mounted")
        d.lineage.allowed[name] = after
        d.lineage.host = d.host
        return True

    def mounted(self, d, mnt, options, took):
        """D is mounted: what it shows is complete. TOOK: a recovery came first, and took the log."""
        d.mnt, d.options, d.refusal, d.undo = mnt, options, None, None
        self.find_supervisor(d)
        if d.log.left is not None:
            raise Bad(f"{d.name} goes on with a log from which the journal was moved with another copy")
        # a store that was rolled back: other hosts know the end of the log a second later, by floor=
        d.lineage.learn |= self.meddled and d.lineage.host not in (None, d.host)
        check_mount(d)
        self.adopted |= self.at_server(d)
        if "ro" in options.split(","):
            d.hold(took)
            for x in self.disks.values():
                x.taken |= took and x is not d and x.log is d.log
            return
        d.fenced = d.taken = d.lost_unmount = False
        d.hold(True)
        for x in self.disks.values():
            if x is not d and x.mnt and x.lineage is d.lineage:
                x.fenced = True


def shut_down():
    """The walks are over."""
    if "server" in SHARED:
        SHARED["server"].stop()
        shutil.rmtree(os.path.dirname(SHARED["server"].dir), ignore_errors=True)


def send(pids, number):
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


def wait_gone(pids, seconds=40):
    end = time.monotonic() + seconds
    while any(map(alive, pids)):
        if time.monotonic() > end:
            return False
        time.sleep(0.002)
    return True


def kill(pids):
    send(pids, signal.SIGKILL)
    wait_gone(pids)


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
            time.sleep(0.002)
