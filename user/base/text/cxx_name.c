/*
 * Of the Itanium C++ ABI's names what most functions of libjvm.so have: names within names, and
 * constructors and destructors. Types are skipped as far as template arguments need it.
 */
#include "base/text/cxx_name.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/text/strbuf.h"

#define DEPTH_MAX 64 /* of template arguments in template arguments */

struct reader {
	const char *at;
	char *ret;
	size_t size;
	const char *last; /* the last name, of last_len bytes: what a constructor is called */
	size_t last_len;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* "4name": its bytes, and the reader is after it. */
static bool source_name(struct reader *r, const char **ret, size_t *ret_len)
{
	size_t len = 0;

	if (!is_digit(*r->at))
		return false;
	for (; is_digit(*r->at); r->at++) {
		len = len * 10 + (size_t)(*r->at - '0');
		if (len > 4096)
			return false;
	}
	if (!len || strnlen(r->at, len) < len)
		return false;
	*ret = r->at;
	*ret_len = len;
	r->at += len;
	return true;
}

/* A substitution or a parameter: St, S_, S0_, T_. */
static void skip_substitution(struct reader *r)
{
	r->at++;
	while (is_digit(*r->at) || (*r->at >= 'A' && *r->at <= 'Z'))
		r->at++;
	r->at += *r->at != 0;
}

/* The type of a literal: a letter, a name, or what brackets names. */
static bool skip_type(struct reader *r)
{
	const char *name;
	size_t len;

	if (is_digit(*r->at))
		return source_name(r, &name, &len);
	if (*r->at == 'S' || *r->at == 'T') {
		skip_substitution(r);
		return true;
	}
	if (*r->at != 'N')
		return *r->at && *r->at++ != '_';
	for (r->at++; *r->at != 'E';) {
		if (*r->at == 'S')
			skip_substitution(r);
		else if (!source_name(r, &name, &len))
			return false;
	}
	r->at++;
	return true;
}

/* Lb1E, L8MEMFLAGS5E, LS1_43E; not the name of a function, L_Z. */
static bool skip_literal(struct reader *r)
{
	r->at++;
	if (!skip_type(r))
		return false;
	while (is_digit(*r->at) || *r->at == 'n')
		r->at++;
	return *r->at && *r->at++ == 'E';
}

/* I...E, whatever is in it: names may have any letters, all else has an E for each I, N, X, J, F
 * and what begins with these. */
static bool skip_arguments(struct reader *r)
{
	const char *name;
	size_t len, depth = 0;

	do {
		char c = *r->at;

		if (!c || depth > DEPTH_MAX)
			return false;
		if (is_digit(c)) {
			if (!source_name(r, &name, &len))
				return false;
		} else if (c == 'S' || c == 'T') {
			skip_substitution(r);
		} else if (c == 'L') {
			if (!skip_literal(r))
				return false;
		} else {
			depth += c == 'I' || c == 'N' || c == 'X' || c == 'J' || c == 'F';
			depth -= c == 'E';
			r->at++;
		}
	} while (depth);
	return true;
}

static void part_add(struct reader *r, const char *text, size_t len)
{
	buffer_add(r->ret, r->size, "%s%.*s", *r->ret ? "::" : "", (int)len, text);
}

/* One name of those within each other. */
static bool part(struct reader *r)
{
	const char *name;
	size_t len;

	if (is_digit(*r->at)) {
		if (!source_name(r, &name, &len))
			return false;
		if (len > 10 && !memcmp(name, "_GLOBAL__N", 10)) {
			name = "(anonymous)";
			len = strlen(name);
		}
		part_add(r, name, len);
		r->last = name;
		r->last_len = len;
		return true;
	}
	if (*r->at == 'I' && *r->ret) {
		buffer_add(r->ret, r->size, "<>");
		return skip_arguments(r);
	}
	if ((*r->at == 'C' || *r->at == 'D') && is_digit(r->at[1]) && r->last) {
		char text[160];
		size_t n = r->last_len < sizeof(text) - 1 ? r->last_len : sizeof(text) - 1;

		text[0] = '~';
		memcpy(text + 1, r->last, n);
		part_add(r, *r->at == 'D' ? text : text + 1, *r->at == 'D' ? n + 1 : n);
		r->at += 2;
		return true;
	}
	if (*r->at == 'L') { /* of this file only */
		r->at++;
		return is_digit(*r->at) && part(r);
	}
	return false;
}

static bool nested(struct reader *r)
{
	r->at++;
	while (*r->at == 'K' || *r->at == 'V' || *r->at == 'r' || *r->at == 'R' || *r->at == 'O')
		r->at++;
	if (r->at[0] == 'S' && r->at[1] == 't') {
		part_add(r, "std", 3);
		r->at += 2;
	}
	while (*r->at != 'E')
		if (!part(r))
			return false;
	return *r->ret;
}

void cxx_name(const char *symbol, char *ret, size_t size)
{
	struct reader r = {.at = symbol + 2, .ret = ret, .size = size};
	bool known = false;

	*ret = 0;
	if (!strncmp(symbol, "_Z", 2)) {
		r.at += *r.at == 'L';
		known = *r.at == 'N' ? nested(&r) : part(&r);
	}
	if (!known) {
		*ret = 0;
		buffer_add(ret, size, "%s", symbol);
	}
}
