/* record/decode/translate_exact.h: records of a patched JVM, to events. */
#pragma once

#include <stdint.h>

#include "record/decode/event_out.h"

struct translate_exact;

/* Records of a patched JVM; to is lent until translate_exact_free. */
int translate_exact_new(struct translate_to *to, struct translate_exact **ret);
void translate_exact_free(struct translate_exact *x);
/* A record of one of its kinds, of their full length. */
void translate_exact_record(struct translate_exact *x, const void *record);
/* Records that have waited since before this time for one that tells which object they are of go
 * without. */
void translate_exact_flush(struct translate_exact *x, uint64_t before_ns);
