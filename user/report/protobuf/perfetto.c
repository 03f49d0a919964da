/*
 * A trace is a row of packets, one for each event. Texts that come again are sent once, in the
 * packet that needs them first, and named by their numbers from then on. All is of one sequence,
 * whose first packet says that nothing was sent before it. Packets need not be in order of time,
 * but of equal times the first one in the file is the first: slices of a track do not overlap, and
 * each one's end is right after its begin.
 *
 * The numbers of fields are those of
 * https://github.com/google/perfetto/tree/main/protos/perfetto/trace.
 */
#include "report/protobuf/perfetto.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cells/blocked_list.h"
#include "analyze/cells/cell_windows.h"
#include "base/tables/keymap.h"
#include "base/text/units.h"
#include "log/format/header_fields.h"
#include "log/read/names.h"
#include "report/model/chain.h"
#include "report/model/contention_events.h"
#include "report/model/label.h"
#include "report/protobuf/perfetto_name.h"
#include "report/protobuf/proto.h"
#include "report/protobuf/string_table.h"
#include "session/session_log.h"

enum packet_field {
	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE_ID = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED_DATA = 12,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_TIMESTAMP_CLOCK = 58,
	PACKET_TRACK_DESCRIPTOR = 60,
};

enum sequence_flag { SEQUENCE_CLEARED = 1, SEQUENCE_NEEDS_STATE = 2 };
enum clock_snapshot_field { SNAPSHOT_CLOCKS = 1, SNAPSHOT_PRIMARY = 2 };
enum clock_field { CLOCK_ID = 1, CLOCK_TIMESTAMP = 2 };
enum builtin_clock { CLOCK_IS_REALTIME = 1, CLOCK_IS_MONOTONIC = 3 };
enum descriptor_field { TRACK_UUID = 1, TRACK_PROCESS = 3, TRACK_THREAD = 4 };
enum process_field { PROCESS_PID = 1, PROCESS_NAME = 6 };
enum thread_field { OS_THREAD_PID = 1, OS_THREAD_TID = 2, OS_THREAD_NAME = 5 };
enum track_event_field {
	TRACK_EVENT_CATEGORY = 3,
	TRACK_EVENT_DEBUG = 4,
	TRACK_EVENT_TYPE = 9,
	TRACK_EVENT_NAME = 10,
	TRACK_EVENT_TRACK = 11,
};
enum event_type { TYPE_SLICE_BEGIN = 1, TYPE_SLICE_END = 2 };
enum debug_field { DEBUG_NAME = 1, DEBUG_TEXT = 17 };
enum interned_entry { INTERNED_NUMBER = 1, INTERNED_TEXT = 2 };

/* Kinds of texts, each with numbers of its own, and where they are in InternedData. */
enum text_kind { TEXT_CATEGORY, TEXT_NAME, TEXT_DEBUG_NAME, TEXT_DEBUG, TEXT_KIND_COUNT };
static const unsigned text_fields[TEXT_KIND_COUNT] = {1, 2, 3, 29};

#define SEQUENCE 1
#define PROCESS_TRACK 1
#define TIDS_FROM (1u << 22) /* past those of a kernel: of threads that have none of their own */
#define TRACKS_OF_THREAD 16  /* for its slices that overlap: what a log with gaps can have */

struct perfetto_thread {
	uint64_t tid, track;
	uint32_t tracks; /* that there are */
	uint64_t end_ns[TRACKS_OF_THREAD];
};

struct perfetto {
	const struct contention_events *in;
	struct labels *labels;
	FILE *out;
	uint64_t pid;
	struct string_table texts[TEXT_KIND_COUNT];
	struct keymap thread_map, tid_map;
	struct perfetto_thread *threads;
	uint32_t threads_capacity;
	struct strbuf packet, interned, event, part, text; /* trace packet; in it; in that */
	int err;
};

static void keep(struct perfetto *p, int err)
{
	p->err = p->err ? p->err : err;
}

static void packet_end(struct perfetto *p)
{
	proto_number(&p->packet, PACKET_SEQUENCE_ID, SEQUENCE);
	if (p->interned.used || p->interned.err)
		proto_part(&p->packet, PACKET_INTERNED_DATA, &p->interned);
	proto_part(&p->event, 1, &p->packet); /* Trace.packet */
	keep(p, proto_write(&p->event, p->out));
}

