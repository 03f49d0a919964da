/* record/kernel/hooks.h: which probes on locks and waits a libjvm has: stock ones, and those of a
 * patched JVM (jvm-hooks/). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "record/kernel/probe_table.h"

struct jvm;

struct hooks {
	int version; /* what it exports as spoor_hooks; 0: nothing, it is a stock JVM */
	bool usable; /* the version is the one that spoor knows, and all its probes are there */
	size_t probes, nop5; /* locations of its probes, and those of them that are a 5-byte nop */
	char why[160];       /* why hooks that are there cannot be used; else "" */
	bool stock;          /* it has the probes of a stock JVM on monitors and on parking */
};

/* What a JVM does not say of what its threads block on, so that it cannot be recorded with
 * PROBES_NONE: a field of its vmStructs; NULL: nothing. */
const char *switches_lack(const struct jvm *j);

/* Whether its monitors have ids of threads, so that a virtual thread may have one while it is on
 * none (JEP 491), and spoor knows whose ids they are. */
bool jvm_has_thread_ids(const struct jvm *j);
/* It may have virtual threads (JDK 21 on). */
bool jvm_has_virtual(const struct jvm *j);

/* Errors as parser_usdt(). */
int hooks_read(const struct jvm *j, struct hooks *ret);

/* What PROBES_AUTO is for this JVM on this kernel: what reports most at least harm
 * (docs/decisions/024-auto-takes-none-where-it-can.md). */
enum probe_set probes_auto(const struct jvm *j, const struct hooks *h);
