# SPDX-License-Identifier: GPL-2.0-or-later
"""Bases, drills, restores and promotions; and what is typed on logs."""
import json
import os

from oracle import Bad, Disk


class Backups:
    def __init__(self, world, steps):
        self.w, self.s = world, steps
        self.bases = []
        self.untouched = True  # nothing has damaged a store

    def log_of(self, d):
        """(URL, UUID) of the remote log."""
        r = self.w.run(d.host, "rjtune", "-l", "--json", d.path)
        if r.status:
            return None, None
        journal = json.loads(r.out[r.out.index("{"):])["journal"]
        if journal["placement"] != "remote":
            return None, None
        return journal["url"], journal["uuid"]

    # ---- rjbackup ----
    def make(self, d):
        path = self.w.new_path("base")
        r = self.w.run(d.host, "rjbackup", "base", "--hold=1h", "-o", path, d.mnt or d.path)
        if r.status == 0:
            base = Disk(path, d.lineage, "b")
            base.log = d.log
            base.of = d
            self.bases.append(base)

    def current(self, base):
        """Is the log that the base goes on with that of the volume still?"""
        return base.of.log is base.log and base.of.lineage is base.lineage and not base.lineage.learn

    def restore(self, base):
        path = self.w.new_path("restored")
        r = self.w.run("a", "rjbackup", "restore", f"--base={base.path}", "-o", path)
        if r.status == 0:
            if self.current(base):
                self.s.shows_all(path, base.lineage)
            os.unlink(path)
        elif os.path.exists(path):
            raise Bad(f"a restore that failed leaves {os.path.basename(path)}")

    def drill(self, base):
        self.w.run("a", "rjbackup", "drill", f"--base={base.path}", f"--scratch={self.w.dir}")

    def follow(self, base):
        self.w.run("b", "rjbackup", "follow", "--once", f"--base={base.path}")

    def promote(self, base, words):
        """The base becomes the volume, on the other host."""
        n = self.w.run("b", "rjbackup", "promote", "-n", *words, base.path)
        log = base.log
        r = self.s.typed(base, "rjbackup", "promote", *words, base.path)
        base.log = log
        if (n.status == 0) != (r.status == 0) and not any(d.mnt for d in self.w.disks.values()):
            raise Bad(f"-n says {n.status}, the run {r.status}: rjbackup promote")
        if r.status:
            return
        self.bases.remove(base)
        self.w.add(base)
        base.hold(True)
        for d in self.w.disks.values():
            d.fenced |= d is not base and bool(d.mnt) and d.lineage is base.lineage

    # ---- rjlog ----
    def log(self, d, what):
        url, journal = self.log_of(d)
        if not url:
            return
        log = f"{url}/{journal}"
        if what == "verify":
            r = self.w.run(d.host, "rjlog", "verify", log)
            if r.status == 4 and self.untouched:
                raise Bad("rjlog verify finds damage, and nobody did any")
        elif what == "copy":
            to = f"{self.w.dir}/store/copy{self.w.serial}"
            os.makedirs(to, exist_ok=True)
            self.w.run(d.host, "rjlog", "copy", log, f"file://{to}")
            self.w.run(d.host, "rjrecover", "-n", "-J", f"remote=file://{to}", d.path)
        elif what == "prune":
            self.w.run(d.host, "rjlog", "prune", log)
        elif what == "rm":  # it is in use: refused
            r = self.w.run(d.host, "rjlog", "rm", "--volume", d.path, log)
            if r.status == 0:
                raise Bad("rjlog rm removes the log that the volume names")
        else:
            self.w.run(d.host, "rjlog", *what.split(), log)
