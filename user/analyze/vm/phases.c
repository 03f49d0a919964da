/*
 * A phase is within those that are open in its thread when it begins, and ends in that thread; it
 * may end after them (Serial's DefNew after its GC Pause). Levels do not name the parent: HotSpot
 * counts those of its timers and those of its log apart, and those of workers not at all. That an
 * end was lost shows when the same phase, or another collection's, begins. A worker's outermost
 * phase has the phase around it in another thread: it belongs to the innermost pause of the same
 * collection that is open there, or else to its innermost concurrent phase.
 *
 * A recording that begins within a collection sees the phases within its open phases as outermost
 * ones. A collection's own begin is the last probe that is attached: whatever belongs to a
 * collection whose begin was seen is nested right. The outermost phase begins a little before
 * its collection does; it learns of that while it is open.
 */
#include "analyze/vm/phases.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/row.h"

#define NO_COLLECTION UINT32_MAX /* HotSpot's id for phases outside of all collections */
/*
 * A JVM has a few collections at a time, and as many phases as its GC's threads, a few deep. They
 * are looked for one by one. What begins and never ends is dropped, the oldest first, so that no
 * log makes that slow.
 */
#define RUNNING_MAX 64
#define OPEN_MAX 1024

static struct phase_running *running_find(const struct phases *p, uint64_t gc)
{
	for (uint32_t i = p->running_count; i-- > 0;) {
		if (p->running[i].gc == gc)
			return &p->running[i];
	}
	return NULL;
}

static int on_collection_begin(struct phases *p, const struct event *e)
{
	uint64_t gc = e->v[COLLECTION_BEGIN_GC].u;
	int err = array_grow(&p->running, &p->running_capacity, p->running_count,
			     sizeof(*p->running));

	if (err)
		return err;
	if (p->running_count == RUNNING_MAX) {
		memmove(p->running, p->running + 1, --p->running_count * sizeof(*p->running));
		p->incomplete++;
	}
	p->running[p->running_count++] = (struct phase_running){
		.gc = gc,
		.collector = e->v[COLLECTION_BEGIN_COLLECTOR].u,
		.cause = e->v[COLLECTION_BEGIN_CAUSE].u,
		.since_ns = p->now_ns,
	};
	for (uint32_t i = 0; i < p->open_count; i++)
		p->open[i].whole |= p->open[i].gc == gc;
	return 0;
}

static int on_collection_end(struct phases *p, const struct event *e)
{
	struct phase_running *r = running_find(p, e->v[COLLECTION_END_GC].u);
	struct phase_collection *row;
	uint32_t index;
	int err;

	if (!r) {
		p->incomplete++;
		return 0;
	}
	err = keymap_add_row(&p->collection_map,
			     (struct keymap_key){.a = r->collector, .b = r->cause}, &p->collections,
			     &p->collections_capacity, sizeof(*p->collections), &index);
	if (err)
		return err;
	row = &p->collections[index];
	row->collector = r->collector;
	row->cause = r->cause;
	pause_times_add(&row->times, p->now_ns - r->since_ns);
	pause_times_add(&p->collection_times, p->now_ns - r->since_ns);
	*r = p->running[--p->running_count];
	return 0;
}

static struct phase_open *innermost(const struct phases *p, uint64_t thread)
{
	for (uint32_t i = p->open_count; i-- > 0;) {
		if (p->open[i].thread == thread)
			return &p->open[i];
	}
	return NULL;
}

static void close_phase(struct phases *p, struct phase_open *o)
{
	for (p->open_count--; o < p->open + p->open_count; o++)
		*o = o[1];
}

/* Whether a phase cannot be within an open one of the same thread: that one's end was lost. */
static bool ends_another(const struct phases *p, const struct phase_open *o,
			 const struct phase_open *new, uint64_t phase)
{
	if (o->gc != new->gc && o->gc != NO_COLLECTION &&new->gc != NO_COLLECTION)
		return true;
	return p->rows[o->row].phase == phase && o->kind == new->kind && o->level == new->level;
}

static void drop_unended(struct phases *p, const struct phase_open *new, uint64_t phase)
{
	struct phase_open *last;

	for (uint32_t i = 0; i < p->open_count; i++) {
		if (p->open[i].thread != new->thread || !ends_another(p, &p->open[i], new, phase))
			continue;
		do {
			last = innermost(p, new->thread);
			close_phase(p, last);
			p->incomplete++;
		} while (last != &p->open[i]);
	}
}

/* The phase that one of this kind, in this thread, is within; NULL: none. */
static const struct phase_open *parent_find(const struct phases *p, uint64_t thread, uint64_t kind,
					    uint64_t gc)
{
	const struct phase_open *own = innermost(p, thread), *concurrent = NULL;

	if (own || kind != GC_PHASE_KIND_WORKER)
		return own;
	for (uint32_t i = p->open_count; i-- > 0;) {
		const struct phase_open *o = &p->open[i];

		if (o->gc != gc || o->kind == GC_PHASE_KIND_WORKER)
			continue;
		if (o->kind == GC_PHASE_KIND_PAUSE)
			return o;
		concurrent = concurrent ?: o;
	}
	return concurrent;
}

