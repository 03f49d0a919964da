/*
 * Collections, safepoints and VM operations, on tracks of their own. What belongs together is
 * found as the report finds it: pauses one at a time, VM operations nested, phases within those
 * that are open in their thread (see analyze/vm/phases.c); a phase may end after the one that it
 * is in, and is then beside it, on another track.
 */
#include <errno.h>
#include <stdio.h>

#include "report/chrome/chrome_internal.h"

#define NO_COLLECTION UINT32_MAX /* HotSpot's id for phases outside of all collections */
#define OPERATIONS_MAX 8         /* that are within one another */

enum kind { KIND_NONE, KIND_COLLECTION, KIND_PHASE, KIND_GC };

/* Of a row's values. */
enum { PAUSE_KIND, PAUSE_OPERATION, PAUSE_SEEN };
enum { COLLECTION_GC, COLLECTION_COLLECTOR };
enum { PHASE_GC, PHASE_KIND, PHASE_LEVEL };
enum { POINT_PART, POINT_THREADS, POINT_RUNNING, POINT_REQUESTER, POINT_MEASURED };

static void put_string(struct chrome *c, const char *key, uint64_t string)
{
	char text[LABEL_MAX];

	chrome_text(&c->out, key, label_string(c->labels, string, "(unknown)", text));
}

static void put_end(struct chrome *c, const struct chrome_row *r)
{
	if (r->lost)
		chrome_text(&c->out, "end", "not seen: not later than this");
	else if (r->open_end)
		chrome_text(&c->out, "end", "not before the recording's");
}

static void name_row(struct chrome *c, const struct chrome_row *r)
{
	put_string(c, "name", r->name);
}

static struct chrome_group *group_find(struct chrome *c, enum kind kind, uint64_t key)
{
	uint32_t index =
		keymap_find(&c->group_map, (struct keymap_key){.a = key, .b = (uint64_t)kind + 1});

	return index == INDEX_NONE ? NULL : c->found[index];
}

static int group_set(struct chrome *c, enum kind kind, uint64_t key, struct chrome_group *g)
{
	const struct keymap_key k = {.a = key, .b = (uint64_t)kind + 1};
	uint32_t index;
	int err = keymap_add_row(&c->group_map, k, &c->found, &c->found_capacity, sizeof(*c->found),
				 &index);

	if (!err)
		c->found[index] = g;
	return err;
}

static int group_make(struct chrome *c, enum kind kind, uint64_t key, const char *name,
		      uint64_t sort, const struct chrome_putter *put, struct chrome_group **ret)
{
	struct chrome_group *g = group_find(c, kind, key);
	int err = 0;

	if (!g) {
		g = chrome_group_new(c, name, sort, put);
		if (!g)
			return -ENOMEM;
		g->kind = kind;
		g->key = key;
		err = group_set(c, kind, key, g);
	}
	*ret = g;
	return err;
}

/* Of those that begin and never end, a group has this many open at most; then it loses all. */
#define GROUP_OPEN_MAX 256

static int group_add(struct chrome *c, struct chrome_group *g, const struct chrome_row *row)
{
	int err = 0;

	if (g->open >= GROUP_OPEN_MAX) {
		c->facts.half_seen += chrome_group_lose(g, g->rows, c->now_ns);
		err = chrome_group_settle(c, g);
	}
	return err ? err : chrome_group_add(g, row);
}

/* --- pauses ------------------------------------------------------------------------------- */

static void name_pause(struct chrome *c, const struct chrome_row *r)
{
	static const char *const kinds[GC_KIND_COUNT] = {"collection", "young", "full",
							 "concurrent's pause"};
	uint64_t kind = r->v[PAUSE_KIND];
	char text[LABEL_MAX];

	chrome_format(&c->out, "name", "%s%s%s%s", kinds[kind < GC_KIND_COUNT ? kind : 0],
		      r->name ? " (" : "", label_string(c->labels, r->name, "", text),
		      r->name ? ")" : "");
}

static void put_pause(struct chrome *c, const struct chrome_row *r)
{
	chrome_text(&c->out, "cat", "gc");
	chrome_args(&c->out);
	if (r->v[PAUSE_OPERATION])
		put_string(c, "operation", r->v[PAUSE_OPERATION]);
	put_end(c, r);
}

static const struct chrome_putter pause_putter = {name_pause, put_pause};

