# SPDX-License-Identifier: GPL-2.0-or-later
"""Random operations on a mounted volume, a manifest at each mark, and what a diff of two marks
has to say, by the manifests alone.

world.py MNT SEED MARKS OPS BASE RJBACKUP RJCTL WORK [UMOUNT MOUNT IMAGE]: make BASE of MNT, work, and
judge the diff of each pair of marks, the log between the first and the last one, and what find says of
names at each. With MOUNT, by mount.rj, IMAGE is mounted again in between. Prints each difference; the last line has the counts."""
import ctypes, errno, fcntl, hashlib, json, mmap, os, random, stat, struct, subprocess, sys, time, zlib

libc = ctypes.CDLL(None, use_errno=True)
GETFLAGS, SETFLAGS = 0x80086601, 0x40086602
# what chattr sets, and not how a file is stored (index, extents)
USERS = 0x604BDFFF & ~(0x1000 | 0x80000)
FS_LINK = 0x100


class Handle(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_uint), ("type", ctypes.c_int), ("data", ctypes.c_ubyte * 128)]


def identity(path):
    """Inode and generation: of any kind of file."""
    h, mount = Handle(bytes=128), ctypes.c_int()
    if libc.name_to_handle_at(-100, path, ctypes.byref(h), ctypes.byref(mount), 0):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), path)
    return struct.unpack("<II", bytes(h.data[:8]))


contents = {}


def look(path):
    st = os.lstat(path)
    f = {"id": identity(path) + (stat.S_IFMT(st.st_mode),), "mode": st.st_mode, "uid": st.st_uid,
         "gid": st.st_gid, "size": st.st_size, "mtime": st.st_mtime_ns, "flags": 0,
         "xattrs": {n: os.getxattr(path, n, follow_symlinks=False)
                    for n in os.listxattr(path, follow_symlinks=False)}}
    if stat.S_ISREG(st.st_mode):
        with open(path, "rb") as file:
            data = file.read()
        f["sum"] = hashlib.sha256(data).digest()
        if f["sum"] not in contents:
            contents[f["sum"]] = zlib.compress(data, 1)
    if stat.S_ISREG(st.st_mode) or stat.S_ISDIR(st.st_mode):
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        f["flags"] = struct.unpack("I", fcntl.ioctl(fd, GETFLAGS, b"\0" * 4))[0] & USERS
        os.close(fd)
    return f


def manifest(top):
    """Path from the root -> what is there."""
    all = {b"/": look(top)}

    def below(dir, path):
        for name in os.listdir(dir):
            f = all[path + b"/" + name] = look(dir + b"/" + name)
            f["parent"], f["name"] = all[path or b"/"]["id"], name
            if stat.S_ISDIR(f["mode"]):
                below(dir + b"/" + name, path + b"/" + name)

    below(top, b"")
    return all


def differs(a, b, block):
    """Words for what differs of two files, and the bytes."""
    what, bytes_ = set(), 0
    if stat.S_ISREG(b["mode"]):
        least = min(a["size"], b["size"])
        if a["sum"] != b["sum"]:
            x, y = (zlib.decompress(contents[f["sum"]]) for f in (a, b))
            for at in range(0, least, block):
                end = min(at + block, least)
                if x[at:end] != y[at:end]:
                    what.add("content")
                    bytes_ += end - at
        if a["size"] != b["size"]:
            what.add("size")
            bytes_ += max(0, b["size"] - a["size"])
    if a["mode"] != b["mode"]:
        what.add("mode")
    if (a["uid"], a["gid"]) != (b["uid"], b["gid"]):
        what.add("owner")
    if a["mtime"] != b["mtime"] and not stat.S_ISDIR(b["mode"]):
        what.add("mtime")
    if a["flags"] != b["flags"]:
        what.add("flags")
    if a["xattrs"] != b["xattrs"]:
        what.add("xattr")
    return what, bytes_


