/* Whether a span is slow is known when all have ended. */
#include "analyze/profile/in_spans.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/tables/array.h"
#include "log/format/event.h"
#include "log/read/names.h"

struct in_spans_thread {
	uint32_t depth;  /* spans that are open, of any name */
	uint32_t inside; /* the depth of the one that is wanted; 0: none */
	uint32_t span;
};

static int thread_row(struct in_spans *s, uint64_t thread, struct in_spans_thread **ret)
{
	uint32_t index;
	int err = keymap_add_row(&s->thread_map, (struct keymap_key){.a = thread}, &s->threads,
				 &s->threads_capacity, sizeof(*s->threads), &index);

	if (!err)
		*ret = &s->threads[index];
	return err;
}

static bool is_named(const struct in_spans *s, uint64_t name)
{
	const char *text = name ? log_names_string(s->options.names, name) : "";

	return text && !fnmatch(s->options.pattern, text, 0);
}

static int begin(struct in_spans *s, struct in_spans_thread *t, const struct event *e,
		 uint64_t cpu_ns)
{
	int err = array_grow(&s->spans, &s->spans_capacity, s->span_count, sizeof(*s->spans));

	if (err)
		return err;
	t->inside = t->depth;
	t->span = s->span_count++;
	s->spans[t->span] = (struct marked_span){
		.thread = e->thread,
		.begin_ns = e->time_ns,
		.cpu_ns = cpu_ns,
		.name = e->v[SPAN_BEGIN_NAME].u,
	};
	return 0;
}

static void end(struct in_spans *s, struct in_spans_thread *t, const struct event *e,
		uint64_t cpu_ns)
{
	struct marked_span *span = &s->spans[t->span];

	if (t->depth && t->depth == t->inside) {
		span->ended = true;
		span->ns = e->time_ns > span->begin_ns ? e->time_ns - span->begin_ns : 0;
		span->cpu_ns = cpu_ns > span->cpu_ns ? cpu_ns - span->cpu_ns : 0;
		t->inside = 0;
	}
	t->depth -= t->depth != 0;
}

int in_spans_add(struct in_spans *s, const struct event *e, uint64_t cpu_ns, bool *ret)
{
	struct in_spans_thread *t;
	int err = thread_row(s, e->thread, &t);

	if (err)
		return err;
	if (e->id == EVENT_SPAN_END) {
		end(s, t, e, cpu_ns);
		return 0;
	}
	t->depth++;
	if (t->inside || !is_named(s, e->v[SPAN_BEGIN_NAME].u))
		return 0;
	err = begin(s, t, e, cpu_ns);
	*ret = !err;
	return err;
}

bool in_spans_now(const struct in_spans *s, uint64_t thread, uint32_t *ret)
{
	uint32_t row = keymap_find(&s->thread_map, (struct keymap_key){.a = thread});

	if (row == INDEX_NONE || !s->threads[row].inside)
		return false;
	*ret = s->threads[row].span;
	return true;
}

void in_spans_hole(struct in_spans *s)
{
	for (uint32_t i = 0; i < s->thread_map.count; i++)
		s->threads[i] = (struct in_spans_thread){0};
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

int in_spans_finish(struct in_spans *s)
{
	uint64_t *times = calloc(s->span_count + 1, sizeof(*times));

	if (!times)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->span_count; i++)
		if (s->spans[i].ended)
			times[s->ended++] = s->spans[i].ns;
	qsort(times, s->ended, sizeof(*times), compare);
	s->least_ns = s->options.least_ns;
	if (s->ended && s->options.least_per_mille)
		s->least_ns = times[(uint64_t)s->ended * s->options.least_per_mille / 1000];
	free(times);
	for (uint32_t i = 0; i < s->span_count; i++)
		s->chosen += in_spans_is_chosen(s, i);
	return 0;
}

bool in_spans_is_chosen(const struct in_spans *s, uint32_t span)
{
	return s->spans[span].ended && s->spans[span].ns >= s->least_ns;
}

void in_spans_free(struct in_spans *s)
{
	keymap_free(&s->thread_map);
	free(s->threads);
	free(s->spans);
	*s = (struct in_spans){0};
}