static int on_gc_begin(struct chrome *c, const struct event *e)
{
	struct chrome_row row = {.begin_ns = c->now_ns, .open = true};
	int err = group_make(c, KIND_NONE, 1, "GC pauses", CHROME_SORT_PAUSES, &pause_putter,
			     &c->pauses);

	if (err)
		return err;
	c->facts.half_seen += chrome_group_lose(c->pauses, c->pauses->rows, c->now_ns);
	row.v[PAUSE_OPERATION] = e->v[GC_BEGIN_OPERATION].u;
	err = chrome_group_settle(c, c->pauses);
	return err ? err : chrome_group_add(c->pauses, &row);
}

static int on_gc_end(struct chrome *c, const struct event *e)
{
	struct chrome_row *row = c->pauses ? chrome_group_open(c->pauses, 0) : NULL;

	if (!row) {
		c->facts.half_seen++;
		return 0;
	}
	row->name = e->v[GC_END_COLLECTOR].u;
	row->v[PAUSE_KIND] = e->v[GC_END_KIND].u;
	if (e->v[GC_END_OPERATION].u)
		row->v[PAUSE_OPERATION] = e->v[GC_END_OPERATION].u;
	chrome_group_close(c->pauses, row, c->now_ns);
	return chrome_group_settle(c, c->pauses);
}

/* --- collections and their phases ---------------------------------------------------------- */

static void put_collection(struct chrome *c, const struct chrome_row *r)
{
	chrome_text(&c->out, "cat", "gc");
	chrome_args(&c->out);
	chrome_number(&c->out, "gc", r->v[COLLECTION_GC]);
	put_string(c, "collector", r->v[COLLECTION_COLLECTOR]);
	put_end(c, r);
}

static const struct chrome_putter collection_putter = {name_row, put_collection};

static int on_collection_begin(struct chrome *c, const struct event *e)
{
	uint64_t collector = e->v[COLLECTION_BEGIN_COLLECTOR].u;
	struct chrome_row row = {.begin_ns = c->now_ns,
				 .open = true,
				 .name = e->v[COLLECTION_BEGIN_CAUSE].u,
				 .v[COLLECTION_GC] = e->v[COLLECTION_BEGIN_GC].u,
				 .v[COLLECTION_COLLECTOR] = collector};
	char name[LABEL_MAX + 32], text[LABEL_MAX];
	struct chrome_group *g;
	int err;

	snprintf(name, sizeof(name), "GC collections: %s",
		 label_string(c->labels, collector, "(unknown)", text));
	err = group_make(c, KIND_COLLECTION, collector, name, CHROME_SORT_COLLECTIONS,
			 &collection_putter, &g);
	if (!err)
		err = group_set(c, KIND_GC, e->v[COLLECTION_BEGIN_GC].u, g);
	return err ? err : group_add(c, g, &row);
}

static int on_collection_end(struct chrome *c, const struct event *e)
{
	struct chrome_group *g = group_find(c, KIND_GC, e->v[COLLECTION_END_GC].u);

	for (uint32_t i = 0; g && g->open && i < g->count; i++) {
		if (!g->rows[i].open || g->rows[i].v[COLLECTION_GC] != e->v[COLLECTION_END_GC].u)
			continue;
		chrome_group_close(g, &g->rows[i], c->now_ns);
		return chrome_group_settle(c, g);
	}
	c->facts.half_seen++;
	return 0;
}

static void put_phase(struct chrome *c, const struct chrome_row *r)
{
	static const char *const kinds[GC_PHASE_KIND_COUNT] = {"pause", "concurrent", "worker"};
	uint64_t kind = r->v[PHASE_KIND];

	chrome_text(&c->out, "cat", "gc_phase");
	chrome_args(&c->out);
	if (r->v[PHASE_GC] != NO_COLLECTION)
		chrome_number(&c->out, "gc", r->v[PHASE_GC]);
	chrome_text(&c->out, "kind", kind < GC_PHASE_KIND_COUNT ? kinds[kind] : "(unknown)");
	chrome_number(&c->out, "level", r->v[PHASE_LEVEL]);
	put_end(c, r);
}

static const struct chrome_putter phase_putter = {name_row, put_phase};

/* Whether a phase cannot be within an open one of the same thread: that one's end was lost. */
static bool ends_another(const struct chrome_row *open, const struct chrome_row *new)
{
	uint64_t gc = open->v[PHASE_GC], other = new->v[PHASE_GC];

	if (gc != other && gc != NO_COLLECTION && other != NO_COLLECTION)
		return true;
	return open->name == new->name && open->v[PHASE_KIND] == new->v[PHASE_KIND] &&
	       open->v[PHASE_LEVEL] == new->v[PHASE_LEVEL];
}