/* The number of a text, which is sent with this packet if it is new; numbers begin at 1. */
static uint64_t intern(struct perfetto *p, enum text_kind kind, const char *text)
{
	struct string_table *t = &p->texts[kind];
	uint32_t known = t->map.count, index = 0;
	struct strbuf entry = {0};

	keep(p, string_table_add(t, text, &index));
	if (p->err || index < known)
		return index + 1ull;
	proto_number(&entry, INTERNED_NUMBER, index + 1ull);
	proto_text(&entry, INTERNED_TEXT, t->rows[index]);
	proto_part(&p->interned, text_fields[kind], &entry);
	strbuf_free(&entry);
	return index + 1ull;
}

/* --- tracks ----------------------------------------------------------------------------------- */

static void put_clock(struct perfetto *p, enum builtin_clock clock, uint64_t ns)
{
	proto_number(&p->part, CLOCK_ID, clock);
	proto_number(&p->part, CLOCK_TIMESTAMP, ns);
	proto_part(&p->event, SNAPSHOT_CLOCKS, &p->part);
}

/* Times are those of the log: CLOCK_MONOTONIC, and what that was when it began. */
static void put_clocks(struct perfetto *p)
{
	const json_t *header = p->in->log->header;

	put_clock(p, CLOCK_IS_MONOTONIC, header_number(header, NULL, "start_mono_ns"));
	put_clock(p, CLOCK_IS_REALTIME, header_number(header, NULL, "start_wall_ns"));
	proto_number(&p->event, SNAPSHOT_PRIMARY, CLOCK_IS_MONOTONIC);
	proto_part(&p->packet, PACKET_CLOCK_SNAPSHOT, &p->event);
	proto_number(&p->packet, PACKET_SEQUENCE_FLAGS, SEQUENCE_CLEARED);
	packet_end(p);
}

static void put_process(struct perfetto *p)
{
	char name[LABEL_MAX];

	proto_number(&p->part, PROCESS_PID, p->pid);
	proto_text(&p->part, PROCESS_NAME,
		   label_clean(header_text(p->in->log->header, "jvm", "command"), name));
	proto_number(&p->event, TRACK_UUID, PROCESS_TRACK);
	proto_part(&p->event, TRACK_PROCESS, &p->part);
	proto_part(&p->packet, PACKET_TRACK_DESCRIPTOR, &p->event);
	packet_end(p);
}

static void put_track(struct perfetto *p, uint64_t thread, uint64_t track, uint64_t tid)
{
	proto_number(&p->part, OS_THREAD_PID, p->pid);
	proto_number(&p->part, OS_THREAD_TID, tid);
	proto_text(&p->part, OS_THREAD_NAME, name_thread(p->in->names, thread, "unknown"));
	proto_number(&p->event, TRACK_UUID, track);
	proto_part(&p->event, TRACK_THREAD, &p->part);
	proto_part(&p->packet, PACKET_TRACK_DESCRIPTOR, &p->event);
	packet_end(p);
}

/* No two threads have the same: a number of the kernel's may have been another thread's before. */
static uint64_t tid_of(struct perfetto *p, uint64_t thread)
{
	const struct log_thread *t = log_names_thread(p->in->names, thread);
	uint32_t known = p->tid_map.count, index = 0;

	if (!t || !t->tid)
		return TIDS_FROM + thread;
	keep(p, keymap_add(&p->tid_map, (struct keymap_key){.a = t->tid}, &index));
	return index == known ? t->tid : TIDS_FROM + thread;
}

/* NULL: no memory. Lent until the next call. */
static struct perfetto_thread *thread_of(struct perfetto *p, uint64_t thread)
{
	uint32_t known = p->thread_map.count, index;
	int err = keymap_add_row(&p->thread_map, (struct keymap_key){.a = thread}, &p->threads,
				 &p->threads_capacity, sizeof(*p->threads), &index);
	struct perfetto_thread *t = err ? NULL : &p->threads[index];

	keep(p, err);
	if (!err && index == known)
		*t = (struct perfetto_thread){.tid = tid_of(p, thread),
					      .track = PROCESS_TRACK + 1 +
						       (uint64_t)index * TRACKS_OF_THREAD};
	return t;
}

