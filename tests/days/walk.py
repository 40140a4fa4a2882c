#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""An administrator's days: random walks over what is typed on volumes with a remote journal.

usage: walk.py [--walks=N] [--steps=N] [--seed=N] [--shrink] [--verbose] [--go-on] [--theme=NAME]
       walk.py [--verbose] --cases=FILE | --case=TEXT
Each walk has a world of its own (world.py), a theme that makes some steps likelier (days.py), and
N steps or a few more (default 12). It is printed when it shows what none may show: a file lost with
status 0, two copies that acknowledge for one log, a command that hangs or dies, -n and the run that
do not agree, a refusal of which no named way leads on, or none without loss though a disk has all,
a volume that e2fsck finds fault with. --shrink looks for the shortest walk that shows it; --go-on
counts bad walks, and goes on. A bad walk is printed as a case, too: its steps by name, which stay
the same when other steps are added. --cases walks those of FILE, a line each.
Needs python3-hypothesis. Exit status: 0; 1 a walk was bad; 2 usage; 77 no hypothesis.
"""
import argparse
import os
import sys
import tempfile
import time
import traceback

try:
    from hypothesis import HealthCheck, Phase, given, seed, settings
    from hypothesis import strategies as st
except ImportError:
    sys.exit(77)
from days import THEMES, Days
from world import shut_down

count = {"walks": 0, "steps": 0, "bad": 0}


def print_walk(days, bad):
    print(f"# bad: {bad}\n# case: {' | '.join(days.named)}")
    sys.stdout.write("".join(f"# {line}\n" for line in "".join(days.trail).splitlines()))
    sys.stdout.flush()


def walk(first, steps, o):
    """One walk: its steps are numbers, or the text of a case. Raises what was bad."""
    room = os.environ.get("TMPDIR", "/tmp")
    days = Days(tempfile.mkdtemp(prefix="days.", dir=room), o.verbose)
    count["walks"] += 1
    try:
        days.begin(first)
        for step in steps:
            days.fixed(step) if isinstance(step, str) else days.step(step)
            count["steps"] += 1
        days.end()
    except Exception as bad:
        walk.bad = days, bad
        if not o.go_on:
            raise
        count["bad"] += 1
        print_walk(*walk.bad)
    finally:
        if days.w:
            days.w.close()


def cases(lines, o):
    for line in lines:
        if line.strip() and line[0] != "#":
            first, *steps = line.split("|")
            walk([int(x) for x in first.split()], steps, o)


def drawn(o):
    number = st.integers(0, 9999)
    least = 1 if o.shrink else o.steps + 1
    walks = st.lists(st.tuples(number, number, number), min_size=least, max_size=o.steps + 5)

    @seed(o.seed)
    @settings(max_examples=o.walks, deadline=None, database=None, print_blob=False,
              phases=[Phase.generate] + ([Phase.shrink] if o.shrink else []),
              suppress_health_check=list(HealthCheck))
    @given(walks)
    def each(steps):
        kind, where, words = steps[0]
        if o.theme:
            words -= words % len(THEMES) - sorted(THEMES).index(o.theme)
        walk((kind, where, words), steps[1:], o)

    each()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--walks", type=int, default=20)
    p.add_argument("--steps", type=int, default=12)
    p.add_argument("--seed", type=int, default=int(os.environ.get("RJ_SEED", time.time())))
    p.add_argument("--theme", choices=sorted(THEMES))
    p.add_argument("--cases")
    p.add_argument("--case")
    for word in ("--shrink", "--verbose", "--go-on"):
        p.add_argument(word, action="store_true")
    o = p.parse_args()
    print(f"# RJ_SEED={o.seed}", flush=True)
    began = time.monotonic()
    try:
        if o.case or o.cases:
            cases([o.case] if o.case else open(o.cases), o)
        else:
            drawn(o)
    except Exception:
        print_walk(*walk.bad)
        traceback.print_exc(limit=3, file=sys.stdout)
        count["bad"] = 1
    shut_down()
    print(f"# {count['walks']} walks, {count['steps']} steps, {count['bad']} bad, "
          f"{time.monotonic() - began:.0f} s", flush=True)
    return count["bad"] != 0


if __name__ == "__main__":
    sys.exit(main())