static int on_phase_begin(struct chrome *c, const struct event *e)
{
	struct chrome_row row = {.begin_ns = c->now_ns,
				 .open = true,
				 .name = e->v[GC_PHASE_BEGIN_PHASE].u,
				 .v[PHASE_GC] = e->v[GC_PHASE_BEGIN_GC].u,
				 .v[PHASE_KIND] = e->v[GC_PHASE_BEGIN_KIND].u,
				 .v[PHASE_LEVEL] = e->v[GC_PHASE_BEGIN_LEVEL].u};
	bool worker = row.v[PHASE_KIND] == GC_PHASE_KIND_WORKER;
	char name[LABEL_MAX + 32], text[LABEL_MAX];
	struct chrome_row *r = NULL, *ended = NULL;
	struct chrome_group *g;
	int err;

	snprintf(name, sizeof(name), "GC %sphases: %s", worker ? "worker " : "",
		 chrome_thread_label(c, e->thread, text));
	err = group_make(c, KIND_PHASE, e->thread, name,
			 worker ? CHROME_SORT_WORKERS : CHROME_SORT_PHASES, &phase_putter, &g);
	if (err)
		return err;
	while ((r = chrome_group_outer(g, r)))
		ended = ends_another(r, &row) ? r : ended;
	if (ended) {
		c->facts.half_seen++;
		chrome_group_lose(g, ended, c->now_ns);
		err = chrome_group_settle(c, g);
	}
	return err ? err : group_add(c, g, &row);
}

/* By its name: see analyze/vm/phases.c. */
static int on_phase_end(struct chrome *c, const struct event *e)
{
	struct chrome_group *g = group_find(c, KIND_PHASE, e->thread);
	struct chrome_row *row = g ? chrome_group_open(g, e->v[GC_PHASE_END_PHASE].u) : NULL;

	if (!row) {
		c->facts.half_seen++;
		return 0;
	}
	chrome_group_close(g, row, c->now_ns);
	return chrome_group_settle(c, g);
}

/* --- safepoints --------------------------------------------------------------------------- */

static void name_safepoint(struct chrome *c, const struct chrome_row *r)
{
	static const char *const parts[] = {"safepoint", "reach", "cleanup", "operation"};
	const char *part = parts[r->v[POINT_PART]];
	char text[LABEL_MAX];

	if (r->name)
		chrome_format(&c->out, "name", "%s %s", part,
			      label_string(c->labels, r->name, "(unknown)", text));
	else
		chrome_text(&c->out, "name", part);
}

static void put_safepoint(struct chrome *c, const struct chrome_row *r)
{
	uint64_t requester = r->v[POINT_REQUESTER];
	char text[LABEL_MAX];

	chrome_text(&c->out, "cat", "safepoint");
	chrome_args(&c->out);
	if (r->v[POINT_MEASURED]) {
		chrome_number(&c->out, "threads", r->v[POINT_THREADS]);
		chrome_number(&c->out, "running", r->v[POINT_RUNNING]);
		chrome_text(&c->out, "requester",
			    requester ? label_thread(c->labels, requester, text) : "the VM");
	}
	put_end(c, r);
}

static const struct chrome_putter safepoint_putter = {name_safepoint, put_safepoint};

/* The three parts that a patched JVM measures end where the safepoint does. */
static int measured_add(struct chrome *c, const struct event *m, struct chrome_row *whole)
{
	const uint64_t ns[] = {0, m->v[SAFEPOINT_REACH_NS].u, m->v[SAFEPOINT_CLEANUP_NS].u,
			       m->v[SAFEPOINT_OPERATION_NS].u};
	uint64_t sum_ns = ns[1] + ns[2] + ns[3];
	int err;

	whole->begin_ns = whole->end_ns > sum_ns ? whole->end_ns - sum_ns : 0;
	whole->name = m->v[SAFEPOINT_OPERATION].u;
	whole->v[POINT_MEASURED] = 1;
	whole->v[POINT_THREADS] = m->v[SAFEPOINT_THREADS].u;
	whole->v[POINT_RUNNING] = m->v[SAFEPOINT_RUNNING].u;
	whole->v[POINT_REQUESTER] = m->v[SAFEPOINT_REQUESTER].u;
	err = chrome_group_add(c->safepoints, whole);
	for (uint64_t part = 1, at_ns = whole->begin_ns; part < 4 && !err; at_ns += ns[part++]) {
		const struct chrome_row row = {
			.begin_ns = at_ns, .end_ns = at_ns + ns[part], .v[POINT_PART] = part};

		err = chrome_group_add(c->safepoints, &row);
	}
	return err;
}

