/* record/kernel/hooks.h: whether a libjvm is patched (jvm-hooks/), and whether its hooks can be
 * used. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct jvm;

struct hooks {
	int version; /* what it exports as spoor_hooks; 0: nothing, it is a stock JVM */
	bool usable; /* the version is the one that spoor knows, and all its probes are there */
	size_t probes, nop5; /* places of its probes, and those of them that are a 5-byte nop */
	char why[160];       /* why hooks that are there cannot be used; else "" */
};

/* Errors as parser_usdt(). */
int hooks_read(const struct jvm *j, struct hooks *ret);
