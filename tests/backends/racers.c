// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * racers URL RACERS ROUNDS: rj_store_probe() with many racers, for the shell
 * tests. Prints one line; exit status 0 when each round had one winner, or (only
 * possible with faults) nobody can know.
 */
#include <stdio.h>
#include <stdlib.h>

#include "store/probe.h"

int main(int argc, char **argv)
{
	struct rj_probe_opts opts = {.puts = 20};
	struct rj_probe p;
	struct rj_error err;

	if (argc != 4)
		return 2;
	opts.racers = (unsigned)atoi(argv[2]);
	opts.rounds = (unsigned)atoi(argv[3]);
	if (rj_store_probe(argv[1], &opts, &p, &err)) {
		printf("%s\n", err.msg);
		return 1;
	}
	printf("%u racers, %u rounds: one winner in %u, several in %u, "
	       "undecided %u; %u stale, %u partial; put %.2f ms p50, %.2f ms "
	       "p99\n",
		p.racers, p.rounds, p.one_winner, p.several, p.undecided,
		p.stale, p.partial, (double)p.put_p50_us / 1e3,
		(double)p.put_p99_us / 1e3);
	if (p.why[0])
		printf("%s\n", p.why);
	return p.mode == RJ_PROBE_NONE ||
	       p.one_winner + p.undecided != p.rounds;
}
