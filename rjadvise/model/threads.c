// SPDX-License-Identifier: GPL-2.0-or-later
#include "threads.h"

#include <math.h>

/* Add the window to SUM and WEIGHT: 1 / (sum of the squares of the threads' shares). */
static void close_window(const struct threads *t, double *sum, double *weight)
{
	double again = 0, squares = 0;
	uint32_t i;

	for (i = 0; i < t->used; i++)
		if (t->of[i].seen >= THREADS_AGAIN) {
			again += t->of[i].seen;
			squares += (double)t->of[i].seen * t->of[i].seen;
		}
	if (again * 2 < t->samples || !t->samples)
		return;
	*sum += again * again / squares * t->samples;
	*weight += t->samples;
}

void threads_add(struct threads *t, uint32_t tid)
{
	uint32_t i;

	for (i = 0; i < t->used && t->of[i].tid != tid; i++)
		;
	if (i == t->used && t->used < THREADS_MOST) {
		t->of[t->used].tid = tid;
		t->of[t->used++].seen = 0;
	}
	if (i < t->used)
		t->of[i].seen++;
	if (++t->samples < THREADS_WINDOW)
		return;
	close_window(t, &t->sum, &t->weight);
	t->used = t->samples = 0;
}

double threads_count(const struct threads *t)
{
	double sum = t->sum, weight = t->weight;

	close_window(t, &sum, &weight);
	return weight > 0 ? sum / weight : NAN;
}
