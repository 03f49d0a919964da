/* session/anonymize.h: what a log's texts become when it leaves the house. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/tables/siphash.h"
#include "log/check/rewrite.h"

struct event;
struct anonymize;

/*
 * Each word of a name (letters; digits and all signs stay, so that the numbers still
 * identify the threads of a pool) becomes ten letters: the same for the same word and key. Names of
 * JDK classes and of the JVM's own threads, operations and collectors stay.
 */
int anonymize_new(const uint8_t key[SIPHASH_KEY_BYTES], struct anonymize **ret);
void anonymize_free(struct anonymize *a);
/* Every event of the log, before it is rewritten: strings that only the JVM's events name stay. */
int anonymize_look(struct anonymize *a, const struct event *e);
/* Lent until anonymize_free(). */
const struct log_rewrite *anonymize_rewrite(const struct anonymize *a);
