/* report/heap/heap_words.h: sentences on heaps, and what reports on heaps share. */
#pragma once

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "report/heap/heap_report.h"

#define HEAP_MOMENT_MAX 128
/* " (12.1 s, 350 ms before the time asked for)", as far as they are not 0. */
char *heap_words_moment(uint64_t at_ns, uint64_t early_ns, char buf[HEAP_MOMENT_MAX]);
/* "HEAP app.hprof, of 2026-11-24 11:43:05". */
void heap_words_head(const struct heap_source *s, FILE *out);
/* "=> text" */
void heap_words_sentence(const char *text, FILE *out);
/* What a dump lacks, what is inferred, what is damaged: a table of a column of texts. NULL: no
 * memory. */
struct findings *heap_words_not_known(const struct heap_source *s);
/* 0 or -ENOMEM; frees f, which may be NULL. */
int heap_words_list(const char *title, struct findings *f, FILE *out);
/* {"file":, "taken_ms":, "objects":, "bytes":, "sizes":{...}, "damage":...}; NULL: no memory. */
json_t *heap_words_state_json(const struct heap_source *s);
