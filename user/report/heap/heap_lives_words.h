/* report/heap/heap_lives_words.h: sentences on lifetimes, and figures made of them. */
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "report/heap/heap_lives_groups.h"

struct findings;

#define HEAP_LIVES_SIZE_MAX 40
#define HEAP_LIVES_CURVE_MAX (3 * HEAP_LIVES_POINTS + 1)

/* From the one moment to the other; 0: not known. */
uint64_t heap_lives_ns(const struct heap_lives_report *r);
/* Per second of the interval, which is known. */
uint64_t heap_lives_rate(const struct heap_lives_report *r, uint64_t bytes);
/* Bytes of the dead that had survived two collections. */
uint64_t heap_lives_later(const struct heap_lives *s);
/* "+1.5 MiB". Returns buf, as the next one. */
char *heap_lives_signed(int64_t bytes, char buf[HEAP_LIVES_SIZE_MAX]);
/* Blocks of eighths, the largest point being a whole one. */
char *heap_lives_curve(const struct heap_lives *s, char buf[HEAP_LIVES_CURVE_MAX]);
/* Static. */
const char *heap_lives_trend_name(enum heap_lives_trend trend);

void heap_lives_head(const struct heap_lives_report *r, FILE *out);
void heap_lives_sentence(const struct heap_lives_report *r, const struct heap_lives_groups *g,
			 struct strbuf *ret);
/* A table of a column of texts; NULL: no memory. */
struct findings *heap_lives_not_known(const struct heap_lives_report *r,
				      const struct heap_lives_groups *g);
/* NULL: no memory. */
json_t *heap_lives_state_json(const struct heap_lives_report *r);
