/* report/heap/lives/heap_lives_words.h: sentences on lifetimes, and figures made of them. */
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "report/heap/lives/heap_lives_groups.h"

struct findings;

#define HEAP_LIVES_SIZE_MAX 40
#define HEAP_LIVES_LIVED_MAX 80
#define HEAP_LIVES_CURVE_MAX (3 * HEAP_LIVES_POINTS + 1)

/* The end of a moment's collection, CLOCK_MONOTONIC; 0: not known. */
uint64_t heap_lives_moment_ns(const struct heap_lives_report *r, uint32_t moment);
/* The JVM's number of it; false: it is no collection's. */
bool heap_lives_moment_gc(const struct heap_lives_report *r, uint32_t moment, uint64_t *ret);
/* From the one moment to the other; 0: not known. */
uint64_t heap_lives_ns(const struct heap_lives_report *r);
/* Per second of the interval, which is known. */
uint64_t heap_lives_rate(const struct heap_lives_report *r, uint64_t bytes);
/* Bytes of the dead that had survived two collections. */
uint64_t heap_lives_later(const struct heap_lives *s);
/* "+1.5 MiB". Returns buf, as the next one. */
char *heap_lives_signed(int64_t bytes, char buf[HEAP_LIVES_SIZE_MAX]);
/* "1.2 to 1.9 s": from birth to the collection that has found the objects dead, on average; "-" if
 * no birth has a time. */
char *heap_lives_lived(const struct heap_lives *s, char buf[HEAP_LIVES_LIVED_MAX]);
/* The same per object, in ns. */
uint64_t heap_lives_mean_ns(uint64_t us, uint64_t objects);
/* Blocks of eighths, the largest point being a whole one. */
char *heap_lives_curve(const struct heap_lives *s, char buf[HEAP_LIVES_CURVE_MAX]);
/* The same of any points; buf has 3 bytes for each, and one more. */
char *heap_lives_blocks(const uint64_t *points, unsigned count, char *buf);
/* Static. */
const char *heap_lives_trend_name(enum heap_lives_trend trend);

/* What groups are by: "site", "feature, type". */
void heap_lives_print_by(const struct heap_lives_report *r, FILE *out);
json_t *heap_lives_by_json(const struct heap_lives_report *r);
void heap_lives_head(const struct heap_lives_report *r, FILE *out);
void heap_lives_sentence(const struct heap_lives_report *r, const struct heap_lives_groups *g,
			 struct strbuf *ret);
/* A table of a column of texts; NULL: no memory. */
struct findings *heap_lives_not_known(const struct heap_lives_report *r,
				      const struct heap_lives_groups *g);
/* NULL: no memory. */
json_t *heap_lives_state_json(const struct heap_lives_report *r);
