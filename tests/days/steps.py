# SPDX-License-Identifier: GPL-2.0-or-later
"""What people and other programs type on volumes, in any state; and what must hold after each command."""
import os
import re
import subprocess
import uuid

from oracle import Bad, Lineage, Log, compare, content
from world import copy_file, kill, stop, wait_gone

GIVES_UP = re.compile(r"giv(e|es|en|ing) (that |it |the log |the lost journal )?up|given up|is lost|may be missing|a log of its own")
HAS_JOURNAL, NEEDS_RECOVERY = 4, 4


def superblock(d, at, size):
    with open(d.path, "rb") as f:
        f.seek(1024 + at)
        return int.from_bytes(f.read(size), "little")


def internal(d):
    """Is the journal in the volume now, or is there none?"""
    return not superblock(d, 0x5C, 4) & HAS_JOURNAL or superblock(d, 0xE0, 4) != 0


def on_device(d):
    return d.device and not internal(d) and superblock(d, 0xE4, 4) != 0


def clean(d):
    return not superblock(d, 0x60, 4) & NEEDS_RECOVERY


class Steps:
    def __init__(self, world):
        self.w = world

    # ---- mount and use ----
    def mount(self, d, options):
        """mount.rj; or mount, where the journal is inside or on a device. What a success shows is complete."""
        w = self.w
        mnt = f"{w.dir}/mnt-{d.name}"
        os.makedirs(mnt, exist_ok=True)
        if internal(d) or on_device(d):
            where = f",journal_path={d.device[1]}" if on_device(d) else ""
            r = w.run(d.host, "mount", "-i", "-t", "ext4", "-o", f"loop{where},{options}".rstrip(","), d.path, mnt)
        else:
            before = d.journal()
            r = w.run(d.host, "mount.rj", d.path, mnt, *(["-o", options] if options else []))
            if d.journal() != before:  # another program had changed its UUID
                self.part(d)
                d.left_log(before)
        if r.status:
            self.refused(d, r, "mount.rj")
            return False
        w.mounted(d, mnt, options, "recovered from its journal" in r.out or "marked clean" in r.out)
        return True

    def look(self, d):
        """Look at it without its journal: nothing is promised, and nothing is changed."""
        mnt = f"{self.w.dir}/look"
        os.makedirs(mnt, exist_ok=True)
        if self.w.run(d.host, "mount", "-i", "-t", "ext4", "-o", "loop,ro,noload", d.path, mnt).status == 0:
            self.w.run(d.host, "umount", mnt)

    def umount(self, d):
        pids = self.w.daemons(d)
        r = self.w.run(d.host, "umount", d.mnt)
        if r.status:
            self.throw_away(d)
            return
        d.mnt = None
        if not wait_gone(pids):
            raise Bad(f"rjournald stays after the unmount of {d.name}")

    def throw_away(self, d):
        """The host is gone: its daemon and its mount, at one moment."""
        kill(self.w.daemons(d))
        if d.mnt:
            subprocess.run(["umount", "-l", d.mnt], stderr=subprocess.DEVNULL)
        d.mnt, d.fenced = None, False

    def power_cut(self, d):
        # without a journal nothing is promised; a journal device cannot be copied at the same moment
        if not superblock(d, 0x5C, 4) & HAS_JOURNAL or on_device(d):
            self.umount(d)
            return
        stop(self.w.daemons(d))
        stop(self.w.daemons(d))  # a worker that the supervisor had begun after the look
        new = self.w.new_path()
        copy_file(d.path, new)
        self.throw_away(d)
        os.rename(new, d.path)
        self.w.log(f"{d.host}$ power cut of {d.name}\n")

    def kill_daemon(self, d):
        kill(self.w.daemons(d))
        self.w.log(f"{d.host}$ kill -9 rjournald of {d.name}\n")
        subprocess.run(["umount", d.mnt], stderr=subprocess.DEVNULL, timeout=60)
        self.throw_away(d)

    # ---- what is typed on a volume that is not mounted ----
    def typed(self, d, *args):
        """Run a command that may refuse; note a refusal, and a loss that was asked for."""
        before = d.journal()
        r = self.w.run(d.host, *args)
        good = r.status < (1 if args[0] in ("rjtune", "rjbackup") else 4)
        d.words = list(args[:-1])
        if "--accept-loss" in args and (good or "check afterwards" in r.out) and "-n" not in args:
            if not GIVES_UP.search(r.out) and "rjtune" not in args[0]:
                self.w.log("    (nothing was given up)\n")
            else:
                d.lineage, d.gave_up = Lineage(None), True
                d.hold(d.journal() == before)  # it took the log; the others are older copies now
                if self.w.theme_file:  # what the file held, or that it held nothing, is known no more
                    d.log.holders.clear()
                if not good:
                    d.left_log(before)
        if "check afterwards" in r.out or good and "clean, nothing to recover" not in r.out:
            for x in self.w.disks.values():
                x.taken |= x is not d and x.log is d.log
        if good:
            if "clean, nothing to recover" not in r.out:
                if args[0] == "rjrecover" and d.journal() == before:
                    d.hold(True)
                self.w.adopted |= self.w.at_server(d)
            d.refusal, d.undo = None, None
            if args[0] == "rjtune" and d.journal() != before:
                # a log that was given up, or that cannot be reached, does not know of it
                if "-U" not in args and "fence every other writer" in r.out:
                    d.log.left = dict(d.lineage.allowed)
                if "-U" not in args or "replay the journal" in r.out:  # its other copies are older ones now
                    d.log.holders.clear()
            if "-f" in args and d.log.left is not None and not d.lineage.learn:
                d.lineage = Lineage(d.log.left)
            d.left_log(before)
        else:
            self.refused(d, r, args[0])
        return r

    def recover(self, d, words):
        """rjrecover -n and the run agree: both refuse, or neither. (-n says nothing of -y and -p.)"""
        said = [x for x in words if x in ("-f", "--accept-loss")]
        before = self.moment(d)
        n = self.w.run(d.host, "rjrecover", "-n", *said, d.path)
        undo = []
        if "-z" in words:
            undo = [f"{self.w.new_path('undo')}"]
            words = [x for x in words if x != "-z"]
        r = self.typed(d, "rjrecover", *words, *(["-z", *undo] if undo else []), d.path)
        if r.status < 4:
            d.undo = undo and os.path.exists(undo[0]) and undo[0]
            if "clean, nothing to recover" not in r.out:  # it took the log
                d.hold(True)
        # what the check afterwards finds is not known before; -y may do more; -n looks at what is
        # in use; and what another copy's mount writes comes in between
        if "another process uses" in r.out or "serves this volume" in r.out or self.moment(d) != before or \
                any(x.mnt for x in self.w.disks.values() if x is not d):
            return r
        if (n.status >= 4) != (r.status >= 4) and "check afterwards" not in r.out and \
                not (n.status >= 4 and "-y" in words) and not (r.status >= 4 and "-p" in words):
            raise Bad(f"-n says {n.status}, the run {r.status}: rjrecover {' '.join(words)}")
        return r

    def moment(self, d):
        """What may make -n and the run differ, and is not the volume's: a server that comes and goes."""
        return self.w.door and self.w.door.mode

    def e2undo(self, d):
        """The recovery is taken back: the volume is the crashed one again."""
        undo, d.undo = d.undo, None
        if self.w.run(d.host, "e2undo", undo, d.path).status == 0:
            self.w.log("    (undone)\n")
            if d.path in d.log.holders:  # else another disk went on with the log since
                d.hold(True)

    def tune(self, d, what):
        w = self.w
        words = [x for x in what.split() if x[0] == "-"]
        what = what.split()[0]
        if "-z" in words:
            words += [w.new_path("undo")]
        if what == "uuid":  # a volume of its own from then on
            r = self.typed(d, "rjtune", *words, "-U", str(uuid.uuid4()), d.path)
            if r.status == 0:
                self.part(d)
            return r
        if what == "resume":
            return self.typed(d, "rjtune", "--resume", d.path)
        if what == "none":
            r = self.typed(d, "rjtune", *words, "-O", "^has_journal", d.path)
        elif what == "device":
            made = self.journal_device()
            r = self.typed(d, "rjtune", *words, "-J", f"device={made[1]}", d.path)
        else:
            new = "size=4" if what == "inside" else f"remote={w.url('file' if what == 'file' else 'rj')}"
            r = self.typed(d, "rjtune", *words, "-J", new, d.path)
        if r.status == 0:
            d.device = made if what == "device" else None
            if what in ("inside", "none", "device"):  # from now on no log tells copies apart
                self.part(d)
        return r

    def journal_device(self):
        """A blank image, and its loop device."""
        image = self.w.new_path("jdev")
        with open(image, "wb") as f:
            f.truncate(8 << 20)
        return self.attach(image)

    def attach(self, image):
        loop = subprocess.run(["losetup", "-f", "--show", image], check=True, stdout=subprocess.PIPE).stdout
        self.w.loops.append(loop.decode().strip())
        return image, self.w.loops[-1]

    def clone_device(self, d):
        """A snapshot of the journal device: two have its UUID now."""
        image = self.w.new_path("jdev")
        copy_file(d.device[0], image)
        self.w.log(f"{d.host}$ cp {os.path.basename(d.device[0])} {os.path.basename(image)}; losetup\n")
        return self.attach(image)

    def part(self, d):
        """D is the first disk of a new lineage, with all that the old one has."""
        old = d.lineage
        d.lineage = Lineage(None if old.learn else dict(old.allowed))

    def other_program(self, d, what):
        """What e2fsprogs do to a volume that is not mounted.

        Not beside a mounted copy on the same machine: tune2fs of 1.47.0 looks for the journal's
        UUID, finds the one that is in use, replays it into the copy, and empties it.
        """
        if any(x.mnt for x in self.w.disks.values() if x.lineage is d.lineage):
            return
        cmd = {"tune2fs -U": ["tune2fs", "-U", str(uuid.uuid4()), d.path],
               "tune2fs -L": ["tune2fs", "-L", "label", d.path],
               "tune2fs -c": ["tune2fs", "-c", "9", d.path],
               "e2fsck -p": ["e2fsck", "-p", d.path],
               "e2fsck -fy": ["e2fsck", "-f", "-y", d.path],
               "resize2fs": ["resize2fs", d.path, f"{os.path.getsize(d.path) // 1048576 + 8}M"],
               "debugfs": ["debugfs", "-w", "-R", "ssv mnt_count 7", d.path]}[what]
        self.w.run(d.host, *cmd)
        d.undo = None

    def other_program_mounted(self, d, what):
        cmd = [["tune2fs", "-L", "online", d.path], ["tune2fs", "-c", "9", d.path],
               ["fstrim", d.mnt], ["sync", "-f", d.mnt], ["fsfreeze", "-f", d.mnt]][what % 5]
        self.w.run(d.host, *cmd)
        if cmd[0] == "fsfreeze":
            self.w.run(d.host, "fsfreeze", "-u", d.mnt)

    def grow(self, d):
        """resize2fs of the mounted volume, on a disk that became larger."""
        loop = subprocess.run(["findmnt", "-no", "SOURCE", d.mnt], stdout=subprocess.PIPE).stdout.decode().strip()
        if loop.startswith("/dev/loop"):
            os.truncate(d.path, os.path.getsize(d.path) + (8 << 20))
            self.w.run(d.host, "losetup", "-c", loop)
            self.w.run(d.host, "resize2fs", loop)

    def copy(self, d, host):
        c = self.w.copy(d, host)
        if on_device(d):
            c.device = self.clone_device(d)
        if internal(d) or on_device(d):  # no log tells copies apart
            self.part(c)
            c.log.holders.discard(c.path)
            c.log = Log()
            c.hold(True)

    def put_back(self, d, c):
        """A disk gets what a copy of it has."""
        copy_file(c.path, d.path)
        d.log.holders.discard(d.path)
        d.refusal, d.undo, d.device, d.log = None, None, c.device, c.log
        d.gave_up = c.gave_up
        if c.path in c.log.holders:
            d.hold(False)
        self.w.log(f"{d.host}$ cp {c.name} {d.name}\n")

    def sound(self, d):
        """A volume that was unmounted: e2fsck finds nothing. Of a copy, as the journal has to go first."""
        if d.gave_up:  # it says itself that e2fsck has to be run
            return
        c = f"{self.w.dir}/sound.img"
        copy_file(d.path, c)
        if not internal(d):  # tune2fs would take the copy out of the users of a device that it finds
            self.w.run(d.host, "debugfs", "-w", "-R", f"ssv journal_uuid {uuid.uuid4()}", c, ok=[0])
            self.w.run(d.host, "tune2fs", "-f", "-O", "^has_journal", c, ok=[0])
        self.w.run(d.host, "e2fsck", "-fn", c, ok=[0])

    def refused(self, d, r, tool):
        d.refusal = r.out.strip()
        if "the store has lost the end of the log" in d.refusal and not self.w.meddled:
            raise Bad(f"{d.name}: {tool} says that the store has lost what it has")
        if not d.refusal:
            raise Bad(f"{tool} ends with status {r.status} and says nothing")

    # ---- what a restored or promoted base shows ----
    def shows_all(self, path, line):
        """A volume that rjbackup made has what was acknowledged."""
        mnt = f"{self.w.dir}/look"
        os.makedirs(mnt, exist_ok=True)
        self.w.run("a", "mount", "-i", "-t", "ext4", "-o", "loop,ro,noload", path, mnt, ok=[0])
        try:
            compare(line, content(mnt), os.path.basename(path))
        finally:
            self.w.run("a", "umount", mnt)
