# SPDX-License-Identifier: GPL-2.0-or-later
"""What is typed while a volume is in use, and moves its log or ends its daemon."""
import os
import shutil
import signal
import subprocess
import time

from oracle import Bad, Lineage, Log
from world import alive, kill, send, wait_gone


class Live:
    def __init__(self, world, steps, backups, new_bytes):
        self.w, self.s, self.b, self.bytes = world, steps, backups, new_bytes

    # ---- what a command leaves ----
    def left(self, d, fenced):
        """The log of D is elsewhere. FENCED: the old one tells that it was left; else each copy goes on with it."""
        old = d.log
        old.holders.clear()
        for x in self.w.disks.values():
            if x is not d and x.log is old and not fenced:
                x.lineage = Lineage(None)
        if fenced:
            old.left = dict(d.lineage.allowed)
        else:
            self.w.meddled = True  # the old store lacks what is written from now on
            d.lineage = Lineage(dict(d.lineage.allowed))  # what the copies see now is theirs
        d.log, d.fenced = Log(), False
        d.hold(True)

    def served(self, d):
        return self.w.daemons(d) and not d.fenced and not d.taken and "ro" not in d.options.split(",")

    def well(self, d):
        """The next fsync is acknowledged."""
        if not self.w.write(d, "f0", self.bytes(5000, 1)):
            raise Bad(f"{d.name} takes no writes after that")

    def write_unanswered(self, d):
        """The store is not there: this waits, or a fallback file acknowledges it."""
        self.w.write(d, "f1", self.bytes(9000, 2), seconds=0.3)

    # ---- move and reseed ----
    def move(self, d, where, marked):
        served = self.served(d)
        r = self.w.run(d.host, "rjctl", "move", f"--to={self.w.url(where)}", d.mnt)
        if r.status == 0:
            if not marked:
                raise Bad("a volume that can have no mark was moved")
            self.left(d, True)
        elif served and marked and self.w.server.process:
            raise Bad(f"refused: rjctl move of {d.name}")
        if served and self.w.server.process:
            self.well(d)

    def move_cut(self, d, ms):
        """The power fails somewhere in a move."""
        url = self.w.url("rj")
        p = self.w.start(d.host, "rjctl", "move", f"--to={url}", d.mnt)
        time.sleep(ms / 1000)
        self.s.power_cut(d)
        p.kill()
        p.wait()
        if (self.b.log_of(d)[0] or "").startswith(url):
            self.w.log("    (it had moved)\n")
            self.left(d, False)

    def reseed(self, d, marked):
        """The server does not come back soon: a new log in a folder."""
        served, there = self.served(d), self.w.server.process
        self.w.server.stop()
        self.w.log("server: lost\n")
        self.write_unanswered(d)
        r = self.w.run(d.host, "rjctl", "reseed", f"--to={self.w.url('file')}", d.mnt)
        if r.status == 0:
            self.left(d, False)
            if served:
                self.well(d)
        elif "rjctl stop --force saves" in r.out:  # the kernel changes the backup superblock
            return self.save(d, there)
        elif served and marked:
            raise Bad(f"refused: rjctl reseed of {d.name}")
        if there:
            self.w.log("server: there\n")
            self.w.server.start()

    def reseed_here(self, d, saved):
        """A server with an empty store, or an older one, in the place of the one that was."""
        w, served = self.w, self.served(d)
        w.log(f"server: its store is {'as it was when saved' if saved else 'empty'}, under a mount\n")
        w.server.save(f"{w.dir}/right")
        w.server.put_back(saved)
        w.meddled = True
        self.write_unanswered(d)
        r = w.run(d.host, "rjctl", "reseed", d.mnt)
        if r.status:
            if served and (self.b.log_of(d)[0] or "").startswith("rj:"):
                raise Bad(f"refused: rjctl reseed of {d.name}")
            w.server.put_back(f"{w.dir}/right")
            return
        for x in w.disks.values():  # their logs are gone with the store, and what told that one was left
            x.log.holders.clear()
            x.log.left = None
        d.hold(True)
        if served:
            self.well(d)

    # ---- ends of a daemon ----
    def saved(self, d):
        """The server is lost, and the host is to go down: keep what is in memory, and recover from that."""
        there = self.w.server.process
        self.w.server.stop()
        self.w.log("server: lost\n")
        self.write_unanswered(d)
        self.save(d, there)

    def save(self, d, there):
        room = self.w.new_path("saved")
        self.w.run(d.host, "rjctl", "stop", "--force", f"--save={room}", d.mnt)
        if there:
            self.w.log("server: there\n")
            self.w.server.start()
        subprocess.run(["umount", d.mnt], stderr=subprocess.DEVNULL, timeout=60)
        self.s.throw_away(d)
        d.saved = room if os.path.isdir(room) else None

    def recover_saved(self, d):
        room, d.saved = d.saved, None
        r = self.s.typed(d, "rjrecover", f"--from={room}", d.path)
        if r.status < 4 and "clean, nothing to recover" not in r.out:
            self.left(d, False)

    def kill_worker(self, d):
        """Its supervisor begins another one, and no program sees an error."""
        pids = self.w.daemons(d)
        send(pids[1:], signal.SIGKILL)
        self.w.log(f"{d.host}$ kill -9 the worker of {d.name}\n")
        if len(pids) > 1 and self.served(d) and self.w.server.process:
            self.well(d)

    def kill_supervisor(self, d):
        """The worker ends, and nothing hangs."""
        pids = self.w.daemons(d)
        send(pids[:1], signal.SIGKILL)
        self.w.log(f"{d.host}$ kill -9 the supervisor of {d.name}\n")
        subprocess.run(["umount", d.mnt], stderr=subprocess.DEVNULL, timeout=60)
        d.lost_unmount = True
        if not wait_gone(pids):
            raise Bad(f"a process of rjournald stays after its supervisor: {list(filter(alive, pids))}")
        self.s.throw_away(d)
