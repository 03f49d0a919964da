/* probe/translate_parts.h: what the files of translate share. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "log/event.h"

struct chains;
struct ids;
struct log_writer;
struct wire_counters;
struct wire_head;

/* Where everything goes; all are lent. */
struct translate_to {
	struct ids *ids;
	struct chains *chains;
	struct log_writer *w;
	bool contended; /* a thread has blocked on a lock that somebody owns */
	bool homeless;  /* of the event that has been begun: there is no room for its thread */
	uint32_t lost[SCHEMA_ID_MAX + 1]; /* events of such threads */
};

void translate_event_begin(struct translate_to *to, struct event *e, uint16_t id,
			   const struct wire_head *h);
/* Writes it, unless its thread has no number. */
void translate_event_put(struct translate_to *to, const struct event *e);
/* Into three fields, one after the other, the first of which is given, and into one more. */
void translate_counters(struct event *e, unsigned first, unsigned throttled,
			const struct wire_counters *c);

struct translate_exact;

/* Records of a patched JVM; to is lent until translate_exact_free. */
int translate_exact_new(struct translate_to *to, struct translate_exact **ret);
void translate_exact_free(struct translate_exact *x);
/* A record of one of its kinds, of their full length. */
void translate_exact_record(struct translate_exact *x, const void *record);
/* Records that have waited since before this time for one that tells which object they are of go
 * without. */
void translate_exact_flush(struct translate_exact *x, uint64_t before_ns);
