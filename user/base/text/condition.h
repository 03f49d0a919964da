/* base/text/condition.h: conditions of --where, as NAME=GLOB and not NAME=GLOB. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * NAME=GLOB and NAME!=GLOB, "not", "and", "or" and parentheses; "not" binds most, "or" least. A
 * glob is fnmatch()'s. A value with blanks or parentheses stands in quotes, "..." or '...'.
 */
struct condition;

#define CONDITION_ERROR_MAX 1536

/* What names there are. */
struct condition_names {
	const char *noun;    /* "an aspect" */
	const char *example; /* "lock_class=*Table*" */
	const void *ctx;     /* of the two functions */
	/* The number of a name, not negative; -1: there is none of it. */
	int (*find)(const void *ctx, const char *name, size_t length);
	/* Of number n; NULL: there are no more. */
	const char *(*name)(const void *ctx, int n);
};

/* 0, and *ret is to be freed; -EINVAL, and error says where and why; -ENOMEM. */
int condition_parse(const char *text, const struct condition_names *names, struct condition **ret,
		    char error[CONDITION_ERROR_MAX]);
void condition_free(struct condition *c);

/* The names that are in it, one by one; *at is 0 at first. -1: no more. */
int condition_next_name(const struct condition *c, unsigned *at);

/* Whether it holds, where is() says whether the glob is that of a name's text. */
typedef bool condition_is(void *ctx, int name, const char *glob);
bool condition_holds(const struct condition *c, condition_is *is, void *ctx);
