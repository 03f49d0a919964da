/*
 * A thread is a line of points in time, from each of which on its innermost span is another one.
 * Spans that are deeper than DEPTH_MAX belong to the one around them.
 */
#include "report/model/sections/commands/objects_spans.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/tables/keymap.h"
#include "log/format/event.h"
#include "log/read/names.h"

#define DEPTH_MAX 64

struct span_point {
	uint64_t ns;
	uint32_t name;
};

struct span_line {
	struct span_point *points;
	uint32_t count, capacity, depth;
	uint32_t open[DEPTH_MAX];
};

struct counted_name {
	const char *text; /* lent by names */
	uint64_t begins;
};

struct objects_spans {
	const struct log_names *names;
	struct keymap threads, texts, java; /* java: by id, 1 + the index of a line */
	struct span_line *lines;
	struct counted_name *named;
	uint32_t *line_of, lines_capacity, named_capacity, line_of_capacity;
};

struct objects_spans *objects_spans_new(const struct log_names *names)
{
	struct objects_spans *s = calloc(1, sizeof(*s));

	if (s)
		s->names = names;
	return s;
}

void objects_spans_free(struct objects_spans *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->threads.count; i++)
		free(s->lines[i].points);
	keymap_free(&s->threads);
	keymap_free(&s->texts);
	keymap_free(&s->java);
	free(s->lines);
	free(s->named);
	free(s->line_of);
	free(s);
}

/* From here on the innermost span is that of this name; 0: there is none. */
static int point(struct span_line *l, uint64_t ns)
{
	uint32_t depth = l->depth < DEPTH_MAX ? l->depth : DEPTH_MAX;
	uint32_t name = depth ? l->open[depth - 1] : 0;
	int err = array_grow(&l->points, &l->capacity, l->count, sizeof(*l->points));

	if (!err)
		l->points[l->count++] = (struct span_point){ns, name};
	return err;
}

static int begin(struct objects_spans *s, struct span_line *l, const struct event *e)
{
	const char *text = log_names_string(s->names, e->v[SPAN_BEGIN_NAME].u);
	uint32_t i;
	int err = keymap_add_row(&s->texts, (struct keymap_key){.a = e->v[SPAN_BEGIN_NAME].u},
				 &s->named, &s->named_capacity, sizeof(*s->named), &i);

	if (err)
		return err;
	s->named[i].text = text ? text : "(unknown)";
	s->named[i].begins++;
	if (l->depth < DEPTH_MAX)
		l->open[l->depth] = 1 + i;
	l->depth++;
	return point(l, e->time_ns);
}

int objects_spans_add(struct objects_spans *s, const struct event *e)
{
	struct span_line *l;
	uint32_t i;
	int err;

	if (e->id != EVENT_SPAN_BEGIN && e->id != EVENT_SPAN_END && e->id != EVENT_THREAD_END)
		return 0;
	err = keymap_add_row(&s->threads, (struct keymap_key){.a = e->thread}, &s->lines,
			     &s->lines_capacity, sizeof(*s->lines), &i);
	if (err)
		return err;
	l = &s->lines[i];
	if (e->id == EVENT_SPAN_BEGIN)
		return begin(s, l, e);
	if (!l->depth)
		return 0;
	l->depth = e->id == EVENT_SPAN_END ? l->depth - 1 : 0;
	return point(l, e->time_ns);
}

int objects_spans_hole(struct objects_spans *s, uint64_t from_ns)
{
	int err = 0;

	for (uint32_t i = 0; i < s->threads.count && !err; i++) {
		if (!s->lines[i].depth)
			continue;
		s->lines[i].depth = 0;
		err = point(&s->lines[i], from_ns);
	}
	return err;
}

int objects_spans_finish(struct objects_spans *s)
{
	int err = 0;

	for (uint32_t i = 0; i < s->threads.count && !err; i++) {
		const struct log_thread *t = log_names_thread(s->names, s->threads.keys[i].a);
		uint32_t k;

		if (!t || !t->java_id)
			continue;
		err = keymap_add_row(&s->java, (struct keymap_key){.a = t->java_id}, &s->line_of,
				     &s->line_of_capacity, sizeof(*s->line_of), &k);
		if (!err)
			s->line_of[k] = 1 + i;
	}
	return err;
}

static const struct span_line *line_of(const struct objects_spans *s, uint64_t java_tid)
{
	uint32_t k = keymap_find_number(&s->java, java_tid);

	return k == INDEX_NONE || !s->line_of[k] ? NULL : &s->lines[s->line_of[k] - 1];
}

/* How many points are not after a time. */
static uint32_t points_until(const struct span_line *l, uint64_t ns)
{
	uint32_t low = 0, high = l->count;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (l->points[mid].ns <= ns)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

uint32_t objects_spans_at(const struct objects_spans *s, uint64_t java_tid, uint64_t ns)
{
	const struct span_line *l = line_of(s, java_tid);
	uint32_t n = l ? points_until(l, ns) : 0;

	return n ? l->points[n - 1].name : 0;
}

bool objects_spans_change(const struct objects_spans *s, uint64_t java_tid, uint64_t from_ns,
			  uint64_t to_ns)
{
	const struct span_line *l = line_of(s, java_tid);

	return l && to_ns > from_ns && points_until(l, from_ns) != points_until(l, to_ns - 1);
}

const char *objects_spans_name(const struct objects_spans *s, uint32_t name)
{
	return s->named[name - 1].text;
}

uint64_t objects_spans_count(const struct objects_spans *s, uint32_t name)
{
	return s->named[name - 1].begins;
}
