/* record/decode/translate.h: ring records in, log events out. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct chains;
struct ids;
struct log_writer;
struct native_symbols;
struct translate;

/* All are lent until translate_free. */
int translate_new(struct ids *ids, struct chains *chains, struct log_writer *w,
		  struct translate **ret);
void translate_free(struct translate *t);
/* Samples have the name of the native function that was interrupted. Lent until translate_free. */
void translate_name_by(struct translate *t, struct native_symbols *symbols);

struct wire_run_sample;
/* A sample that came with its native callers: count addresses, from the inside out. */
void translate_sample(struct translate *t, const struct wire_run_sample *r, const uint64_t *callers,
		      uint32_t count);

/* One record of the ring buffer; those of unknown kind or size are counted: see
 * translate_unknown(). */
void translate_record(struct translate *t, const void *record, size_t size);

/* Writes what has been waiting since before this time for a record that never came; UINT64_MAX: all
 * that waits. */
void translate_flush(struct translate *t, uint64_t before_ns);

/* A class came by that may let jvm_layout_refresh() find more; asking clears it. */
bool translate_wants_refresh(struct translate *t);
/* Whether a thread has blocked on a lock that somebody owns since the last time this was asked. */
bool translate_contended(struct translate *t);

/* Events of a kind that were lost as there was no room for their threads. */
uint32_t translate_lost(const struct translate *t, uint16_t event);

/* Records of no use that would have become such events; 0: unknown. */
uint32_t translate_unknown(const struct translate *t, uint16_t event);