/* What has been collected of one safepoint is put out: of the stock probes, or as measured. */
static int safepoint_settle(struct chrome *c)
{
	struct chrome_safepoint *s = &c->safepoint;
	struct chrome_row row = {
		.begin_ns = s->begin_ns, .end_ns = s->end_ns, .name = s->operation};
	int err = 0;

	if (s->begun || s->measured)
		err = group_make(c, KIND_NONE, 2, "safepoints", CHROME_SORT_SAFEPOINTS,
				 &safepoint_putter, &c->safepoints);
	if (!err && s->measured) {
		row.end_ns = s->measure.time_ns;
		err = measured_add(c, &s->measure, &row);
	} else if (!err && s->begun) {
		row.lost = !s->ended;
		row.end_ns = s->ended ? s->end_ns : c->now_ns;
		c->facts.half_seen += row.lost;
		err = chrome_group_add(c->safepoints, &row);
	}
	*s = (struct chrome_safepoint){0};
	return err || !c->safepoints ? err : chrome_group_settle(c, c->safepoints);
}

static int on_safepoint_begin(struct chrome *c, const struct event *e)
{
	int err = safepoint_settle(c);

	(void)e;
	c->safepoint.begun = true;
	c->safepoint.begin_ns = c->now_ns;
	return err;
}

/* The same safepoint is reported twice by a patched JVM: it is put out when the next one begins. */
static int on_safepoint_end(struct chrome *c, const struct event *e)
{
	(void)e;
	c->facts.half_seen += !c->safepoint.begun;
	c->safepoint.ended = c->safepoint.begun;
	c->safepoint.end_ns = c->now_ns;
	return 0;
}

static int on_safepoint(struct chrome *c, const struct event *e)
{
	int err = c->safepoint.measured ? safepoint_settle(c) : 0;

	c->safepoint.measured = true;
	c->safepoint.measure = *e;
	c->safepoint.measure.time_ns = c->now_ns;
	return err;
}

/* --- VM operations ------------------------------------------------------------------------ */

static void put_operation(struct chrome *c, const struct chrome_row *r)
{
	chrome_text(&c->out, "cat", "vm_operation");
	chrome_args(&c->out);
	chrome_text(&c->out, "at_safepoint", r->v[0] ? "no" : "yes");
	put_end(c, r);
}

static const struct chrome_putter operation_putter = {name_row, put_operation};

static int on_operation_begin(struct chrome *c, const struct event *e)
{
	struct chrome_row row = {.begin_ns = c->now_ns,
				 .open = true,
				 .name = e->v[VM_OPERATION_BEGIN_OPERATION].u,
				 .v[0] = e->v[VM_OPERATION_BEGIN_MODE].u};
	int err = group_make(c, KIND_NONE, 3, "VM operations", CHROME_SORT_OPERATIONS,
			     &operation_putter, &c->operations);

	if (err)
		return err;
	if (c->safepoint.begun && !c->safepoint.ended && !c->safepoint.operation)
		c->safepoint.operation = row.name;
	if (c->operations->open == OPERATIONS_MAX) {
		c->facts.half_seen +=
			chrome_group_lose(c->operations, c->operations->rows, c->now_ns);
		err = chrome_group_settle(c, c->operations);
	}
	return err ? err : chrome_group_add(c->operations, &row);
}

static int on_operation_end(struct chrome *c, const struct event *e)
{
	uint64_t name = e->v[VM_OPERATION_END_OPERATION].u;
	struct chrome_row *row = c->operations ? chrome_group_open(c->operations, name) : NULL;

	if (!row) {
		c->facts.half_seen++;
		return 0;
	}
	chrome_group_close(c->operations, row, c->now_ns);
	c->facts.half_seen += chrome_group_lose(c->operations, row, c->now_ns);
	return chrome_group_settle(c, c->operations);
}

int chrome_vm_add(struct chrome *c, const struct event *e)
{
	static int (*const on[SCHEMA_ID_MAX + 1])(struct chrome *, const struct event *) = {
		[EVENT_GC_BEGIN] = on_gc_begin,
		[EVENT_GC_END] = on_gc_end,
		[EVENT_COLLECTION_BEGIN] = on_collection_begin,
		[EVENT_COLLECTION_END] = on_collection_end,
		[EVENT_GC_PHASE_BEGIN] = on_phase_begin,
		[EVENT_GC_PHASE_END] = on_phase_end,
		[EVENT_SAFEPOINT_BEGIN] = on_safepoint_begin,
		[EVENT_SAFEPOINT_END] = on_safepoint_end,
		[EVENT_SAFEPOINT] = on_safepoint,
		[EVENT_VM_OPERATION_BEGIN] = on_operation_begin,
		[EVENT_VM_OPERATION_END] = on_operation_end,
	};

	return e->id <= SCHEMA_ID_MAX && on[e->id] ? on[e->id](c, e) : 0;
}

int chrome_vm_finish(struct chrome *c)
{
	return safepoint_settle(c);
}