/* The index of a phase's row. */
static int row_add(struct phases *p, uint64_t phase, uint64_t kind,
		   const struct phase_open *parent_open, uint32_t *ret)
{
	uint32_t parent = parent_open ? parent_open->row : INDEX_NONE;
	struct phase_row *row;
	int err;

	if (parent != INDEX_NONE && p->rows[parent].depth + 1 == PHASE_DEPTH_MAX)
		parent = p->rows[parent].parent;
	err = keymap_add_row(&p->row_map, (struct keymap_key){.a = parent, .b = phase, .c = kind},
			     &p->rows, &p->rows_capacity, sizeof(*p->rows), ret);
	if (err)
		return err;
	row = &p->rows[*ret];
	row->parent = parent;
	row->depth = parent == INDEX_NONE ? 0 : p->rows[parent].depth + 1;
	row->phase = phase;
	row->kind = kind;
	row->first = row->next = INDEX_NONE;
	return 0;
}

static int on_phase_begin(struct phases *p, const struct event *e)
{
	struct phase_open o = {.thread = e->thread,
			       .gc = e->v[GC_PHASE_BEGIN_GC].u,
			       .kind = e->v[GC_PHASE_BEGIN_KIND].u,
			       .level = e->v[GC_PHASE_BEGIN_LEVEL].u,
			       .since_ns = p->now_ns};
	uint64_t phase = e->v[GC_PHASE_BEGIN_PHASE].u;
	const struct phase_open *parent;
	int err;

	drop_unended(p, &o, phase);
	if (p->open_count == OPEN_MAX) {
		close_phase(p, p->open);
		p->incomplete++;
	}
	parent = parent_find(p, o.thread, o.kind, o.gc);
	o.whole = o.gc == NO_COLLECTION || running_find(p, o.gc) || (parent && parent->whole);
	err = row_add(p, phase, o.kind, parent, &o.row);
	if (!err)
		err = array_grow(&p->open, &p->open_capacity, p->open_count, sizeof(*p->open));
	if (!err)
		p->open[p->open_count++] = o;
	return err;
}

/* By its name: the JVM may report another kind at the end than at the begin, when a safepoint that
 * is not its own has come in between. */
static void on_phase_end(struct phases *p, const struct event *e)
{
	uint64_t thread = e->thread, phase = e->v[GC_PHASE_END_PHASE].u;
	struct phase_open *o = NULL;

	for (uint32_t i = p->open_count; i-- > 0 && !o;) {
		if (p->open[i].thread == thread && p->rows[p->open[i].row].phase == phase)
			o = &p->open[i];
	}
	if (!o) {
		p->incomplete++;
		return;
	}
	if (o->whole)
		pause_times_add(&p->rows[o->row].times, p->now_ns - o->since_ns);
	else
		p->incomplete++;
	close_phase(p, o);
}

int phases_add(struct phases *p, const struct event *e)
{
	if (e->time_ns > p->now_ns)
		p->now_ns = e->time_ns;
	switch (e->id) {
	case EVENT_COLLECTION_BEGIN:
		return on_collection_begin(p, e);
	case EVENT_COLLECTION_END:
		return on_collection_end(p, e);
	case EVENT_GC_PHASE_BEGIN:
		return on_phase_begin(p, e);
	case EVENT_GC_PHASE_END:
		on_phase_end(p, e);
		return 0;
	default:
		return 0;
	}
}

void phases_hole(struct phases *p)
{
	p->incomplete += p->running_count + p->open_count;
	p->running_count = 0;
	p->open_count = 0;
}

uint32_t phases_now(const struct phases *p, uint64_t thread, bool worker)
{
	const struct phase_open *o = innermost(p, thread);

	for (uint32_t i = p->open_count; i-- > 0 && !o && worker;)
		if (p->open[i].kind == GC_PHASE_KIND_PAUSE)
			o = &p->open[i];
	return o ? o->row : INDEX_NONE;
}

void phases_finish(struct phases *p)
{
	phases_hole(p);
	p->first = INDEX_NONE;
	for (uint32_t i = p->row_map.count; i-- > 0;) {
		struct phase_row *row = &p->rows[i], *parent = NULL;
		uint32_t *first = &p->first;

		row->shown |= row->times.count > 0;
		if (!row->shown)
			continue;
		if (row->parent != INDEX_NONE) {
			parent = &p->rows[row->parent];
			parent->shown = true;
			first = &parent->first;
		}
		row->next = *first;
		*first = i;
	}
}

void phases_free(struct phases *p)
{
	keymap_free(&p->collection_map);
	keymap_free(&p->row_map);
	free(p->collections);
	free(p->rows);
	free(p->running);
	free(p->open);
	*p = (struct phases){0};
}

ROW_ZEROED(phases)

static int phases_row_add(void *self, const struct analysis_input *in)
{
	struct phases *p = self;

	row_catch_up(&p->now_ns, in);
	return phases_add(p, in->counted);
}

static int phases_row_hole(void *self, uint64_t from_ns, uint64_t to_ns)
{
	(void)from_ns;
	(void)to_ns;
	phases_hole(self);
	return 0;
}

static int phases_row_finish(void *self, uint64_t end_ns)
{
	(void)end_ns;
	phases_finish(self);
	return 0;
}

const struct analysis_row phases_analysis = {
	.events = ROW_EVENTS(EVENT_COLLECTION_BEGIN, EVENT_COLLECTION_END, EVENT_GC_PHASE_BEGIN,
			     EVENT_GC_PHASE_END),
	.new = phases_row_new,
	.add = phases_row_add,
	.hole = phases_row_hole,
	.finish = phases_row_finish,
	.free = phases_row_free,
};
