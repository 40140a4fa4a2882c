# SPDX-License-Identifier: GPL-2.0-or-later
"""Which step comes next: drawn from all that can be typed in the state that there is."""
import hashlib
import os
import subprocess
import sys

from steps import Steps
from world import KINDS, World

RECOVER = [[], ["-p"], ["-p"], ["-y"], ["-f"], ["-y", "-f"], ["-p", "-f"], ["--accept-loss"],
           ["-y", "--accept-loss"], ["-f", "--accept-loss"]]
TUNE = ["remote", "file", "inside", "uuid", "uuid -y", "resume"]
OTHERS = ["tune2fs -U", "tune2fs -L", "e2fsck -p", "e2fsck -fy", "debugfs"]
RJCTL = [["stop"], ["stop", "--force"], ["restart"], ["status"]]
OPTIONS = ["", "", "data=journal", "data=journal", "ro"]


class Days:
    def __init__(self, where, verbose):
        self.trail = []
        self.was_away = False
        self.verbose = verbose
        self.w = World(where, self.log)
        self.s = Steps(self.w)

    def log(self, text):
        self.trail.append(text)
        if self.verbose:
            sys.stderr.write(text)

    def begin(self, step):
        """A volume that was lived in, mounted."""
        kind, where, words = step
        self.marked = KINDS[sorted(KINDS)[kind % len(KINDS)]][3] == "4096"
        words = [f"fallback={self.w.dir}/fallback"] if words % 3 == 0 else []
        d = self.w.mkrjfs(sorted(KINDS)[kind % len(KINDS)], "file" if where % 3 == 0 else "rj", words)
        if not self.s.mount(d, ""):
            raise AssertionError("a new volume does not mount")
        script = ('for i in 0 1 2 3 4 5 6 7 8 9; do head -c $((i * 7000 + 100)) /dev/urandom >"$1/x$i" || exit; done; '
                  'sync; rm "$1"/x[13579]; sync')
        subprocess.run(["sh", "-c", script, "sh", d.mnt], check=True)
        for i in range(4):
            self.w.write(d, f"f{i}", self.bytes(i * 999 + 10, i))

    def bytes(self, size, salt):
        """Bytes that differ from step to step, and are the same in each run of a walk."""
        text = f"{len(self.trail)}.{salt}."
        return (hashlib.sha256(text.encode()).hexdigest() * (size // 64 + 1))[:size + 1].encode()

    def disks(self, mounted):
        return [d for d in reversed(list(self.w.disks.values())) if bool(d.mnt) == mounted]

    def possible(self):
        """(weight, function of two numbers) of all that can be done now."""
        up, down = self.disks(True), self.disks(False)
        all_ = []
        if up:
            one = lambda a: up[a % len(up)]
            all_ += [
                (5, lambda a, b: self.w.write(one(a), f"f{b % 8}", self.bytes(b, a))),
                (1, lambda a, b: self.w.unlink(one(a), f"f{b % 8}")),
                (3, lambda a, b: self.s.umount(one(a))),
                (3, lambda a, b: self.s.power_cut(one(a))),
                (1, lambda a, b: self.s.kill_daemon(one(a))),
                (1, lambda a, b: self.w.run(one(a).host, "rjctl", *RJCTL[b % len(RJCTL)], one(a).path)),
                (1, lambda a, b: self.s.other_program_mounted(one(a), b)),
            ]
            # doc/recovery.md says which copies of a mounted volume nothing tells from a crash: those
            # without a mark, and with data=ordered, where the log has no data (cases D and F)
            whole = [d for d in up if "data=journal" in d.options]
            if len(self.w.disks) < 4 and self.marked and whole:
                all_ += [(1, lambda a, b: self.s.copy(whole[a % len(whole)], "ab"[b % 2]))]
        if down:
            idle = lambda a: down[a % len(down)]
            all_ += [
                (7, lambda a, b: self.s.mount(idle(a), OPTIONS[b % len(OPTIONS)])),
                (3, lambda a, b: self.s.recover(idle(a), RECOVER[b % len(RECOVER)])),
                (2, lambda a, b: self.s.tune(idle(a), TUNE[b % len(TUNE)])),
                (1, lambda a, b: self.s.other_program(idle(a), OTHERS[b % len(OTHERS)])),
            ]
            if len(self.w.disks) < 4:
                all_ += [(2, lambda a, b: self.s.copy(idle(a), "ab"[b % 2]))]
            same = [(x, y) for x in down for y in down if x is not y and x.lineage is y.lineage]
            if same:
                all_ += [(1, lambda a, b: self.s.put_back(*same[a % len(same)]))]
            refused = [d for d in down if d.refusal]
            if refused:
                all_ += [(4, lambda a, b: self.s.follow(refused[a % len(refused)]))]
        # each command asks for ten seconds while the server is away: not often, and not for long
        if not self.w.server:
            all_ += [(40, lambda a, b: self.server(True))]
        elif not up and not self.was_away:
            all_ += [(1, lambda a, b: self.server(b % 4 != 0))]
        return all_

    def server(self, there):
        self.was_away |= not there
        self.log(f"server: {'there' if there else 'away'}\n")
        if there:
            self.w.start_server()
        else:
            self.w.stop_server()

    def step(self, step):
        choice, a, b = step
        all_ = self.possible()
        choice %= sum(weight for weight, _ in all_)
        for weight, do in all_:
            choice -= weight
            if choice < 0:
                return do(a, b)
        return None

    def end(self):
        """When the days are over the newest volume has everything, or says how to go on."""
        self.server(True)
        for d in list(self.w.disks.values()):
            if d.mnt:
                self.s.umount(d)
        for d in list(self.w.disks.values()):
            if not self.s.mount(d, "") and not self.s.has_way(d):
                raise AssertionError(f"no way on is named for {os.path.basename(d.path)}: {d.refusal}")
            if d.mnt:
                self.s.umount(d)
