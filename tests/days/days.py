# SPDX-License-Identifier: GPL-2.0-or-later
"""Which step comes next: drawn from all that can be typed in the state that there is."""
import hashlib
import os
import sys

from backups import Backups
from live import Live
from steps import Steps, clean, internal, on_device
from ways import Ways
from world import KINDS, World

RECOVER = [[], ["-p"], ["-p"], ["-y"], ["-f"], ["-y", "-f"], ["-p", "-f"], ["-z"], ["--accept-loss"],
           ["-y", "--accept-loss"], ["-f", "--accept-loss"]]
TUNE = ["remote -y", "file -y", "inside -y", "uuid", "uuid -y", "resume", "remote -f", "device -y",
        "inside --accept-loss -z", "none -y"]
OTHERS = ["tune2fs -U", "tune2fs -L", "e2fsck -p", "e2fsck -fy", "debugfs", "resize2fs", "tune2fs -c"]
RJCTL = [["stop"], ["stop", "--force"], ["restart"], ["status"], ["flush"], ["check"]]
OPTIONS = ["", "", "data=journal", "data=journal", "ro"]
LOG = ["verify", "copy", "prune", "rm", "ls", "show"]
MAGIC = bytes.fromhex("c03b3998")  # a block that begins like one of the journal's own
# theme: what is likelier in it, and the words of a volume
THEMES = {
    "any": {},
    "copies": {"copy mounted": 10, "copy": 3, "umount": 2, "power cut": 2, "other": 0.3},
    "marks": {"copy mounted": 12, "tune": 0.2, "recover": 2, "other": 0.5, "copy": 0.2, "write": 3},
    "moves": {"copy mounted": 6, "tune": 6, "move": 4, "move cut": 4, "reseed": 4, "power cut": 2, "copy": 2, "e2fsprogs": 0.2},
    "undo": {"recover": 4, "e2undo": 40, "power cut": 4, "tune": 0.2},
    "fallback": {"saved": 4, "server": 8, "fallback file": 16, "kill": 2, "power cut": 3, "tune": 0.3, "copy": 0.5},
    "store": {"reseed here": 6, "saved": 3, "store": 8, "door": 2, "power cut": 2, "tune": 0.2},
    "history": {"base": 8, "restore": 8, "promote": 4, "drill": 3, "standby": 3, "tune": 0.2},
}


