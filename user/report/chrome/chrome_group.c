#include "report/chrome/chrome_group.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/chrome/chrome_internal.h"

#define ROWS_MAX 4096 /* are kept while one is open that they may be in */

struct chrome_group *chrome_group_new(struct chrome *c, const char *name, uint64_t sort,
				      const struct chrome_putter *put)
{
	struct chrome_group *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->name = strdup(name);
	if (!g->name) {
		free(g);
		return NULL;
	}
	g->sort = sort;
	g->put = put;
	g->used = &c->used;
	g->next = c->groups;
	c->groups = g;
	return g;
}

void chrome_groups_free(struct chrome *c)
{
	struct chrome_group *g, *next;

	for (g = c->groups; g; g = next) {
		next = g->next;
		free(g->name);
		free(g->rows);
		free(g);
	}
	c->groups = NULL;
}

int chrome_group_add(struct chrome_group *g, const struct chrome_row *row)
{
	int err = array_grow(&g->rows, &g->capacity, g->count, sizeof(*g->rows));

	if (err)
		return err;
	if (!g->is_used) {
		g->is_used = true;
		g->next_used = *g->used;
		*g->used = g;
	}
	g->rows[g->count++] = *row;
	if (row->open) {
		g->rows[g->count - 1].outer = g->innermost;
		g->innermost = g->count;
		g->open++;
	}
	return 0;
}

struct chrome_row *chrome_group_outer(struct chrome_group *g, const struct chrome_row *row)
{
	uint32_t at = row ? row->outer : g->innermost;

	while (at && !g->rows[at - 1].open)
		at = g->rows[at - 1].outer;
	return at ? &g->rows[at - 1] : NULL;
}

struct chrome_row *chrome_group_open(struct chrome_group *g, uint64_t name)
{
	uint32_t *at = &g->innermost;

	while (*at) {
		struct chrome_row *row = &g->rows[*at - 1];

		if (!row->open) { /* closed since, and out of the list now */
			*at = row->outer;
			continue;
		}
		if (!name || row->name == name)
			return row;
		at = &row->outer;
	}
	return NULL;
}

void chrome_group_close(struct chrome_group *g, struct chrome_row *row, uint64_t end_ns)
{
	row->open = false;
	row->end_ns = end_ns;
	g->open--;
}

uint32_t chrome_group_lose(struct chrome_group *g, struct chrome_row *row, uint64_t end_ns)
{
	uint32_t open = g->open;

	while (g->innermost && g->rows + g->innermost > row) {
		struct chrome_row *last = &g->rows[g->innermost - 1];

		g->innermost = last->outer;
		if (!last->open)
			continue;
		last->lost = true;
		chrome_group_close(g, last, end_ns);
	}
	return open - g->open;
}

static bool is_shown(const struct chrome *c, const struct chrome_row *r)
{
	uint64_t least = c->options.min_ns ? c->options.min_ns : 1;

	return !r->open && r->end_ns - r->begin_ns >= least && r->end_ns > c->options.from_ns &&
	       r->begin_ns < c->options.until_ns;
}

static uint64_t track_of(struct chrome *c, struct chrome_group *g, uint32_t lane)
{
	char name[LABEL_MAX];

	if (g->tracks[lane])
		return g->tracks[lane];
	g->tracks[lane] = c->next_track++;
	if (lane)
		snprintf(name, sizeof(name), "%s (%u)", g->name, lane + 1);
	else
		snprintf(name, sizeof(name), "%s", g->name);
	chrome_track(&c->out, g->tracks[lane], name, g->sort);
	return g->tracks[lane];
}

static void put_end(struct chrome *c, struct chrome_group *g, const struct lane_slice *s)
{
	chrome_event(&c->out, 'E', g->tracks[s->lane],
		     s->end_ns < c->options.until_ns ? s->end_ns : c->options.until_ns);
	g->put->name(c, &g->rows[s->item]);
	chrome_done(&c->out);
}

static void put_begin(struct chrome *c, struct chrome_group *g, const struct lane_slice *s)
{
	uint64_t track = track_of(c, g, s->lane);

	chrome_event(&c->out, 'B', track,
		     s->begin_ns > c->options.from_ns ? s->begin_ns : c->options.from_ns);
	g->put->name(c, &g->rows[s->item]);
	g->put->rest(c, &g->rows[s->item]);
	chrome_done(&c->out);
}

/* Ends of what a lane has open, up to the slice that the next one is in. */
static void put_ends(struct chrome *c, struct chrome_group *g, const struct lane_slice *slices,
		     uint32_t *innermost, uint32_t parent)
{
	for (; *innermost != LANES_NONE && *innermost != parent;
	     *innermost = slices[*innermost].parent)
		put_end(c, g, &slices[*innermost]);
}

static void put_slices(struct chrome *c, struct chrome_group *g, const struct lane_slice *slices,
		       uint32_t count)
{
	uint32_t innermost[LANES_MAX];

	memset(innermost, 0xff, sizeof(innermost));
	for (uint32_t i = 0; i < count; i++) {
		uint32_t lane = slices[i].lane;

		if (lane == LANES_NONE) {
			c->facts.half_seen++;
			continue;
		}
		put_ends(c, g, slices, &innermost[lane], slices[i].parent);
		put_begin(c, g, &slices[i]);
		innermost[lane] = i;
	}
	for (uint32_t lane = 0; lane < LANES_MAX; lane++)
		put_ends(c, g, slices, &innermost[lane], LANES_NONE);
}

static int put_out(struct chrome *c, struct chrome_group *g)
{
	struct lane_slice *slices = malloc((g->count + 1) * sizeof(*slices));
	uint32_t count = 0, left = 0;

	if (!slices)
		return -ENOMEM;
	for (uint32_t i = 0; i < g->count; i++) {
		const struct chrome_row *r = &g->rows[i];

		if (!g->hidden && is_shown(c, r))
			slices[count++] = (struct lane_slice){
				.begin_ns = r->begin_ns, .end_ns = r->end_ns, .item = i};
	}
	lanes_pack(slices, count);
	put_slices(c, g, slices, count);
	free(slices);
	g->innermost = 0;
	for (uint32_t i = 0; i < g->count; i++) {
		if (!g->rows[i].open)
			continue;
		g->rows[left] = g->rows[i];
		g->rows[left].outer = g->innermost;
		g->innermost = ++left;
	}
	g->count = left;
	return 0;
}

int chrome_group_settle(struct chrome *c, struct chrome_group *g)
{
	if (!g->count || (g->open && g->count - g->open < ROWS_MAX))
		return 0;
	return put_out(c, g);
}

int chrome_group_finish(struct chrome *c, struct chrome_group *g, uint64_t end_ns)
{
	for (uint32_t i = 0; i < g->count; i++) {
		if (!g->rows[i].open)
			continue;
		g->rows[i].open_end = true;
		chrome_group_close(g, &g->rows[i], end_ns);
	}
	return g->count ? put_out(c, g) : 0;
}
