// SPDX-License-Identifier: LGPL-2.1-or-later
#include "store/http/xml.h"

#include <expat.h>
#include <limits.h>
#include <string.h>

#define NS_SEPARATOR '|'

struct parse {
	XML_Parser parser;
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

static void stop(struct parse *p)
{
	XML_StopParser(p->parser, XML_FALSE);
}

static void XMLCALL on_start(
	void *arg, const XML_Char *name, const XML_Char **attributes)
{
	struct parse *p = arg;

	p->len = 0;
	if (p->x->start && !p->rc)
		p->rc = p->x->start(p->x->arg, local(name));
	if (p->rc)
		stop(p);
}

static void XMLCALL on_end(void *arg, const XML_Char *name)
{
	struct parse *p = arg;

	p->text[p->len] = '\0';
	if (!p->rc)
		p->rc = p->x->end(p->x->arg, local(name), p->text);
	p->len = 0;
	if (p->rc)
		stop(p);
}

static void XMLCALL on_text(void *arg, const XML_Char *s, int len)
{
	struct parse *p = arg;

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
	struct parse *p = arg;

	p->doctype = true;
	stop(p);
}

static int result(struct parse *p, const char *name, enum XML_Status status,
	struct rj_error *err)
{
	if (p->rc)
		return p->rc;
	if (p->too_long || p->doctype)
		return rj_fail(err, RJ_E_PROTOCOL,
			"%s: its XML is malformed: %s", name,
			p->doctype ? "it declares a document type"
				   : "an element is too long");
	if (status != XML_STATUS_OK)
		return rj_fail(err,
			XML_GetErrorCode(p->parser) == XML_ERROR_NO_MEMORY
				? RJ_E_NOMEM
				: RJ_E_PROTOCOL,
			"%s: its XML is malformed: %s (line %lu)", name,
			XML_ErrorString(XML_GetErrorCode(p->parser)),
			(unsigned long)XML_GetCurrentLineNumber(p->parser));
	return 0;
}

int rj_xml_parse(const char *name, const void *data, size_t len,
	const struct rj_xml *x, struct rj_error *err)
{
	struct parse p = {.x = x};
	enum XML_Status status;
	int rc;

	if (len > INT_MAX)
		return rj_fail(err, RJ_E_PROTOCOL, "%s: its XML is too long",
			name);
	p.parser = XML_ParserCreateNS(NULL, NS_SEPARATOR);
	if (!p.parser)
		return rj_fail(err, RJ_E_NOMEM, "%s: out of memory", name);
	XML_SetUserData(p.parser, &p);
	XML_SetElementHandler(p.parser, on_start, on_end);
	XML_SetCharacterDataHandler(p.parser, on_text);
	XML_SetStartDoctypeDeclHandler(p.parser, on_doctype);
	status = XML_Parse(p.parser, len ? data : "", (int)len, 1);
	rc = result(&p, name, status, err);
	XML_ParserFree(p.parser);
	return rc;
}
