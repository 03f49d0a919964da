#include "analyze/park/pins.h"

#include <stdlib.h>

#include "analyze/row.h"

static void level_end(struct pins *p)
{
	struct pin_level *l;

	if (!p->now)
		return;
	l = p->now <= PIN_LEVELS_MAX ? &p->levels[p->now - 1] : NULL;
	p->now--;
	if (l)
		pause_times_add(&l->times, p->now_ns - l->since_ns);
}

static int level_begin(struct pins *p)
{
	uint32_t level = p->now;

	if (level < PIN_LEVELS_MAX && level == p->level_count) {
		int err = array_grow(&p->levels, &p->levels_capacity, level, sizeof(*p->levels));

		if (err)
			return err;
		p->level_count++;
	}
	if (level < PIN_LEVELS_MAX)
		p->levels[level].since_ns = p->now_ns;
	p->now++;
	return 0;
}

/* Whatever the thread was pinned in is over. counts: and was seen to its end. */
static void unpin(struct pins *p, struct pin_open *o, bool counts)
{
	if (o->row == INDEX_NONE)
		return;
	if (counts)
		pause_times_add(&p->rows[o->row].times, p->now_ns - o->since_ns);
	o->row = INDEX_NONE;
	level_end(p);
}

static int pin(struct pins *p, uint64_t thread, uint64_t lock, enum pin_reason reason)
{
	uint32_t at, row, known = p->open_map.count;
	int err = keymap_add_row(&p->open_map, (struct keymap_key){.a = thread}, &p->open,
				 &p->open_capacity, sizeof(*p->open), &at);

	if (err)
		return err;
	if (at == known)
		p->open[at].row = INDEX_NONE;
	unpin(p, &p->open[at], false);
	err = keymap_add_row(&p->row_map, (struct keymap_key){.a = lock, .b = reason}, &p->rows,
			     &p->rows_capacity, sizeof(*p->rows), &row);
	if (err)
		return err;
	p->rows[row].lock = lock;
	p->rows[row].reason = reason;
	p->open[at] = (struct pin_open){.since_ns = p->now_ns, .row = row};
	return level_begin(p);
}

static int carrier_add(struct pins *p, uint64_t carrier)
{
	uint32_t at;
	int err = keymap_add_row(&p->carrier_map, (struct keymap_key){.a = carrier}, &p->carriers,
				 &p->carriers_capacity, sizeof(*p->carriers), &at);

	if (!err)
		p->carriers[at] = carrier;
	return err;
}

static int begin(struct pins *p, const struct event *e, unsigned lock, uint64_t carrier,
		 bool pinned, enum pin_reason reason)
{
	int err = carrier ? carrier_add(p, carrier) : 0;

	return err || !carrier || !pinned ? err : pin(p, e->thread, e->v[lock].u, reason);
}

int pins_add(struct pins *p, const struct event *e)
{
	uint32_t at;

	if (e->time_ns > p->now_ns)
		p->now_ns = e->time_ns;
	switch (e->id) {
	case EVENT_MONITOR_CONTENDED_ENTER:
		return begin(p, e, MONITOR_CONTENDED_ENTER_LOCK,
			     e->v[MONITOR_CONTENDED_ENTER_CARRIER].u,
			     e->v[MONITOR_CONTENDED_ENTER_PINNED].u, PIN_MONITOR);
	case EVENT_MONITOR_WAIT_BEGIN:
		return begin(p, e, MONITOR_WAIT_BEGIN_LOCK, e->v[MONITOR_WAIT_BEGIN_CARRIER].u,
			     e->v[MONITOR_WAIT_BEGIN_PINNED].u, PIN_WAIT);
	case EVENT_PARK_BEGIN: /* one that unmounts has no carrier */
		return begin(p, e, PARK_BEGIN_LOCK, e->v[PARK_BEGIN_CARRIER].u, true, PIN_PARK);
	case EVENT_MONITOR_CONTENDED_ENTERED:
	case EVENT_MONITOR_WAIT_END:
	case EVENT_PARK_END:
		at = keymap_find(&p->open_map, (struct keymap_key){.a = e->thread});
		if (at != INDEX_NONE)
			unpin(p, &p->open[at], true);
		return 0;
	default:
		return 0;
	}
}

void pins_finish(struct pins *p, uint64_t end_ns)
{
	if (end_ns > p->now_ns)
		p->now_ns = end_ns;
	for (uint32_t i = 0; i < p->open_map.count; i++)
		unpin(p, &p->open[i], true);
}

struct pause_times pins_at_least(const struct pins *p, uint32_t count)
{
	return count && count <= p->level_count ? p->levels[count - 1].times
						: (struct pause_times){0};
}

void pins_free(struct pins *p)
{
	keymap_free(&p->row_map);
	keymap_free(&p->open_map);
	keymap_free(&p->carrier_map);
	free(p->rows);
	free(p->open);
	free(p->carriers);
	free(p->levels);
	*p = (struct pins){0};
}

ROW_ZEROED(pins)

static int pins_row_add(void *self, const struct analysis_input *in)
{
	return pins_add(self, in->counted);
}

/* What was open then may have ended meanwhile. */
static int pins_row_hole(void *self, uint64_t from_ns, uint64_t to_ns)
{
	struct pins *p = self;

	(void)to_ns;
	if (from_ns > p->now_ns)
		p->now_ns = from_ns;
	for (uint32_t i = 0; i < p->open_map.count; i++)
		unpin(p, &p->open[i], false);
	return 0;
}

static int pins_row_finish(void *self, uint64_t end_ns)
{
	pins_finish(self, end_ns);
	return 0;
}

const struct analysis_row pins_analysis = {
	.events = ROW_EVENTS(EVENT_MONITOR_CONTENDED_ENTER, EVENT_MONITOR_CONTENDED_ENTERED,
			     EVENT_MONITOR_WAIT_BEGIN, EVENT_MONITOR_WAIT_END, EVENT_PARK_BEGIN,
			     EVENT_PARK_END),
	.new = pins_row_new,
	.add = pins_row_add,
	.hole = pins_row_hole,
	.finish = pins_row_finish,
	.free = pins_row_free,
};