def by_file(m):
    files = {}
    for path, f in m.items():
        files.setdefault(f["id"], {})[(f.get("parent"), f.get("name"))] = path
    return files


def expected(a, b, block):
    """Lines as (kind, path, from, words, bytes), by the rules of rjbackup(8)."""
    out, fa, fb = [], by_file(a), by_file(b)
    size = lambda f: f["size"] if stat.S_ISREG(f["mode"]) else 0
    gone = {n: p for i, names in fa.items() if i not in fb for n, p in names.items()}
    new = {n: p for i, names in fb.items() if i not in fa for n, p in names.items()}
    for name, path in gone.items():
        if name in new and stat.S_ISREG(a[path]["mode"]) and stat.S_ISREG(b[new[name]]["mode"]):
            what, n = differs(a[path], b[new[name]], block)
            out.append(("changed", new[name], None, what | {"replaced"}, n))
            del new[name]
        else:
            out.append(("removed", path, None, set(), size(a[path])))
    for path in new.values():
        out.append(("made", path, None, set(), size(b[path])))
    for i in fa.keys() & fb.keys():
        went = sorted(p for n, p in fa[i].items() if n not in fb[i])
        came = sorted(p for n, p in fb[i].items() if n not in fa[i])
        for k in range(max(len(went), len(came))):
            if k < len(went) and k < len(came):
                out.append(("renamed", came[k], went[k], set(), 0))
            elif k < len(went):
                out.append(("removed", went[k], None, {"link"}, 0))
            else:
                out.append(("made", came[k], None, {"link"}, 0))
        what, n = differs(next(iter(a[p] for p in fa[i].values())),
                          next(iter(b[p] for p in fb[i].values())), block)
        if what:
            out += [("changed", p, None, what, n) for p in fb[i].values()]
    return out


def path_in(line, key):
    text = line.get(key)
    if text is None:
        return None
    if not line.get(key + "_escaped"):
        return text.encode()
    out, at, raw = b"", 0, text.encode()
    while at < len(raw):
        if raw[at:at + 1] == b"\\":
            out += bytes([int(raw[at + 1:at + 4], 8)])
            at += 4
        else:
            out += raw[at:at + 1]
            at += 1
    return out


def told(output):
    lines = [json.loads(l) for l in output.splitlines()]
    return [(l["kind"], path_in(l, "path"), path_in(l, "from"), set(l["what"]), l["bytes"])
            for l in lines if "kind" in l], lines[-1]


def replay(state, lines):
    """What the lines of one commit make of STATE, path -> inode."""
    for l in lines:
        if l["kind"] == "removed":
            del state[path_in(l, "path")]
    put = {}
    moves = [(path_in(l, "from"), path_in(l, "path"), l) for l in lines if l["kind"] == "renamed"]
    for old, new, l in sorted(moves, key=lambda m: -len(m[0])):
        for p in [p for p in state if p == old or p.startswith(old + b"/")]:
            put[new + p[len(old):]] = state.pop(p)
    state.update(put)
    for l in lines:
        if l["kind"] == "made" or "replaced" in l["what"]:
            state[path_in(l, "path")] = l["after"]["inode"]


def judge_log(run, base, seen):
    """The names of the first mark, and each commit after it, are the names of the last one."""
    names = lambda m: {p: f["id"][0] for p, f in m.items()}
    state, commits, at = names(seen[0]), [], None
    for text in run("log", "--since=mark:m0", "--until=mark:m%d" % (len(seen) - 1)).splitlines():
        l = json.loads(text)
        if l["at"] != at:
            at = l["at"]
            commits.append([])
        commits[-1].append(l)
    for lines in commits:
        replay(state, lines)
    want = names(seen[-1])
    if state == want:
        return 0, len(commits)
    print("log: of %d names %d differ: %s" % (len(want), len(state.items() ^ want.items()),
                                             list(state.items() ^ want.items())[:5]))
    return 1, len(commits)


