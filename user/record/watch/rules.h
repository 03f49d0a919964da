/* record/watch/rules.h: which JVMs `spoor watch` follows. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define RULES_MAX 64

struct labels;

enum rule_kind {
	RULE_NAME,   /* a part of the command line, as `spoor record -p NAME` */
	RULE_CGROUP, /* a pattern (fnmatch) of the whole path of the cgroup */
	RULE_LABEL,  /* LABEL=PATTERN */
	RULE_KIND_COUNT
};

struct rule {
	enum rule_kind kind;
	bool not ;
	unsigned label; /* enum label */
	const char *pattern;
};

struct rules {
	struct rule list[RULES_MAX];
	size_t count;
};

/* text is lent for the life of the rules; with a '!' in front it excludes. -EINVAL: it is empty, or
 * not LABEL=PATTERN; -ENOENT: there is no such label; -E2BIG: there are RULES_MAX already. */
int rules_add(struct rules *r, enum rule_kind kind, const char *text);

/* Of each kind that rules ask for, one of them fits, and none that excludes. No rules: all. */
bool rules_match(const struct rules *r, const char *command, const struct labels *l);
