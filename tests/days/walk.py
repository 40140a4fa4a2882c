#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""An administrator's days: random walks over what is typed on volumes with a remote journal.

usage: walk.py [--walks=N] [--steps=N] [--seed=N] [--shrink] [--verbose] [--go-on]
Each walk has a world of its own (world.py), and N steps or a few more (default 12). It is printed
when it shows what none may show: a file lost with status 0, two copies that acknowledge for one
log, a command that hangs or dies, -n and the run that do not agree, a refusal that says nothing.
--shrink looks for the shortest walk that shows it; --go-on counts bad walks, and goes on.
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
from days import Days

count = {"walks": 0, "steps": 0, "bad": 0}


def print_trail(days):
    sys.stdout.write("".join(f"# {line}\n" for line in "".join(days.trail).splitlines()))


def walk(steps, o):
    """One walk; returns what was bad, or raises it."""
    days = Days(tempfile.mkdtemp(prefix="days.", dir=os.environ.get("TMPDIR", "/tmp")), o.verbose)
    count["walks"] += 1
    try:
        days.begin(steps[0])
        for step in steps[1:]:
            days.step(step)
            count["steps"] += 1
        days.end()
    except Exception as bad:
        count["bad"] += 1
        if not o.go_on:
            raise
        print(f"# bad: {bad}")
        print_trail(days)
        sys.stdout.flush()
    finally:
        walk.last = days
        days.w.close()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--walks", type=int, default=20)
    p.add_argument("--steps", type=int, default=12)
    p.add_argument("--seed", type=int, default=int(os.environ.get("RJ_SEED", time.time())))
    for word in ("--shrink", "--verbose", "--go-on"):
        p.add_argument(word, action="store_true")
    o = p.parse_args()
    print(f"# RJ_SEED={o.seed}", flush=True)
    number = st.integers(0, 9999)
    least = 1 if o.shrink else o.steps + 1
    walks = st.lists(st.tuples(number, number, number), min_size=least, max_size=o.steps + 5)

    @seed(o.seed)
    @settings(max_examples=o.walks, deadline=None, database=None, print_blob=False,
              phases=[Phase.generate] + ([Phase.shrink] if o.shrink else []),
              suppress_health_check=list(HealthCheck))
    @given(walks)
    def each(steps):
        walk(steps, o)

    began = time.monotonic()
    try:
        each()
    except Exception:
        print_trail(walk.last)
        traceback.print_exc(limit=3, file=sys.stdout)
        count["bad"] = max(1, count["bad"])
    print(f"# {count['walks']} walks, {count['steps']} steps, {count['bad']} bad, "
          f"{time.monotonic() - began:.0f} s", flush=True)
    return count["bad"] != 0


if __name__ == "__main__":
    sys.exit(main())
