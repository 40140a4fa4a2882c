# SPDX-License-Identifier: GPL-2.0-or-later
"""What people and other programs type, in any state; and what must hold after each command."""
import os
import re
import subprocess
import uuid

from world import Bad, Lineage, kill, stop

GIVES_UP = re.compile(r"giv(e|es|en|ing) (that |it |the log |the lost journal )?up|given up|is lost|may be missing|a log of its own")


def internal(d):
    """Is the journal in the volume now, or is there none?"""
    p = subprocess.run(["dumpe2fs", "-h", d.path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    text = p.stdout.decode(errors="replace")
    return "Journal inode:" in text or "has_journal" not in text


class Steps:
    def __init__(self, world):
        self.w = world

    # ---- mount and use ----
    def mount(self, d, options):
        """mount.rj; or mount, where the journal is inside. What a success shows is complete."""
        w = self.w
        mnt = f"{w.dir}/mnt-{os.path.basename(d.path)}"
        os.makedirs(mnt, exist_ok=True)
        if internal(d):
            r = w.run(d.host, "mount", "-i", "-t", "ext4", "-o", f"loop,{options}".rstrip(","), d.path, mnt)
        else:
            r = w.run(d.host, "mount.rj", d.path, mnt, *(["-o", options] if options else []))
        if r.status:
            self.refused(d, r, "mount.rj")
            return False
        d.mnt, d.options, d.refusal = mnt, options, None
        w.check_content(d)
        if "ro" not in options.split(","):
            d.fenced = False
            for x in w.disks.values():
                if x is not d and x.mnt and x.lineage is d.lineage:
                    x.fenced = True
        return True

    def umount(self, d):
        r = self.w.run(d.host, "umount", d.mnt)
        if r.status:
            self.throw_away(d)
            return
        d.mnt = None
        if not self.w.wait_gone(d):
            raise Bad(f"rjournald stays after the unmount of {os.path.basename(d.path)}")

    def throw_away(self, d):
        """The host is gone: its daemon and its mount, at one moment."""
        kill(self.w.daemons(d))
        if d.mnt:
            subprocess.run(["umount", "-l", d.mnt], stderr=subprocess.DEVNULL)
        d.mnt, d.fenced = None, False

    def power_cut(self, d):
        pids = self.w.daemons(d)
        stop(pids)
        new = self.w.new_path()
        subprocess.run(["cp", "--sparse=always", d.path, new], check=True)
        self.throw_away(d)
        os.rename(new, d.path)
        self.w.log(f"{d.host}$ power cut of {os.path.basename(d.path)}\n")

    def kill_daemon(self, d):
        kill(self.w.daemons(d))
        self.w.log(f"{d.host}$ kill -9 rjournald of {os.path.basename(d.path)}\n")
        self.w.wait_gone(d)
        subprocess.run(["umount", d.mnt], stderr=subprocess.DEVNULL, timeout=60)
        self.throw_away(d)

    # ---- what is typed on a volume that is not mounted ----
    def typed(self, d, *args):
        """Run a command that may refuse; note a refusal, and a loss that was asked for."""
        r = self.w.run(d.host, *args)
        if "--accept-loss" in args and r.status < 2:
            if not GIVES_UP.search(r.out) and "-n" not in args and "rjtune" not in args[0]:
                self.w.log("    (nothing was given up)\n")
            else:
                d.lineage = Lineage(None)
        if r.status >= (2 if args[0] == "rjtune" else 4):
            self.refused(d, r, args[0])
        else:
            d.refusal = None
        return r

    def recover(self, d, words):
        """rjrecover -n and the run agree: both refuse, or neither. (-n says nothing of -y and -p.)"""
        said = [x for x in words if x in ("-f", "--accept-loss")]
        n = self.w.run(d.host, "rjrecover", "-n", *said, d.path)
        r = self.typed(d, "rjrecover", *words, d.path)
        # what the check afterwards finds is not known before; -y may do more; -n looks at what is
        # in use
        if "another process uses" in r.out or "serves this volume" in r.out:
            return r
        if (n.status >= 4) != (r.status >= 4) and "check afterwards" not in r.out and \
                not (n.status >= 4 and "-y" in words) and not (r.status >= 4 and "-p" in words):
            raise Bad(f"-n says {n.status}, the run {r.status}: rjrecover {' '.join(words)}")
        return r

    def tune(self, d, what):
        w = self.w
        if what in ("uuid", "uuid -y"):  # a volume of its own from then on
            r = self.typed(d, "rjtune", *what.split()[1:], "-U", str(uuid.uuid4()), d.path)
            if r.status == 0:
                self.part(d)
            return r
        if what == "resume":
            return self.typed(d, "rjtune", "--resume", d.path)
        new = "size=4" if what == "inside" else f"remote={w.url('file' if what == 'file' else 'rj')}"
        r = self.typed(d, "rjtune", "-y", "-J", new, d.path)
        if r.status == 0 and what == "inside":  # from now on no log tells copies apart
            self.part(d)
        return r

    def part(self, d):
        """D is the first disk of a new lineage, with all that the old one has."""
        d.lineage = Lineage(None if d.lineage.learn else dict(d.lineage.allowed))

    def other_program(self, d, what):
        """What e2fsprogs do to a volume that is not mounted.

        Not beside a mounted copy on the same machine: tune2fs of 1.47.0 looks for the journal's
        UUID, finds the one that is in use, replays it into the copy, and empties it.
        """
        if any(x.mnt for x in self.w.disks.values() if x.lineage is d.lineage):
            return
        cmd = {"tune2fs -U": ["tune2fs", "-U", str(uuid.uuid4()), d.path],
               "tune2fs -L": ["tune2fs", "-L", "label", d.path],
               "e2fsck -p": ["e2fsck", "-p", d.path],
               "e2fsck -fy": ["e2fsck", "-f", "-y", d.path],
               "debugfs": ["debugfs", "-w", "-R", "ssv mnt_count 7", d.path]}[what]
        self.w.run(d.host, *cmd)

    def other_program_mounted(self, d, what):
        cmd = [["tune2fs", "-L", "online", d.path], ["tune2fs", "-c", "9", d.path],
               ["fstrim", d.mnt], ["sync", "-f", d.mnt]][what % 4]
        self.w.run(d.host, *cmd)

    def copy(self, d, host):
        c = self.w.copy(d, host)
        if internal(d):  # no log tells copies apart
            self.part(c)

    def put_back(self, d, c):
        """A disk gets what a copy of it has."""
        subprocess.run(["cp", "--sparse=always", c.path, d.path], check=True)
        d.refusal = None
        self.w.log(f"{d.host}$ cp {os.path.basename(c.path)} {os.path.basename(d.path)}\n")

    # ---- refusals, and their ways on ----
    def refused(self, d, r, tool):
        d.refusal = r.out.strip()
        if not d.refusal:
            raise Bad(f"{tool} ends with status {r.status} and says nothing")

    WAYS = re.compile(r"(rjrecover|rjtune)((?: -{1,2}[a-zA-Z-]+)+)?")
    BACK = re.compile(r"tune2fs -U ([0-9a-f-]{36})")

    def ways(self, d):
        """The commands that the refusal names, in order, without those that are for certain cases."""
        # the UUID that another program changed
        found = [["tune2fs", "-U", u] for u in self.BACK.findall(d.refusal or "")]
        for tool, words in self.WAYS.findall(d.refusal or ""):
            cmd = [tool, *words.split()]
            if "-J" in cmd:
                cmd += ["size=4"]
            elif tool == "rjtune" and "--resume" not in cmd:
                continue
            if cmd not in found and (cmd != ["rjrecover"] or "run rjrecover" in d.refusal):
                found.append(cmd)
        return found

    def follow(self, d):
        """Go the named ways, the first one first; each step may name another. True: none is left."""
        tried = []
        for _ in range(4):
            if d.refusal is None:
                return True
            if "rjrecover -p ended" in d.refusal and not self.ways(d):
                self.typed(d, "rjrecover", "-p", d.path)
            todo = [c for c in self.ways(d) if c not in tried]
            if not todo:
                return False
            tried.append(todo[0])
            self.typed(d, *todo[0], d.path)
        return d.refusal is None

    def has_way(self, d):
        return bool(self.ways(d)) or re.search(
            "use the copy|copy that again|put the volume|use that|try again|e2fsck -f", d.refusal)
