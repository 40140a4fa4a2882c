# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that keep data, for tests/history/moment/applications.

apps.py init|write|check NAME FOLDER [COUNT]: write does COUNT transactions. After each one that
the program has acknowledged a line goes to FOLDER/acked, without fsync: with data=journal it is
not there before what was written earlier. check lets the program recover in FOLDER, and looks
whether its data is whole, and whether it has all that was acknowledged."""
import hashlib
import os
import sqlite3
import subprocess
import sys
import threading

ROWS = 20
BIN = "/usr/lib/postgresql/15/bin/"


def fail(why):
    print(why, file=sys.stderr)
    sys.exit(1)


class Other:
    """Another program, which syncs a file of its own."""

    def __init__(self, folder):
        self.fd = os.open(folder + "/other", os.O_CREAT | os.O_WRONLY)
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def sync(self):
        os.pwrite(self.fd, b"x", 0)
        os.fsync(self.fd)

    def run(self):
        while not self.stop.wait(0.001):
            self.sync()

    def __enter__(self):
        """Do so all the time, until the end of the block."""
        self.thread.start()

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join()


def acked(folder):
    with open(folder + "/acked", "rb") as f:
        return f.read().count(b"\n")


class Sqlite:
    def __init__(self, folder, mode):
        self.path = folder + "/bank"
        self.mode = mode

    def open(self):
        db = sqlite3.connect(self.path, isolation_level=None)
        db.execute(f"PRAGMA journal_mode={self.mode}")
        db.execute("PRAGMA synchronous=FULL")
        db.execute("PRAGMA cache_size=8")  # pages go out before a transaction ends
        return db

    def init(self):
        db = self.open()
        for table in "ab":
            db.execute(f"CREATE TABLE {table} (id INTEGER PRIMARY KEY, money INT, text TEXT)")
            for i in range(ROWS):
                db.execute(f"INSERT INTO {table} VALUES (?, 100, ?)", (i, "x" * 3000))
        db.execute("CREATE TABLE log (n INTEGER PRIMARY KEY)")
        db.close()

    def write(self, count, ack, other):
        db = self.open()
        for n in range(count):
            text = chr(97 + n % 26) * 3000
            db.execute("BEGIN")
            db.execute("UPDATE a SET money = money - 1, text = ?", (text,))
            other.sync()
            db.execute("UPDATE b SET money = money + 1, text = ?", (text,))
            db.execute("INSERT INTO log VALUES (NULL)")
            db.execute("COMMIT")
            ack()

    def check(self, known):
        db = sqlite3.connect(self.path)
        try:
            if db.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
                fail("the database is not whole")
            a, b = (db.execute(f"SELECT count(*), sum(money) FROM {t}").fetchone() for t in "ab")
            there = db.execute("SELECT count(*) FROM log").fetchone()[0]
        except sqlite3.DatabaseError as e:
            fail(f"the database is not whole: {e}")
        if a[0] != ROWS or b[0] != ROWS or a[1] + b[1] != 200 * ROWS:
            fail("money was made or lost")
        if there < known:
            fail(f"{known} transactions were acknowledged, {there} are there")


class Postgres:
    def __init__(self, folder, setting):
        self.folder = folder
        self.data = folder + "/pg"
        self.setting = setting

    def run(self, *words, **more):
        return subprocess.run(["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups",
                               *words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              cwd="/", **more)

    def start(self):
        options = f"-k {self.data} -c listen_addresses= -c shared_buffers=8MB {self.setting}"
        done = self.run(BIN + "pg_ctl", "-w", "-t", "60", "-D", self.data, "-l", self.data + "/log",
                        "-o", options, "start")
        if done.returncode:
            with open(self.data + "/log") as f:
                fail("PostgreSQL does not start: " + f.read()[-300:])

    def stop(self):
        self.run(BIN + "pg_ctl", "-w", "-D", self.data, "-m", "fast", "stop")

    def psql(self, text):
        done = self.run(BIN + "psql", "-qAtX", "-h", self.data, "-v", "ON_ERROR_STOP=1", "-d",
                        "postgres", "-c", text)
        if done.returncode:
            fail("PostgreSQL: " + done.stderr.strip())
        return done.stdout.split()

    def init(self):
        os.mkdir(self.data, 0o700)
        os.chmod(self.folder, 0o755)
        subprocess.run(["chown", "postgres:", self.data], check=True)
        done = self.run(BIN + "initdb", "-k", "-A", "trust", "-D", self.data)
        if done.returncode:
            fail(done.stderr)
        self.start()
        for table in "ab":
            self.psql(f"CREATE TABLE {table} AS SELECT id, 100 AS money, repeat('x', 1500) AS text"
                      f" FROM generate_series(1, {ROWS}) id")
        self.psql("CREATE TABLE log (n int PRIMARY KEY)")
        self.psql("CHECKPOINT")
        self.stop()

    def write(self, count, ack, other):
        self.start()
        with other:
            self.insert(count, ack)
        self.stop()

    def insert(self, count, ack):
        client = subprocess.Popen([BIN + "psql", "-qAtX", "-h", self.data, "-U", "postgres", "-d",
                                   "postgres", "-v", "ON_ERROR_STOP=1"], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True, bufsize=1)
        for n in range(count):
            client.stdin.write("BEGIN; UPDATE a SET money = money - 1; UPDATE b SET money = money + 1;"
                               f" INSERT INTO log VALUES ({n}); COMMIT;\n\\echo done\n")
            client.stdin.flush()
            if client.stdout.readline() != "done\n":
                fail("psql has ended")
            ack()
        client.stdin.close()
        client.wait()

    def check(self, known):
        # their process ids can be those of others by now, as after a boot
        for name in "postmaster.pid", ".s.PGSQL.5432.lock", ".s.PGSQL.5432":
            if os.path.lexists(self.data + "/" + name):
                os.unlink(self.data + "/" + name)
        self.start()
        try:
            sums = self.psql("SELECT count(*) FROM a; SELECT sum(money) FROM a;"
                             " SELECT sum(money) FROM b; SELECT count(*) FROM log")
        finally:
            self.run(BIN + "pg_ctl", "-D", self.data, "-m", "immediate", "stop")
        rows, a, b, there = map(int, sums)
        if rows != ROWS or a + b != 200 * ROWS:
            fail(f"money was made or lost: {sums}")
        if there < known:
            fail(f"{known} transactions were acknowledged, {there} are there")


class Mbox:
    """Mails of 3 KB are appended; each fifth one removes the oldest, by a new file or in place."""

    def __init__(self, folder, how):
        self.path = folder + "/mbox"
        self.in_place = how == "in-place"
        self.mails = []

    def init(self):
        open(self.path, "wb").close()

    @staticmethod
    def mail(n):
        body = (f"mail {n} " * 400).encode()[:3000]
        return b"From x\nN: %d\nSum: %s\n\n%s\n" % (n, hashlib.sha256(body).hexdigest().encode(), body)

    @staticmethod
    def put(path, how, data, other):
        with open(path, how) as f:
            for i in range(0, len(data), 1000):  # as a program that writes line by line
                f.write(data[i:i + 1000])
                f.flush()
                if i % 5000 == 0:
                    other.sync()
            f.truncate()
            os.fsync(f.fileno())

    def write(self, count, ack, other):
        for n in range(count):
            self.mails.append(n)
            self.put(self.path, "ab", self.mail(n), other)
            if n % 5 == 4:
                del self.mails[0]
                text = b"".join(map(self.mail, self.mails))
                if self.in_place:
                    self.put(self.path, "r+b", text, other)
                else:
                    self.put(self.path + ".new", "wb", text, other)
                    os.rename(self.path + ".new", self.path)
            ack()

    def check(self, known):
        there = set()
        with open(self.path, "rb") as f:
            for text in f.read().split(b"From x\n"):
                head, _, body = text.partition(b"\n\n")
                fields = dict(line.split(b": ", 1) for line in head.split(b"\n") if b": " in line)
                if hashlib.sha256(body[:-1]).hexdigest().encode() == fields.get(b"Sum"):
                    there.add(int(fields[b"N"]))
        # of what was acknowledged the oldest may be removed by now: of each five one
        want = set(range((known + 1) // 5, known))
        if not want <= there:
            fail(f"{len(want - there)} of {len(want)} mails are lost")


APPS = {
    "sqlite-delete": (Sqlite, "DELETE"),
    "sqlite-wal": (Sqlite, "WAL"),
    "sqlite-memory": (Sqlite, "MEMORY"),
    "sqlite-off": (Sqlite, "OFF"),
    "postgresql": (Postgres, ""),
    "postgresql-async": (Postgres, "-c synchronous_commit=off"),
    "mbox-rename": (Mbox, "rename"),
    "mbox-in-place": (Mbox, "in-place"),
}


def main():
    verb, name, folder = sys.argv[1], sys.argv[2], os.path.abspath(sys.argv[3])
    app = APPS[name][0](folder, APPS[name][1])
    if verb == "init":
        app.init()
        open(folder + "/acked", "wb").close()
    elif verb == "write":
        fd = os.open(folder + "/acked", os.O_WRONLY | os.O_APPEND)
        app.write(int(sys.argv[4]), lambda: os.write(fd, b"x\n"), Other(folder))
    else:
        app.check(acked(folder))


main()