/* A track of the thread that is free from since_ns on; the last one is not looked at. */
static uint64_t track_of(struct perfetto *p, const struct blocked_interval *i)
{
	struct perfetto_thread *t = thread_of(p, i->key.waiter);
	uint32_t at = 0;

	if (!t)
		return 0;
	while (at < t->tracks && at + 1 < TRACKS_OF_THREAD && t->end_ns[at] > i->since_ns)
		at++;
	if (at == t->tracks) {
		t->tracks++;
		put_track(p, i->key.waiter, t->track + at, t->tid);
	}
	t->end_ns[at] = i->until_ns;
	return t->track + at;
}

/* --- slices ----------------------------------------------------------------------------------- */

static void put_debug_text(struct perfetto *p, const char *name, const char *text)
{
	proto_number(&p->part, DEBUG_NAME, intern(p, TEXT_DEBUG_NAME, name));
	proto_number(&p->part, DEBUG_TEXT, intern(p, TEXT_DEBUG, text));
	proto_part(&p->event, TRACK_EVENT_DEBUG, &p->part);
}

static void put_chain(struct perfetto *p, const char *name, uint64_t stack)
{
	struct chain chain = {.stacks = p->in->stacks, .stack = stack};
	char row[LABEL_MAX];

	if (!stack)
		return;
	strbuf_clear(&p->text);
	while (chain_next(&chain, row))
		strbuf_add(&p->text, "%s%s", p->text.used ? "\n" : "", row);
	keep(p, p->text.err);
	put_debug_text(p, name, strbuf_text(&p->text));
}

static struct cell_key cell_of(const struct perfetto *p, const struct blocked_part *part)
{
	return cell_windows_cell(&p->in->list->keys.keys[part->cell]);
}

/* "main 3.2 ms, (hand-over) 1.0 ms": all that it is charged to. */
static void put_owners(struct perfetto *p, const struct blocked_interval *i)
{
	const struct blocked_part *parts =
		i->part_count ? &p->in->list->parts[i->part] : NULL;
	char label[LABEL_MAX], time[UNITS_TEXT_MAX];
	uint64_t ns = 0;

	strbuf_clear(&p->text);
	for (uint32_t k = 0; k < i->part_count; k++) {
		uint64_t holder = cell_of(p, &parts[k]).holder;

		ns += parts[k].ns;
		if (k + 1 < i->part_count && cell_of(p, &parts[k + 1]).holder == holder)
			continue;
		strbuf_add(&p->text, "%s%s %s", p->text.used ? ", " : "",
			   label_thread(p->labels, holder, label), duration_format(ns, time));
		ns = 0;
	}
	keep(p, p->text.err);
	put_debug_text(p, "owners", strbuf_text(&p->text));
}

static struct perfetto_location location_of(const struct perfetto *p, uint64_t frame)
{
	const struct log_stack *s = frame ? log_names_stack(p->in->names, frame) : NULL;

	return s ? (struct perfetto_location){log_names_method(p->in->names, s->method), s->line}
		 : (struct perfetto_location){0};
}

/* The slice's name, in p->text. owner: what it is charged to most; NULL: to no thread. */
static void name_slice(struct perfetto *p, const struct blocked_interval *i,
		       const struct cell_key *owner, uint32_t others)
{
	const struct contention_events *in = p->in;
	struct perfetto_contention c = {.others = others};
	const struct perfetto_thread *t;
	char label[LABEL_MAX];

	strbuf_clear(&p->text);
	if (!owner) {
		strbuf_add(&p->text, "lock contention on %s",
			   label_class(p->labels, i->key.lock, label));
		return;
	}
	t = thread_of(p, owner->holder);
	if (!t)
		return;
	c.tid = t->tid;
	c.owner = name_thread(in->names, owner->holder, "unknown");
	c.at = location_of(p, contention_holder_frame(in, owner->holder_stack));
	c.from = location_of(p, contention_waiter_frame(in, i->key.waiter_stack));
	perfetto_contention_name(&p->text, &c);
}

