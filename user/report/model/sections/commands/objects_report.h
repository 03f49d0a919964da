/* report/model/sections/commands/objects_report.h: what was allocated, by whom, and what
 * collections left of it. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "heap/replay/object_replay.h"

struct findings;
struct log_names;
struct objects_filter;
struct profile_format;
struct session_log;

enum objects_by {
	OBJECTS_BY_CLASS,
	OBJECTS_BY_SITE,   /* class, and the bytecode that allocates */
	OBJECTS_BY_CHAIN,  /* class, and all callers that the site knows */
	OBJECTS_BY_METHOD, /* that allocates */
	OBJECTS_BY_THREAD,
	OBJECTS_BY_TIER,
	OBJECTS_BY_COLLECTION,
	OBJECTS_BY_TLAB,
	OBJECTS_BY_LENGTH, /* of arrays: 0, 1, 2 to 3, 4 to 7, ... */
	OBJECTS_BY_SPAN,   /* that the thread was in, as the application has marked it */
	OBJECTS_BY_SECOND,
	OBJECTS_BY_COUNT,
};

struct objects_input {
	const struct object_replay *replay; /* finished */
	struct objects_filter *filter;      /* which the replay was asked for with */
	const struct log_names *names;      /* of threads; NULL: there are none */
	enum objects_by by;                 /* as the filter has it */
	unsigned top;                   /* rows for people; 0: all */
	bool damaged;                       /* blocks of object events are missing or damaged */
	uint64_t log_bytes;                 /* of object events, in the file */
};

extern const char *const objects_by_names[OBJECTS_BY_COUNT];
/* Or "(unknown)". Lent as log_names_thread() lends. names may be NULL. */
const char *objects_thread_name(const struct log_names *names, int64_t java_tid);

/* A row for each. NULL: no memory. To be freed with findings_free(). */
struct findings *objects_section(const struct objects_input *in);
/* True: the heap could be followed, and survivors are known. */
bool objects_has_survivors(const struct objects_input *in);

/* 0 or -ENOMEM; out's error flag says the rest. */
int report_objects_text(const struct objects_input *in, FILE *out);
int report_objects_json(const struct objects_input *in, FILE *out);
int report_objects_csv(const struct objects_input *in, FILE *out);
/* Bytes of each class by the chain of its site, for flame graphs; by and top do not matter. */
int report_objects_collapsed(const struct objects_input *in, FILE *out);
int report_objects_profile(const struct objects_input *in, const struct session_log *log,
			   const struct profile_format *format, FILE *out);
