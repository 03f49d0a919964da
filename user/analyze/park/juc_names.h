/* analyze/park/juc_names.h: what classes and methods of java.util.concurrent do with a lock. */
#pragma once

#include "analyze/park/park_chain.h"

/* What the code of a class is. */
enum juc_code {
	JUC_PARKING,
	JUC_AQS, /* AbstractQueuedSynchronizer, and its copy for long */
	JUC_CONDITION,
	JUC_STAMPED,
	JUC_OTHER, /* not a lock's */
};

/* What a frame of a method says; all zero parts say nothing. */
struct juc_clue {
	const char *method;
	enum unpark_reason unpark;
	enum park_mode mode;
};

/* class: as Class.getName(). */
enum juc_code juc_code_of(const char *class);
/* NULL: the method says nothing. Static. */
const struct juc_clue *juc_clue_find(enum juc_code code, const char *method);