static void put_begin(struct perfetto *p, const struct blocked_interval *i, uint64_t track,
		      uint32_t others)
{
	struct cell_key owner = {0};
	bool owned = i->most != INDEX_NONE;
	char label[LABEL_MAX];

	if (owned)
		owner = cell_of(p, &p->in->list->parts[i->part + i->most]);
	name_slice(p, i, owned ? &owner : NULL, others);
	keep(p, p->text.err);
	proto_number(&p->event, TRACK_EVENT_NAME, intern(p, TEXT_NAME, strbuf_text(&p->text)));
	proto_number(&p->event, TRACK_EVENT_CATEGORY,
		     intern(p, TEXT_CATEGORY, name_group(p->in->names, i->key.lock, i->monitor)));
	proto_number(&p->event, TRACK_EVENT_TYPE, TYPE_SLICE_BEGIN);
	proto_number(&p->event, TRACK_EVENT_TRACK, track);
	put_debug_text(p, "lock", label_lock(p->labels, i->key.lock, label));
	put_debug_text(p, "owner_is",
		       contention_owner_is(p->in, owned ? owner.holder : i->key.holder));
	put_owners(p, i);
	if (i->key.after_wait)
		put_debug_text(p, "after_wait", "yes");
	put_chain(p, "chain", i->key.waiter_stack);
	put_chain(p, "owner_chain", owner.holder_stack);
}

static void put_event(struct perfetto *p, uint64_t ns)
{
	proto_number(&p->packet, PACKET_TIMESTAMP, ns);
	proto_number(&p->packet, PACKET_TIMESTAMP_CLOCK, CLOCK_IS_MONOTONIC);
	proto_number(&p->packet, PACKET_SEQUENCE_FLAGS, SEQUENCE_NEEDS_STATE);
	proto_part(&p->packet, PACKET_TRACK_EVENT, &p->event);
	packet_end(p);
}

/* The owner's track is described before it is named. */
static void put_owner_track(struct perfetto *p, const struct blocked_interval *i)
{
	struct perfetto_thread *t;
	uint64_t owner;

	if (i->most == INDEX_NONE)
		return;
	owner = cell_of(p, &p->in->list->parts[i->part + i->most]).holder;
	t = thread_of(p, owner);
	if (!t || t->tracks)
		return;
	t->tracks = 1;
	put_track(p, owner, t->track, t->tid);
}

static void put_contention(struct perfetto *p, const struct blocked_interval *i, uint32_t others)
{
	uint64_t track = track_of(p, i);

	put_owner_track(p, i);
	put_begin(p, i, track, others);
	put_event(p, i->since_ns);
	proto_number(&p->event, TRACK_EVENT_TYPE, TYPE_SLICE_END);
	proto_number(&p->event, TRACK_EVENT_TRACK, track);
	put_event(p, i->until_ns);
}

/* --- all of it -------------------------------------------------------------------------------- */

struct row {
	uint64_t ns;
	uint32_t index;
};

static int compare(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

static int put_all(struct perfetto *p)
{
	const struct blocked_list *l = p->in->list;
	struct row *rows = malloc((l->count + 1ul) * sizeof(*rows));
	uint32_t *others = malloc((l->count + 1ul) * sizeof(*others));

	keep(p, rows && others ? blocked_list_others(l, others) : -ENOMEM);
	for (uint32_t i = 0; i < l->count && !p->err; i++)
		rows[i] = (struct row){l->rows[i].since_ns, i};
	if (!p->err)
		qsort(rows, l->count, sizeof(*rows), compare);
	for (uint32_t i = 0; i < l->count && !p->err && !ferror(p->out); i++) {
		const struct blocked_interval *b = &l->rows[rows[i].index];

		if (contention_event_counts(p->in, b))
			put_contention(p, b, others[rows[i].index]);
	}
	free(others);
	free(rows);
	return p->err;
}

int perfetto_contentions(const struct contention_events *in, FILE *out)
{
	struct perfetto p = {.in = in,
			     .labels = labels_new(in->names),
			     .out = out,
			     .pid = header_number(in->log->header, "jvm", "pid")};
	int err = p.labels ? 0 : -ENOMEM;

	if (!err) {
		put_clocks(&p);
		put_process(&p);
		err = p.err ? p.err : put_all(&p);
	}
	labels_free(p.labels);
	for (int i = 0; i < TEXT_KIND_COUNT; i++)
		string_table_free(&p.texts[i]);
	keymap_free(&p.thread_map);
	keymap_free(&p.tid_map);
	free(p.threads);
	strbuf_free(&p.packet);
	strbuf_free(&p.interned);
	strbuf_free(&p.event);
	strbuf_free(&p.part);
	strbuf_free(&p.text);
	return err;
}
