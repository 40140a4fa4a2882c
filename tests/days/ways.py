# SPDX-License-Identifier: GPL-2.0-or-later
"""Refusals: what they name is typed, and leads on."""
import os
import re

from oracle import Bad
from steps import internal

COMMAND = re.compile(r"\b(rjrecover|rjtune)((?: -{1,2}[a-zA-Z^_-]+)+)?")
BACK = re.compile(r"tune2fs -U ([0-9a-f-]{36})")
# ways for certain causes, which no walk has, or which only the user knows
CAUSES = re.compile(r"if (this is no older copy|its last unmount lost)")
STEPS = 3


class Ways:
    def __init__(self, world, steps):
        self.w, self.s = world, steps
        self.moved = False

    def clauses(self, d):
        return re.split(r"; |: (?=try again|use the copy)", d.refusal or "")

    def ways(self, d):
        """The commands that the refusal names, in order, without those that are for certain causes."""
        found = []
        for clause in self.clauses(d):
            if CAUSES.match(clause) and not (d.lost_unmount and "unmount lost" in clause):
                continue
            cmds = [["tune2fs", "-U", u] for u in BACK.findall(clause)]  # that another program changed
            for tool, words in COMMAND.findall(clause):
                cmd = [tool, *words.split()]
                if "another fallback" in clause:
                    cmd += [f"remote={self.w.url('rj')},fallback={self.w.new_path('fallback').replace('/d', '/fb/d')}"]
                elif "-J" in cmd:
                    cmd += [f"device={d.device[1]}" if d.device and "device=" in clause else "size=4"]
                elif tool == "rjtune" and not {"--resume", "--accept-loss"} & set(cmd):
                    continue
                if "and -J" in clause and "-J" not in cmd:
                    cmd += ["-J", "size=4"]
                if cmd != ["rjrecover"] or re.search(r"run rjrecover (first|again)", clause):
                    cmds.append(cmd)
            if not cmds and re.match(r"(or )?--accept-loss ", clause.split(", or ")[-1]):
                last = d.words if d.words[:1] == ["rjrecover"] else ["rjrecover"]
                cmds = [[*last, *({"--accept-loss"} - set(last))]]
            found += [c for c in cmds if c not in found]
        return found

    def follow(self, d, loss=True):
        """Go the named ways, the first one first; each step may name another. True: none is left."""
        tried = []
        while d.refusal is not None and len(tried) < STEPS:
            todo = [c for c in self.ways(d) if c not in tried and (loss or "--accept-loss" not in c)]
            if not todo:
                break
            tried.append(todo[0])
            self.s.typed(d, *todo[0], d.path)
            if d.refusal is None and "-U" not in todo[0] and internal(d) and "--accept-loss" not in todo[0]:
                self.s.part(d)
        return d.refusal is None

    def goes_on(self, d, loss):
        """Mount D, if need be by the ways that are named, and see that it is sound. False: it is refused."""
        moved = False
        for _ in range(STEPS + 1):
            if self.s.mount(d, ""):
                self.s.umount(d)
                self.s.sound(d)
                return True
            here = re.search("fallback file .* is not (the one|there)", d.refusal)
            if here and not moved:
                moved = True
                self.move_files()  # recover where that file is
            elif not self.follow(d, loss or d.gave_up):
                return False
        return False

    def move_files(self):
        """The fallback files of another host are here."""
        self.moved = not self.moved
        self.w.log(f"fallback files: of {'another' if self.moved else 'the first'} host\n")
        for a, b in (("fb", "fb.swap"), ("fb.away", "fb"), ("fb.swap", "fb.away")):
            os.rename(f"{self.w.dir}/{a}", f"{self.w.dir}/{b}")

    def end(self):
        """All hosts, servers and files are there. Each volume goes on, or says how; without loss, if
        there is a disk with all of it."""
        disks = list(self.w.disks.values())
        best = set()  # logs of which a disk goes on
        for log in {id(d.log): d.log for d in disks}.values():
            holders = [d for d in disks if d.log is log and d.path in log.holders]
            if holders and not any(self.goes_on(d, False) for d in holders):
                raise Bad(f"{', '.join(d.name for d in holders)}: it has all, and goes on only with a loss: "
                          f"{holders[0].refusal}")
            if holders:
                best.add(id(log))
        for d in disks:
            log = d.log
            if d.path in log.holders and id(log) in best:
                continue
            if self.s.mount(d, ""):
                self.s.umount(d)
                self.s.sound(d)
                continue
            other = id(log) in best and re.search("use the copy that wrote last|copy that again", d.refusal)
            if not self.goes_on(d, True) and not other:
                raise Bad(f"no way that is named leads on for {d.name}: {d.refusal}")
