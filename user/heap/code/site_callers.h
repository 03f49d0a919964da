/* heap/code/site_callers.h: extends the call chains of allocation sites by callers that are the
 * only ones in the code. */
#pragma once

#include <stdint.h>

struct call_graph;
struct object_names;

#define SITE_CALLERS_NAMED 3

struct site_callers {
	uint32_t sites;                     /* that know a method */
	uint32_t extended;                  /* of these: by one caller at least */
	uint32_t frames;                    /* that were added */
	uint32_t missing;                   /* classes of the log that are in no class file */
	uint32_t named[SITE_CALLERS_NAMED]; /* the first of them: indexes of names->classes */
};

/* Frames that are added count as inferred. 0 or -ENOMEM. */
int site_callers_extend(struct object_names *names, struct call_graph *g, struct site_callers *ret);
