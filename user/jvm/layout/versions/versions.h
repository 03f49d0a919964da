/* jvm/layout/versions/versions.h: what depends on the JDK's version, in one table per version. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "jvm/layout/layout_rules.h"

struct code_rules;

/*
 * HotSpot describes itself in vmStructs: a field that it names there is taken from there, whatever
 * the version is, as update releases move fields too (ConstantPool differs between 25.0.3 and
 * 25.0.5.1). A table holds the rest: names, types and widths that a version of spoor's code relies
 * on, and what vmStructs does not say. A JVM of a version without a table is recorded as far as
 * vmStructs goes; support.h says what is missing then.
 *
 * A new version is a new file jdkNN.c, its name in this header, and its row in versions.c.
 */
struct jdk_version {
	uint32_t first, last;          /* feature releases, both included */
	struct layout_rules layout;    /* objects and monitors */
	const struct code_rules *code; /* call chains; NULL: not known for these releases */
	/* A virtual thread that is blocked on a monitor leaves its carrier (JEP 491): no probe says
	 * then that it has got the monitor (share/runtime/objectMonitor.cpp). */
	bool virtual_threads_unmount;
};

extern const struct jdk_version jdk_11;
extern const struct jdk_version jdk_17; /* 17 to 19 */
extern const struct jdk_version jdk_21; /* 20 to 22 */
extern const struct jdk_version jdk_23;
extern const struct jdk_version jdk_25; /* 24, 25 */
extern const struct jdk_version jdk_26; /* 26, 27; in jdk25.c */

/* The releases that have a table, in words. */
#define JDK_KNOWN "OpenJDK 11, and 17 to 27"

/* major: the feature release, as Abstract_VM_Version::_vm_major_version has it. NULL: no table. */
const struct jdk_version *jdk_version_find(uint32_t major);
