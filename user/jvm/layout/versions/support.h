/* jvm/layout/versions/support.h: what spoor can record of a JVM, in words. */
#pragma once

#include <stdint.h>

#include "jvm/layout/jvm_layout.h"

struct jdk_version;

/* What a recording may lack because of the JVM's version or flags. */
enum jvm_limit {
	JVM_LIMIT_VERSION, /* the version itself is not known: vmStructs is all that there is */
	JVM_LIMIT_STACKS,
	JVM_LIMIT_OWNERS,
	JVM_LIMIT_HASHES,
	JVM_LIMIT_NAMES,
	JVM_LIMIT_READERS,
	JVM_LIMIT_IDENTITY,
	JVM_LIMIT_VIRTUAL,
	JVM_LIMIT_COUNT,
};

enum jvm_level {
	JVM_FULL,
	JVM_LIMITED, /* recorded, but for what has a text */
	JVM_REFUSED, /* the text of JVM_LIMIT_VERSION says why */
};

#define SUPPORT_TEXT_MAX 320

/* The words are the same wherever they are said: by doctor, by record, in notes of the log. */
struct jvm_support {
	enum jvm_level level;
	char text[JVM_LIMIT_COUNT][SUPPORT_TEXT_MAX]; /* what is missing, and why; "": nothing is */
};

/* What is known of a JVM. */
struct support_facts {
	uint32_t major;                    /* the feature release; 0: not known */
	const struct jdk_version *version; /* NULL: there is no table */
	const struct jvm_layout *layout;
	const char *code_missing; /* why call chains cannot be read; NULL: they can, or may be */
	const char *no_walker;    /* the architecture, if it is not walked there; NULL: it is */
	const char *missing;      /* what the layout lacks; NULL: nothing that is needed */
};

void support_find(const struct support_facts *f, struct jvm_support *ret);
