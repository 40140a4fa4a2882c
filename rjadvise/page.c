// SPDX-License-Identifier: GPL-2.0-or-later
/* The plot as SVG, and a page with it. */
#include <math.h>
#include <string.h>

#include "os/fileio.h"
#include "report.h"

#define WIDTH  720.0
#define HEIGHT 120.0
#define LEFT   90.0
#define PAGE_MODE 0644

static void escape(struct rj_buf *b, const char *text)
{
	for (; *text; text++)
		if (*text == '&')
			rj_buf_printf(b, "&amp;");
		else if (*text == '<')
			rj_buf_printf(b, "&lt;");
		else
			rj_buf_append(b, text, 1);
}

static double value(const struct point *p, int what)
{
	return what == 0   ? p->syncs_s
	       : what == 1 ? p->commits_s
	       : what == 2 ? p->written_bytes_s
			   : p->log_bytes_s;
}

/* One curve over the time of the observation, at TOP. */
static void curve(struct rj_buf *b, const struct series *s, int what, double top, const char *title)
{
	char text[VALUE_TEXT];
	double most = 0, end = s->count ? s->points[s->count - 1].at_s : 1, x;
	bool pen = false;
	int i;

	for (i = 0; i < s->count; i++)
		if (value(&s->points[i], what) > most)
			most = value(&s->points[i], what);
	rj_buf_printf(b, "<text x=\"%g\" y=\"%g\">%s</text>\n", LEFT, top - 6, title);
	rj_buf_printf(b,
		"<path d=\"M%g %g v%g h%g\" fill=\"none\" stroke=\"#999\"/>\n",
		LEFT, top, HEIGHT, WIDTH);
	if (!(most > 0)) {
		rj_buf_printf(b,
			"<text x=\"%g\" y=\"%g\">none, or unknown</text>\n",
			LEFT + 20, top + HEIGHT / 2);
		return;
	}
	rj_buf_printf(b,
		"<text x=\"%g\" y=\"%g\" text-anchor=\"end\">%s</text>\n", LEFT - 6, top + 10,
		what < 2 ? number_text(most, text) : bytes_text(most, text));
	rj_buf_printf(b, "<path fill=\"none\" stroke=\"#1b6ca8\" d=\"");
	for (i = 0; i < s->count; i++) {
		if (isnan(value(&s->points[i], what)))
			continue;
		x = LEFT + s->points[i].at_s / end * WIDTH;
		rj_buf_printf(b, "%c%.1f %.1f ", pen ? 'L' : 'M', x,
			top + HEIGHT * (1 - value(&s->points[i], what) / most));
		pen = true;
	}
	rj_buf_printf(b,
		"\"/>\n<text x=\"%g\" y=\"%g\" text-anchor=\"end\">%.0f s</text>\n", LEFT + WIDTH,
		top + HEIGHT + 14, end);
}

/* What was new and what overwritten, of each directory. */
static double dir_bars(struct rj_buf *b, const struct report *r, double top)
{
	double most = 1, old, new;
	int i;

	rj_buf_printf(b,
		"<text x=\"%g\" y=\"%g\">Bytes by directory: new (light), overwritten, at most (dark)</text>\n",
		LEFT, top - 6);
	for (i = 0; i < r->dir_count; i++) {
		old = isnan(r->dirs[i].overwritten_bytes) ? 0 : r->dirs[i].overwritten_bytes;
		most = fmax(most, old + (double)r->dirs[i].new_bytes);
	}
	for (i = 0; i < r->dir_count; i++, top += 18) {
		old = isnan(r->dirs[i].overwritten_bytes) ? 0 : r->dirs[i].overwritten_bytes;
		new = (double)r->dirs[i].new_bytes;
		rj_buf_printf(b,
			"<rect x=\"%g\" y=\"%g\" width=\"%.1f\" height=\"12\" fill=\"#63a7d6\"/>",
			LEFT, top, new / most * WIDTH / 2);
		rj_buf_printf(b,
			"<rect x=\"%.1f\" y=\"%g\" width=\"%.1f\" height=\"12\" fill=\"#1b3a58\"/>",
			LEFT + new / most * WIDTH / 2, top, old / most * WIDTH / 2);
		rj_buf_printf(b,
			"<text x=\"%.1f\" y=\"%g\">",
			LEFT + (new + old) / most * WIDTH / 2 + 6, top + 10);
		escape(b, r->dirs[i].path);
		rj_buf_printf(b, "</text>\n");
	}
	return top;
}

