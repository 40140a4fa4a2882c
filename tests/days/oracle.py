# SPDX-License-Identifier: GPL-2.0-or-later
"""What was acknowledged, and who may have it.

A lineage is what an administrator calls "the volume": a disk, its copies, and the log. Of each
file the world knows which contents are allowed: after an acknowledged fsync exactly one. A Disk
that mounts must show an allowed content of each file of its lineage. --accept-loss, and nothing
else, makes a disk the first of a new lineage.
"""
import hashlib
import os


class Bad(AssertionError):
    """What no walk may show."""


class Lineage:
    def __init__(self, allowed=None):
        self.allowed = allowed or {}  # name: set of hashes; None in it: no such file
        self.learn = allowed is None  # what the next mount shows is what there is
        self.host = None              # the last one that was told of an fsync


class Log:
    """What the disks with one journal UUID share, whatever their lineages."""

    def __init__(self):
        self.holders = set()  # paths of disks of which one at least must be mountable, with everything
        self.left = None      # what there was when the journal was moved away from it, with one of its disks


class Disk:
    def __init__(self, path, lineage, host="a"):
        self.path, self.lineage, self.host = path, lineage, host
        self.mnt = None      # where it is mounted
        self.options = ""    # and how
        self.taken = False   # a recovery of another disk took its log
        self.fenced = False  # another disk of its lineage was mounted since
        self.words = []      # the last command, without the device
        self.lost_unmount = False  # its journal ended before its unmount
        self.refusal = None  # what the last command said, if it refused
        self.supervisor = None  # the process that serves it
        self.undo = None     # the undo file of the last command
        self.saved = None    # where rjctl stop --save put what its daemon had in memory
        self.device = None   # the image of its journal device, and the loop device
        self.log = None      # the Log
        self.gave_up = False  # --accept-loss was typed

    @property
    def name(self):
        return os.path.basename(self.path)

    def journal(self):
        """The journal's UUID, by the superblock."""
        with open(self.path, "rb") as f:
            f.seek(1024 + 0xD0)
            return f.read(16)

    def hold(self, alone):
        """All that was acknowledged is here; ALONE: and nowhere else."""
        if alone:
            self.log.holders.clear()
        self.log.holders.add(self.path)

    def left_log(self, before):
        """A command has succeeded; BEFORE: the journal's UUID before that. It may have one of its own now."""
        if self.journal() != before:
            self.log.holders.discard(self.path)
            self.log = Log()
            self.hold(True)


def sha(data):
    return hashlib.sha256(data).hexdigest()


def content(where):
    """What a mount shows: name to hash."""
    found = {}
    for name in os.listdir(where):
        path = f"{where}/{name}"
        if name[0] == "f" and os.path.isfile(path):
            with open(path, "rb") as f:
                found[name] = sha(f.read())
    return found


def compare(line, found, what):
    """Raise if an acknowledged byte is not there."""
    for name, allowed in sorted(line.allowed.items()):
        if found.get(name) not in allowed:
            raise Bad(f"lost: {name} of {what} is "
                      f"{'there' if name in found else 'not there'}, with status 0")


def check_mount(d):
    """From now on what the mount shows is what there is."""
    line, found = d.lineage, content(d.mnt)
    if line.learn:
        line.allowed, line.learn = {n: {h} for n, h in found.items()}, False
    compare(line, found, d.name)
    line.allowed = {n: {found.get(n)} for n in line.allowed}