class Days:
    def __init__(self, where, verbose):
        self.where, self.verbose = where, verbose
        self.trail, self.named = [], []
        self.saved = None  # the store as it was
        self.was_away = False
        self.w = None

    def log(self, text):
        self.trail.append(text)
        if self.verbose:
            sys.stderr.write(text)

    def begin(self, step):
        """A volume that was lived in, mounted."""
        kind, where, words = step
        self.theme = sorted(THEMES)[words % len(THEMES)]
        kinds = sorted(KINDS) if self.theme not in ("marks", "moves") else [k for k in sorted(KINDS) if "4096" in KINDS[k][3]]
        kind = kinds[kind % len(kinds)]
        self.log(f"theme {self.theme}\n")
        self.named.append(" ".join(map(str, step)))
        self.marked = KINDS[kind][3] == "4096"
        conf = {"store": "floor = file://DIR/floors\n", "fallback": "loss_timeout = 0.5\n",
                "history": "retain = 1h\n"}.get(self.theme, "")
        options = [f"fallback={self.where}/fb/v", "on_loss=local"] if self.theme == "fallback" or words % 29 == 0 else []
        if words % 7 == 0:
            options += [f"key={self.where}/key"]
            conf += "keyfile = DIR/key\n"
        own = self.theme in ("store", "fallback")
        os.makedirs(f"{self.where}/floors")
        self.w = World(self.where, self.log, own, conf)
        self.w.theme_file = any("fallback=" in o for o in options)
        self.s = Steps(self.w)
        self.b = Backups(self.w, self.s)
        self.live = Live(self.w, self.s, self.b, self.bytes)
        self.ways = Ways(self.w, self.s)
        if words % 7 == 0:
            self.w.run("a", "rjtune", "--genkey", f"{self.where}/key", ok=[0])
        d = self.w.mkrjfs(kind, "file" if where % 3 == 0 and not own else "rj", options)
        journal = where % 5 < 2 or self.theme in ("marks", "history", "copies", "moves")
        if not self.s.mount(d, "data=journal" if journal else ""):
            raise AssertionError("a new volume does not mount")
        self.w.writer.do("lived in", d.mnt)
        for i in range(4):
            self.w.write(d, f"f{i}", self.bytes(i * 999 + 10, i))

    def bytes(self, size, salt):
        """Bytes that differ from step to step, and are the same in each run of a walk."""
        text = f"{len(self.named)}.{salt}."
        data = (hashlib.sha256(text.encode()).hexdigest() * (size // 64 + 1))[:size + 1].encode()
        return MAGIC + data if salt % 3 == 0 else data

    def disks(self, mounted):
        return [d for d in reversed(list(self.w.disks.values())) if bool(d.mnt) == mounted]

    def possible(self):
        """(name, weight, function of two numbers) of all that can be done now."""
        return [*self.on_mounted(), *self.on_idle(), *self.on_stores()]

    def on_mounted(self):
        up, w, s = self.disks(True), self.w, self.s
        if not up:
            return
        one = lambda a: up[a % len(up)]
        answers = w.server.process or self.theme == "fallback"
        if answers:
            yield "write", 5, lambda a, b: w.write(one(a), f"f{b % 8}", self.bytes(b, a))
            yield "unlink", 1, lambda a, b: w.unlink(one(a), f"f{b % 8}")
            yield "umount", 3, lambda a, b: s.umount(one(a))
            yield "rjctl", 1, lambda a, b: w.run(one(a).host, "rjctl", *RJCTL[b % len(RJCTL)], one(a).path)
            yield "e2fsprogs", 1, lambda a, b: s.other_program_mounted(one(a), b)
            yield "grow", 0.3, lambda a, b: s.grow(one(a))
            yield from self.on_live(one)
        yield "power cut", 3, lambda a, b: s.power_cut(one(a))
        yield "kill", 1, lambda a, b: s.kill_daemon(one(a))
        yield "kill supervisor", 0.5, lambda a, b: self.live.kill_supervisor(one(a))
        # doc/recovery.md says which copies of a mounted volume nothing tells from a crash: those
        # without a mark, and with data=ordered, where the log has no data (cases D and F)
        whole = [d for d in up if "data=journal" in d.options and not internal(d) and not d.device]
        if len(w.disks) < 4 and self.marked and whole:
            yield "copy mounted", 1, lambda a, b: s.copy(whole[a % len(whole)], "ab"[b % 2])
        if whole and w.server.process and len(self.b.bases) < 2:
            yield "base", 0.5, lambda a, b: self.b.make(whole[a % len(whole)])

    def on_live(self, one):
        """What moves the log of a volume in use; the stores answer, or a fallback file does."""
        live, w = self.live, self.w
        yield "kill worker", 0.5, lambda a, b: live.kill_worker(one(a))
        yield "move", 0.7, lambda a, b: live.move(one(a), ["rj", "file"][b % 2], self.marked)
        if w.server.process:
            yield "move cut", 0.5, lambda a, b: live.move_cut(one(a), b % 400)
        if w.server.process or self.theme == "fallback":
            yield "reseed", 0.5, lambda a, b: live.reseed(one(a), self.marked)
            yield "saved", 0.5, lambda a, b: live.saved(one(a))
        if self.theme == "store" and self.b.untouched and len(self.disks(True)) == 1:
            yield "reseed here", 0.5, lambda a, b: live.reseed_here(one(a), self.saved if b % 2 else None)

    def on_idle(self):
        down, w, s = self.disks(False), self.w, self.s
        if not down:
            return
        idle = lambda a: down[a % len(down)]
        yield "mount", 7, lambda a, b: s.mount(idle(a), OPTIONS[b % len(OPTIONS)])
        yield "recover", 3, lambda a, b: s.recover(idle(a), RECOVER[b % len(RECOVER)])
        yield "tune", 2, lambda a, b: s.tune(idle(a), TUNE[b % len(TUNE)])
        yield "other", 1, lambda a, b: s.other_program(idle(a), OTHERS[b % len(OTHERS)])
        yield "look", 0.3, lambda a, b: s.look(idle(a))
        yield "log", 1, lambda a, b: self.b.log(idle(a), LOG[b % len(LOG)])
        if len(w.disks) < 4 and len(w.loops) < 5:
            yield "copy", 2, lambda a, b: s.copy(idle(a), "ab"[b % 2])
        same = [(x, y) for x in down for y in down if x is not y and x.lineage is y.lineage and
                not (x.device or y.device)]
        if same:
            yield "put back", 1, lambda a, b: s.put_back(*same[a % len(same)])
        refused = [d for d in down if d.refusal]
        if refused:
            yield "follow", 4, lambda a, b: self.ways.follow(refused[a % len(refused)])
        undo = [d for d in down if d.undo]
        if undo:
            yield "e2undo", 1, lambda a, b: s.e2undo(undo[a % len(undo)])
        saved = [d for d in down if d.saved]
        if saved:
            yield "recover saved", 2, lambda a, b: self.live.recover_saved(saved[a % len(saved)])
        cloned = [d for d in down if on_device(d)]
        if cloned and len(w.loops) < 5:
            yield "clone device", 1, lambda a, b: s.clone_device(cloned[a % len(cloned)])
        whole = [d for d in down if clean(d) and not internal(d) and not d.device]
        if whole and len(self.b.bases) < 2 and self.theme == "history":
            yield "base", 0.5, lambda a, b: self.b.make(whole[a % len(whole)])

    def on_stores(self):
        w, bases = self.w, self.b.bases
        up = bool(self.disks(True))
        if bases and w.server.process:
            base = lambda a: bases[a % len(bases)]
            yield "restore", 1, lambda a, b: self.b.restore(base(a))
            yield "drill", 0.5, lambda a, b: self.b.drill(base(a))
            yield "standby", 0.5, lambda a, b: self.b.follow(base(a))
            yield "promote", 0.5, lambda a, b: self.b.promote(base(a), ["--accept-loss"] if b % 4 == 0 else [])
        # each command asks for ten seconds while the server is away: not often, and not for long
        if not w.server.process:
            yield "server", 0.5 if up else 5 if self.theme == "fallback" else 40, lambda a, b: self.server(True)
        elif up and self.theme == "fallback" or not up and not self.was_away:
            yield "server", 0.5, lambda a, b: self.server(b % 4 == 0)
        if self.theme == "fallback" and not up:
            yield "fallback file", 0.5, lambda a, b: self.ways.move_files()
        if self.theme == "store":
            if w.door.mode != "open":
                yield "door", 20, lambda a, b: self.turn("open")
            elif not up:
                yield "door", 0.3, lambda a, b: self.turn(["401", "503", "slow"][b % 3])
            if not up:
                yield "store", 1, lambda a, b: self.other_store(b)

    def turn(self, mode):
        self.log(f"server: {mode}\n")
        self.w.door.turn(mode)

    def other_store(self, b):
        """Save the store; then an older state, or nothing, is there; then the right one again."""
        w = self.w
        if self.saved is None:
            self.log("server: its store is saved\n")
            self.saved = f"{w.dir}/saved"
            w.server.save(self.saved)
        elif self.b.untouched:
            self.log(f"server: its store is {'empty' if b % 2 else 'as it was when saved'}\n")
            self.b.untouched = w.adopted = False
            w.meddled = True
            w.server.save(f"{w.dir}/right")
            w.server.put_back(None if b % 2 else self.saved)
        else:
            self.right_store()

    def right_store(self):
        if not self.b.untouched:
            self.log("server: its right store is back\n")
            self.b.untouched = True
            if not self.w.adopted:  # else it went on with the one that is there
                self.w.server.put_back(f"{self.w.dir}/right")
            else:
                for d in self.w.disks.values():
                    d.log.holders.clear()

    def server(self, there):
        self.was_away |= not there
        self.log(f"server: {'there' if there else 'away'}\n")
        if there:
            self.w.server.start()
        else:
            self.w.server.stop()

    def step(self, step):
        """A drawn one: three numbers."""
        choice, a, b = step
        factor = THEMES[self.theme]
        all_ = [(name, weight * factor.get(name, 1), do) for name, weight, do in self.possible()]
        at = choice / 10000 * sum(weight for _, weight, _ in all_)
        for name, weight, do in all_:
            at -= weight
            if at < 0:
                return self.go(name, a, b, do)
        return None

    def fixed(self, text):
        """A step of a case: its name, and two numbers. One that is not possible now is left out."""
        name, a, b = text.strip().rsplit(" ", 2)
        for other, _, do in self.possible():
            if other == name:
                return self.go(name, int(a), int(b), do)
        return self.log(f"(not possible: {text})\n")

    def go(self, name, a, b, do):
        self.named.append(f"{name} {a} {b}")
        return do(a, b)

    def end(self):
        """When the days are over each volume goes on, or says how."""
        self.log("the days are over\n")
        self.server(True)
        if self.w.door:
            self.turn("open")
        self.right_store()
        for d in self.disks(True):
            self.s.umount(d)
        self.ways.end()
