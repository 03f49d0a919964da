/*
 * A recording is one chunk: a header of fixed size, events, the constants that they name, and the
 * description of their types. The header has the offsets of the last two, so that all is made
 * before it is written. A tick is a ns of CLOCK_MONOTONIC, so that no time is rounded.
 *
 * The layout follows jdk.jfr.internal.consumer.ChunkHeader of JDK 17, which reads it.
 */
#include "report/jfr/jfr.h"

#include <errno.h>

#include "analyze/cells/blocked_list.h"
#include "analyze/cells/cell_windows.h"
#include "log/format/header_fields.h"
#include "log/read/names.h"
#include "report/jfr/jfr_bytes.h"
#include "report/jfr/jfr_pools.h"
#include "report/model/contention_events.h"
#include "session/session_log.h"

#define HEADER_BYTES 68
#define TICKS_PER_SECOND 1000000000
#define NOT_SAID (1ull << 63) /* the least long: shown as not applicable */

enum { VERSION_MAJOR = 2, VERSION_MINOR = 1 };
enum { FLAG_COMPRESSED = 1, FLAG_LAST_CHUNK = 2 };

struct jfr {
	const struct contention_events *in;
	struct jfr_pools pools;
	struct strbuf events, event;
	uint64_t last_ns;
};

static uint64_t address_of(const struct jfr *j, uint64_t lock)
{
	const struct log_lock *l = log_names_lock(j->in->names, lock);

	return !l ? 0 : l->address ? l->address : l->hash;
}

static void begin(struct jfr *j, enum jfr_type type, uint64_t since_ns, uint64_t ns)
{
	jfr_number(&j->event, type);
	jfr_number(&j->event, since_ns);
	jfr_number(&j->event, ns);
}

static void put_interval(struct jfr *j, const struct blocked_interval *i)
{
	const struct log_lock *l = log_names_lock(j->in->names, i->key.lock);
	bool monitor = i->monitor || (l && l->group == LOCK_GROUP_MONITOR);

	begin(j, monitor ? JFR_MONITOR_ENTER : JFR_THREAD_PARK, i->since_ns,
	      i->until_ns - i->since_ns);
	jfr_number(&j->event, jfr_thread(&j->pools, i->key.waiter));
	jfr_number(&j->event, jfr_stack_trace(&j->pools, i->key.waiter_stack));
	jfr_number(&j->event, jfr_lock_class(&j->pools, i->key.lock));
	if (monitor) {
		jfr_number(&j->event, jfr_thread(&j->pools, i->last));
	} else {
		jfr_number(&j->event, NOT_SAID); /* timeout */
		jfr_number(&j->event, NOT_SAID); /* until */
	}
	jfr_number(&j->event, address_of(j, i->key.lock));
	jfr_event(&j->events, &j->event);
}

/* Where in the interval its time was is unknown: it begins with it. */
static void put_part(struct jfr *j, const struct blocked_interval *i,
		     const struct blocked_part *part)
{
	const struct cell_key cell = cell_windows_cell(&j->in->list->keys.keys[part->cell]);

	begin(j, JFR_LOCK_HELD, i->since_ns, part->ns);
	jfr_number(&j->event, jfr_thread(&j->pools, cell.holder));
	jfr_number(&j->event, jfr_stack_trace(&j->pools, cell.holder_stack));
	jfr_number(&j->event, jfr_thread(&j->pools, i->key.waiter));
	jfr_number(&j->event, jfr_lock_class(&j->pools, i->key.lock));
	jfr_text(&j->event, contention_owner_is(j->in, cell.holder));
	jfr_number(&j->event, address_of(j, i->key.lock));
	jfr_event(&j->events, &j->event);
}

static void put_header(const struct jfr *j, struct strbuf *b, uint64_t constants, uint64_t metadata,
		       uint64_t size)
{
	const json_t *header = j->in->log->header;
	uint64_t start_ns = header_number(header, NULL, "start_mono_ns");

	strbuf_put(b, "FLR", 4);
	jfr_raw(b, VERSION_MAJOR, 2);
	jfr_raw(b, VERSION_MINOR, 2);
	jfr_raw(b, size, 8);
	jfr_raw(b, constants, 8);
	jfr_raw(b, metadata, 8);
	jfr_raw(b, header_number(header, NULL, "start_wall_ns"), 8);
	jfr_raw(b, j->last_ns > start_ns ? j->last_ns - start_ns : 0, 8);
	jfr_raw(b, start_ns, 8);
	jfr_raw(b, TICKS_PER_SECOND, 8);
	jfr_raw(b, FLAG_COMPRESSED | FLAG_LAST_CHUNK, 4);
}

static int write_chunk(struct jfr *j, FILE *out)
{
	uint64_t constants = HEADER_BYTES + j->events.used, metadata, size;
	struct strbuf header = {0};
	int err;

	jfr_pools_put(&j->pools, &j->events, j->last_ns);
	metadata = HEADER_BYTES + j->events.used;
	jfr_metadata(&j->events, j->last_ns);
	size = HEADER_BYTES + j->events.used;
	put_header(j, &header, constants, metadata, size);
	err = j->pools.err ? j->pools.err : j->events.err ? j->events.err : header.err;
	if (!err) {
		jfr_write(&header, out);
		jfr_write(&j->events, out);
	}
	strbuf_free(&header);
	return err;
}

int jfr_contentions(const struct contention_events *in, FILE *out)
{
	struct jfr j = {.in = in, .pools.in = in};
	const struct blocked_list *l = in->list;
	int err;

	for (uint32_t i = 0; i < l->count && !j.pools.err && !j.events.err; i++) {
		const struct blocked_interval *row = &l->rows[i];

		put_interval(&j, row);
		for (uint32_t k = 0; contention_event_counts(in, row) && k < row->part_count; k++)
			put_part(&j, row, &l->parts[row->part + k]);
		if (row->until_ns > j.last_ns)
			j.last_ns = row->until_ns;
	}
	err = write_chunk(&j, out);
	jfr_pools_free(&j.pools);
	strbuf_free(&j.events);
	strbuf_free(&j.event);
	return err;
}
