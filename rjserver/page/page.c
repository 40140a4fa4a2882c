// SPDX-License-Identifier: GPL-2.0-or-later
#include "page.h"

#include <string.h>

#include "page-data.h"

struct part {
	const char *path, *type, *text;
};

static const struct part parts[] = {
	{"/", "text/html; charset=utf-8", page_html},
	{"/page.js", "text/javascript; charset=utf-8", page_js},
	{"/page.css", "text/css; charset=utf-8", page_css},
};

static const struct part *find(const struct http_request *req)
{
	const char *accept = http_header(req, "Accept");
	size_t i;

	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (!strcmp(parts[i].path, req->path))
			return i || (accept && strstr(accept, "text/html"))
				       ? &parts[i]
				       : NULL;
	return NULL;
}

bool page_has(const struct http_request *req)
{
	return find(req) != NULL;
}

void page_answer(const struct http_request *req)
{
	static const char *const more[] = {
		"Content-Security-Policy",
		"default-src 'none'; script-src 'self'; style-src 'self'; "
		"connect-src 'self'; img-src data:; base-uri 'none'; "
		"form-action 'none'; frame-ancestors 'none'",
		"X-Content-Type-Options", "nosniff", "Referrer-Policy",
		"no-referrer", "Cache-Control", "no-cache", "Vary",
		"Accept, Authorization", NULL};
	const struct part *part = find(req);
	struct rj_buf body = {0};
	struct http_reply reply = {.status = 200, .body = &body, .more = more};

	if (req->method != HTTP_METHOD_GET && req->method != HTTP_METHOD_HEAD) {
		reply = (struct http_reply){
			.status = 405, .text = "only GET or HEAD here"};
	} else if (req->query || rj_buf_append(&body, part->text,
					 strlen(part->text))) {
		reply = (struct http_reply){
			.status = 400, .text = "no query here"};
	} else {
		reply.type = part->type;
	}
	http_answer(req->exchange, &reply);
	rj_buf_free(&body);
}
