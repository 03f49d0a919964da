/* record/decode/translate_locks.h: records of monitors and of parking threads, to events. */
#pragma once

#include <stdint.h>

#include "record/decode/event_out.h"

struct translate_locks;

/* to is lent until translate_locks_free. */
int translate_locks_new(struct translate_to *to, struct translate_locks **ret);
void translate_locks_free(struct translate_locks *x);
/* A record of one of these kinds, of its full length. */
void translate_locks_record(struct translate_locks *x, const void *record);
/* Records of a patched JVM that have waited since before this time for one that has their object go
 * without it. */
void translate_locks_flush(struct translate_locks *x, uint64_t before_ns);