/* What is predicted, in the order of the ranking; the one in use in another colour. */
static double choice_bars(struct rj_buf *b, const struct report *r, double top)
{
	double most = 0, x;
	char text[VALUE_TEXT];
	int i;

	rj_buf_printf(b,
		"<text x=\"%g\" y=\"%g\">Predicted syncs per second; * in use</text>\n",
		LEFT, top - 6);
	for (i = 0; i < r->choices; i++)
		most = fmax(most, r->predictions[i].syncs_s);
	for (i = 0; i < r->choices; i++, top += 18) {
		const struct prediction *p = &r->predictions[i];

		x = most > 0 && !isnan(p->syncs_s) ? p->syncs_s / most * WIDTH / 2 : 0;
		rj_buf_printf(b,
			"<rect x=\"%g\" y=\"%g\" width=\"%.1f\" height=\"12\" fill=\"%s\"/>",
			LEFT, top, x, p->in_use ? "#d9822b" : "#1b6ca8");
		rj_buf_printf(b, "<text x=\"%.1f\" y=\"%g\">%s%s, %s: %s</text>\n", LEFT + x + 6,
			top + 10, p->in_use ? "* " : "",
			place_name(p->choice.place), mode_name(p->choice.mode),
			number_text(p->syncs_s, text));
	}
	return top;
}

static void svg(struct rj_buf *b, const struct report *r)
{
	static const char *const titles[] = {"fsyncs per second", "Commits per second", "Bytes per second to the volume", "Bytes per second to the log"};
	double top = 60;
	int i;

	rj_buf_printf(b,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" font-family=\"sans-serif\" font-size=\"11\">\n",
		LEFT + WIDTH + 40,
		60 + 4 * (HEIGHT + 40) + (r->dir_count + r->choices) * 18.0 + 100);
	rj_buf_printf(b,
		"<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n<text x=\"%g\" y=\"20\" font-size=\"14\">",
		LEFT);
	escape(b, r->volume->dir);
	rj_buf_printf(b, " for %.0f s</text>\n", r->load.seconds);
	for (i = 0; i < 4; i++, top += HEIGHT + 40)
		curve(b, r->series, i, top, titles[i]);
	top = dir_bars(b, r, top) + 40;
	choice_bars(b, r, top);
	rj_buf_printf(b, "</svg>\n");
}

static void html(struct rj_buf *b, const struct report *r)
{
	char text[VALUE_TEXT], day[VALUE_TEXT];
	int i;

	rj_buf_printf(b,
		"<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>rjadvise</title>\n<style>body{font-family:sans-serif;max-width:60em;margin:2em}td,th{padding:.2em .8em;text-align:left}</style></head><body>\n");
	svg(b, r);
	rj_buf_printf(b,
		"<table><tr><th>journal</th><th>data</th><th>syncs/s</th><th>log a day</th><th>a crash loses</th></tr>\n");
	for (i = 0; i < r->choices; i++) {
		const struct prediction *p = &r->predictions[i];

		rj_buf_printf(b,
			"<tr><td>%s%s</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td></tr>\n",
			p->in_use ? "* " : "",
			place_name(p->choice.place), mode_name(p->choice.mode),
			number_text(p->syncs_s, text),
			bytes_text(p->log_bytes_day, day), p->loses);
	}
	rj_buf_printf(b, "</table>\n<ul>\n");
	for (i = 0; i < r->hint_count; i++)
		rj_buf_printf(b,
			"<li><b>%s</b> (%s): %s. %s.</li>\n", r->hints[i].setting, r->hints[i].now,
			r->hints[i].advice, r->hints[i].because);
	rj_buf_printf(b, "</ul>\n</body></html>\n");
}

int report_write_page(const struct report *r, const char *path, struct rj_error *err)
{
	const char *dot = strrchr(path, '.');
	struct rj_buf b = {0};
	int rc;

	if (dot && !strcmp(dot, ".html"))
		html(&b, r);
	else
		svg(&b, r);
	rc = !b.data ? rj_fail(err, RJ_E_NOMEM, "out of memory")
		     : rj_replace_file(path, PAGE_MODE, b.data, b.len, err);
	rj_buf_free(&b);
	return rc;
}