def judge_find(run, seen, segments, r):
    """A name that is drawn: which files have it at each mark."""
    wrong = 0
    for name in r.sample(sorted({f["name"] for m in seen for f in m.values() if "name" in f}), 3):
        try:
            pattern = "".join("\\" + c if c in "\\*?[" else c for c in name.decode())
        except UnicodeDecodeError:
            continue
        spans = [json.loads(l) for l in run("find", pattern).splitlines()]
        for m, segment in zip(seen, segments):
            want = sorted(f["id"][0] for f in m.values() if f.get("name") == name)
            got = sorted(s["inode"] for s in spans if s.get("from", {"segment": 0})["segment"] <= segment
                         and ("until" not in s or s["until"]["segment"] > segment))
            if len(got) != len(want):
                print("find %s at segment %d: %s, not %s" % (pattern, segment, got, want))
                wrong += 1
    return wrong


class Work:
    """Random operations of every kind, each on names that are drawn from few."""

    def __init__(self, top, seed):
        self.r, self.top, self.open = random.Random(seed), top, []
        self.done = {}

    def name(self):
        r = self.r
        odd = r.choice([b"odd\xff\xfename", b"tab\tname", b"back\\slash", "höhe".encode()])
        leaf = odd if r.random() < 0.03 else b"n%d" % r.randrange(30)
        return r.choice([self.top, self.top + b"/p%d" % r.randrange(4),
                         self.top + b"/p%d/q%d" % (r.randrange(4), r.randrange(3))]) + b"/" + leaf

    def data(self):
        r = self.r
        return r.randbytes(r.choice([1, 60, 700, 1024, 4096, 9000, 40000]))

    def file(self, flags=os.O_RDWR | os.O_CREAT):
        return os.open(self.name(), flags | os.O_NONBLOCK | os.O_NOFOLLOW, 0o600 | self.r.randrange(64))

    def with_file(self, fn):
        fd = self.file()
        try:
            return fn(fd)
        finally:
            os.close(fd)

    def create(self):
        self.with_file(lambda fd: os.write(fd, self.data()))

    def append(self):
        self.with_file(lambda fd: os.pwrite(fd, self.data(), os.fstat(fd).st_size))

    def overwrite(self):
        self.with_file(lambda fd: os.pwrite(fd, self.data(), self.r.randrange(50000)))

    def same_bytes(self):
        def fn(fd):
            old = os.pread(fd, 1 << 20, 0)
            os.pwrite(fd, old, 0)
        self.with_file(fn)

    def hidden(self):
        """Bytes change, and mtime does not."""
        def fn(fd):
            st = os.fstat(fd)
            os.pwrite(fd, self.r.randbytes(100), 0)
            os.utime(fd, ns=(st.st_atime_ns, st.st_mtime_ns))
        self.with_file(fn)

    def mapped(self):
        def fn(fd):
            size = os.fstat(fd).st_size
            if size:
                with mmap.mmap(fd, size) as m:
                    m[size // 2:] = self.r.randbytes(size - size // 2)
        self.with_file(fn)

    def truncate(self):
        self.with_file(lambda fd: os.ftruncate(fd, self.r.choice([0, 1, 5000, 4096, 300000])))

    def sparse(self):
        self.with_file(lambda fd: os.pwrite(fd, self.data(), self.r.randrange(20 << 20)))

    def space(self):
        mode = self.r.choice([0, 1, 3, 16, 8, 32])
        at, n = self.r.randrange(16) * 4096, (self.r.randrange(8) + 1) * 4096
        self.with_file(lambda fd: libc.fallocate(fd, mode, ctypes.c_long(at), ctypes.c_long(n)))

    def rename(self):
        os.rename(self.name(), self.name())

    def exchange(self):
        libc.renameat2(-100, self.name(), -100, self.name(), 2)

    def save(self):
        """As an editor does: a new file over the old one."""
        path = self.name()
        with open(path + b".new", "wb") as f:
            f.write(self.data())
        os.rename(path + b".new", path)

    def again(self):
        """The same name, and mostly the same inode."""
        path = self.name()
        os.unlink(path)
        with open(path, "wb") as f:
            f.write(self.data())

    def link(self):
        os.link(self.name(), self.name(), follow_symlinks=False)

    def moved_link(self):
        path = self.name()
        os.link(path, path + b".l", follow_symlinks=False)
        os.unlink(path)

    def unlink(self):
        os.unlink(self.name())

    def symlink(self):
        os.symlink(b"t" * self.r.choice([3, 59, 60, 200]), self.name())

    def node(self):
        os.mknod(self.name(), self.r.choice([stat.S_IFIFO | 0o600, stat.S_IFCHR | 0o600]),
                 os.makedev(1, self.r.randrange(200)))

    def mkdir(self):
        os.mkdir(self.r.choice([self.name(), self.top + b"/p%d" % self.r.randrange(4),
                                self.top + b"/p%d/q%d" % (self.r.randrange(4), self.r.randrange(3))]))

    def rmdir(self):
        os.rmdir(self.name())

    def rename_dir(self):
        d = lambda: self.r.choice([self.top + b"/p%d" % self.r.randrange(4),
                                   self.top + b"/p%d/q%d" % (self.r.randrange(4), self.r.randrange(3))])
        os.rename(d(), d())

    def remove_tree(self):
        if self.r.random() < 0.1:
            subprocess.run([b"rm", b"-rf", self.name(), self.top + b"/p%d" % self.r.randrange(4)], check=True)

    def xattr(self):
        path = self.name()
        key = "user.k%d" % self.r.randrange(4)
        if self.r.random() < 0.3:
            os.removexattr(path, key)
        else:
            os.setxattr(path, key, self.r.randbytes(self.r.choice([1, 30, 700])))

    def chmod(self):
        os.chmod(self.name(), 0o600 | self.r.randrange(64))

    def chown(self):
        os.chown(self.name(), self.r.randrange(70000), self.r.randrange(70000), follow_symlinks=False)

    def touch(self):
        os.utime(self.name(), ns=(0, self.r.randrange(1 << 33) * 1000000000 + self.r.randrange(10**9)),
                 follow_symlinks=False)

    def flags(self):
        def fn(fd):
            now = struct.unpack("I", fcntl.ioctl(fd, GETFLAGS, b"\0" * 4))[0]
            fcntl.ioctl(fd, SETFLAGS, struct.pack("I", now ^ self.r.choice([0x40, 0x80])))
        self.with_file(fn)

    def hold(self):
        """Deleted while open, and still written to."""
        path = self.name()
        fd = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_NOFOLLOW)
        self.open.append(fd)
        os.unlink(path)
        os.write(fd, self.data())

    def held(self):
        if not self.open:
            return
        fd = self.r.choice(self.open)
        os.write(fd, self.data())
        if self.r.random() < 0.3:
            self.open.remove(fd)
            os.close(fd)

    def close(self):
        for fd in self.open:
            os.close(fd)
        self.open = []

    def unnamed(self):
        fd = os.open(self.top, os.O_TMPFILE | os.O_RDWR, 0o644)
        os.write(fd, self.data())
        try:
            libc.linkat(-100, b"/proc/self/fd/%d" % fd, -100, self.name(), 0x400)
        finally:
            os.close(fd)

    def folder(self, i):
        try:
            os.makedirs(self.top + b"/p%d/q%d" % (i % 4, i // 4), exist_ok=True)
        except OSError: # a file has the name
            pass

    def many(self):
        """A directory large enough for an htree, of some levels with small blocks."""
        if self.r.random() < 0.9:
            return
        d = self.top + b"/many%d" % self.r.randrange(2)
        os.makedirs(d, exist_ok=True)
        for i in self.r.sample(range(1500), 300):
            path = d + b"/a-name-of-some-length-%d" % i
            if self.r.random() < 0.4:
                try:
                    os.unlink(path)
                except FileNotFoundError:
                    pass
            else:
                open(path, "ab").close()

    def some(self, n):
        for i in range(12):
            if self.r.random() < 0.5:
                self.folder(i)
        ops = [getattr(self, f) for f in (
            "create append overwrite same_bytes hidden mapped truncate sparse space rename exchange "
            "save again link moved_link unlink symlink node mkdir rmdir rename_dir remove_tree xattr "
            "chmod chown touch flags hold held unnamed many create create append mkdir save").split()]
        for _ in range(n):
            op = self.r.choice(ops)
            try:
                op()
                self.done[op.__name__] = self.done.get(op.__name__, 0) + 1
            except OSError as e: # no such name, a directory that is not empty, and so on
                if e.errno in (errno.EIO, errno.EROFS):
                    raise


def mounted_again(mnt, umount, mount, image):
    subprocess.run([umount, mnt], check=True, timeout=120)
    for _ in range(100):
        # rjournald ends after umount; blkid has a device for a moment
        r = subprocess.run([mount, image, mnt, "-o", "data=journal"], timeout=120,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if not r.returncode:
            return
        time.sleep(0.1)
    sys.exit("cannot mount again: " + r.stdout.decode())


def main():
    mnt, seed, marks, ops, base, rjbackup, rjctl, work, *remount = sys.argv[1:]
    top, seed, marks, ops = os.fsencode(mnt), int(seed), int(marks), int(ops)
    block = os.statvfs(mnt).f_bsize
    run = lambda *a: subprocess.run(a, check=True, timeout=300, stdout=subprocess.PIPE).stdout
    w = Work(top, seed)
    w.some(ops * 2)
    run(rjbackup, "base", "-o", base, mnt)
    seen, segments = [], []
    for i in range(marks):
        if remount and i == marks // 2:
            w.close()
            mounted_again(mnt, *remount)
        # few operations between some marks, and within one second
        n = w.r.choice([3, ops // 4, ops])
        if i % 3 == 2 and work:
            subprocess.run([work, "ops", mnt, str(seed * 100 + i), str(n)], stdout=subprocess.DEVNULL)
        w.some(n)
        mark = json.loads(run(rjctl, "mark", "--json", "m%d" % i, mnt))
        segments.append(mark["segment"])
        seen.append(manifest(top))
    wrong = pairs = lines = scans = 0
    for i in range(marks):
        for j in range(i, marks):
            if marks > 12 and j > i + 1 and w.r.random() < 0.6:
                continue
            pairs += 1
            r = subprocess.run([rjbackup, "diff", "--json", "--base=" + base, "mark:m%d" % i, "mark:m%d" % j],
                               stdout=subprocess.PIPE, timeout=300)
            if r.returncode:
                print("m%d m%d: status %d: %s" % (i, j, r.returncode, r.stdout.decode()[-300:]))
                wrong += 1
                continue
            got, end = told(r.stdout)
            want = expected(seen[i], seen[j], block)
            key = lambda l: (l[1], l[0], l[2] or b"", sorted(l[3]), l[4])
            got, want = sorted(map(key, got)), sorted(map(key, want))
            lines += len(want)
            scans += end["groups_read"] > 0
            if got != want:
                wrong += 1
                for l in [x for x in want if x not in got][:5]:
                    print("m%d m%d: missing: %s" % (i, j, l))
                for l in [x for x in got if x not in want][:5]:
                    print("m%d m%d: too much: %s" % (i, j, l))
    ask = lambda verb, *a: run(rjbackup, verb, "--json", "--base=" + base, *a)
    bad, commits = judge_log(ask, base, seen)
    wrong += bad + judge_find(ask, seen, segments, w.r)
    print("%d commits; %d pairs, %d lines, %d wrong; %d needed a look at other groups; %s" % (
        commits, pairs, lines, wrong, scans, " ".join("%s:%d" % x for x in sorted(w.done.items()))))
    sys.exit(1 if wrong or lines < pairs else 0)


main()
