// SPDX-License-Identifier: LGPL-2.1-or-later
#include "store/curl/xml.h"

#include <expat.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define NS_SEPARATOR '|'

/* Use the function that replaces the one which expat 2.9.0 declares deprecated. */
#if XML_MAJOR_VERSION > 2 || XML_MINOR_VERSION >= 9
#define current_line XML_GetCurrentLineNumber64
#else
#define current_line XML_GetCurrentLineNumber
#endif

struct rj_xml_parser {
	XML_Parser parser;
	const char *name;
	const struct rj_xml *x;
	char text[RJ_XML_TEXT];
	size_t len;
	int rc; /* of a callback */
	bool too_long, doctype;
};

static const char *local(const char *name)
{
	const char *sep = strrchr(name, NS_SEPARATOR);

	return sep ? sep + 1 : name;
}

static void stop(struct rj_xml_parser *p)
{
	XML_StopParser(p->parser, XML_FALSE);
}

static void XMLCALL on_start(
	void *arg, const XML_Char *name, const XML_Char **attributes)
{
	struct rj_xml_parser *p = arg;

	p->len = 0;
	if (p->x->start && !p->rc)
		p->rc = p->x->start(p->x->arg, local(name));
	if (p->rc)
		stop(p);
}

static void XMLCALL on_end(void *arg, const XML_Char *name)
{
	struct rj_xml_parser *p = arg;

	p->text[p->len] = '\0';
	if (!p->rc)
		p->rc = p->x->end(p->x->arg, local(name), p->text);
	p->len = 0;
	if (p->rc)
		stop(p);
}

static void XMLCALL on_text(void *arg, const XML_Char *s, int len)
{
	struct rj_xml_parser *p = arg;

	if ((size_t)len >= sizeof(p->text) - p->len) {
		p->too_long = true;
		stop(p);
		return;
	}
	memcpy(p->text + p->len, s, (size_t)len);
	p->len += (size_t)len;
}

static void XMLCALL on_doctype(void *arg, const XML_Char *name,
	const XML_Char *sysid, const XML_Char *pubid, int internal)
{
	struct rj_xml_parser *p = arg;

	p->doctype = true;
	stop(p);
}

static int result(
	struct rj_xml_parser *p, enum XML_Status status, struct rj_error *err)
{
	if (p->rc)
		return p->rc;
	if (p->too_long || p->doctype)
		return rj_fail(err, RJ_E_PROTOCOL,
			"%s: its XML is malformed: %s", p->name,
			p->doctype ? "it declares a document type"
				   : "an element is too long");
	if (status != XML_STATUS_OK)
		return rj_fail(err,
			XML_GetErrorCode(p->parser) == XML_ERROR_NO_MEMORY
				? RJ_E_NOMEM
				: RJ_E_PROTOCOL,
			"%s: its XML is malformed: %s (line %lu)", p->name,
			XML_ErrorString(XML_GetErrorCode(p->parser)),
			(unsigned long)current_line(p->parser));
	return 0;
}

struct rj_xml_parser *rj_xml_begin(const char *name, const struct rj_xml *x)
{
	struct rj_xml_parser *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->name = name;
	p->x = x;
	p->parser = XML_ParserCreateNS(NULL, NS_SEPARATOR);
	if (!p->parser) {
		free(p);
		return NULL;
	}
	XML_SetUserData(p->parser, p);
	XML_SetElementHandler(p->parser, on_start, on_end);
	XML_SetCharacterDataHandler(p->parser, on_text);
	XML_SetStartDoctypeDeclHandler(p->parser, on_doctype);
	return p;
}

int rj_xml_feed(struct rj_xml_parser *p, const void *data, size_t len, bool last,
	struct rj_error *err)
{
	if (len > INT_MAX)
		return rj_fail(err, RJ_E_PROTOCOL, "%s: its XML is too long",
			p->name);
	return result(p, XML_Parse(p->parser, len ? data : "", (int)len, last), err);
}

void rj_xml_free(struct rj_xml_parser *p)
{
	if (!p)
		return;
	XML_ParserFree(p->parser);
	free(p);
}

int rj_xml_parse(const char *name, const void *data, size_t len,
	const struct rj_xml *x, struct rj_error *err)
{
	struct rj_xml_parser *p = rj_xml_begin(name, x);
	int rc = p ? rj_xml_feed(p, data, len, true, err)
		   : rj_fail(err, RJ_E_NOMEM, "%s: out of memory", name);

	rj_xml_free(p);
	return rc;
}
