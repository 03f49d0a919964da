/*
 * A condition is asked once of all objects that its aspects do not distinguish: of a site, class,
 * thread, length, as far as the condition names them.
 */
#include "report/model/sections/commands/objects_filter.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/tables/keymap.h"
#include "base/text/units.h"
#include "heap/replay/object_replay.h"
#include "log/format/object_record.h"
#include "report/model/sections/commands/objects_spans.h"

#define NAME_BYTES 4096

enum { PART_NO_ARRAY, PART_EMPTY }; /* of --by length; then 1, 2 to 3, 4 to 7, ... */

struct objects_filter {
	struct objects_filter_options o;
	struct object_choice choice;
	bool uses[OBJECTS_BY_COUNT];
	struct keymap asked;
	bool *answers;
	struct keymap second_map;
	struct objects_second *seconds;
	uint32_t answers_capacity, seconds_capacity;
	int err;
};

static char *length_text(uint32_t part, char *buf, size_t size)
{
	uint64_t least = part > PART_EMPTY ? 1ull << (part - PART_EMPTY - 1) : 0;

	if (part == PART_NO_ARRAY)
		snprintf(buf, size, "(no array)");
	else if (part <= PART_EMPTY + 1)
		snprintf(buf, size, "%u", part - PART_EMPTY);
	else
		snprintf(buf, size, "%" PRIu64 " to %" PRIu64, least, 2 * least - 1);
	return buf;
}

/* --- conditions --------------------------------------------------------------------------- */

static bool is_aspect(int by)
{
	return by != OBJECTS_BY_COLLECTION && by != OBJECTS_BY_SECOND;
}

static int find_aspect(const void *ctx, const char *name, size_t length)
{
	(void)ctx;
	for (int by = 0; by < OBJECTS_BY_COUNT; by++)
		if (is_aspect(by) && strlen(objects_by_names[by]) == length &&
		    !memcmp(objects_by_names[by], name, length))
			return by;
	return -1;
}

static const char *aspect_name(const void *ctx, int n)
{
	(void)ctx;
	for (int by = 0; by < OBJECTS_BY_COUNT; by++)
		if (is_aspect(by) && !n--)
			return objects_by_names[by];
	return NULL;
}

int objects_where_parse(const char *text, struct condition **ret, char error[CONDITION_ERROR_MAX])
{
	static const struct condition_names names = {.noun = "an aspect",
						     .example = "class=*Table*",
						     .find = find_aspect,
						     .name = aspect_name};

	return condition_parse(text, &names, ret, error);
}

bool objects_where_has_spans(const struct condition *where)
{
	unsigned at = 0;
	int by;

	while ((by = condition_next_name(where, &at)) >= 0)
		if (by == OBJECTS_BY_SPAN)
			return true;
	return false;
}

struct subject {
	const struct objects_filter *f;
	const struct object_birth *b;
	uint32_t span;
};

static uint32_t length_part(const struct object_birth *b)
{
	uint32_t bits = 0;

	if (!b->is_array)
		return PART_NO_ARRAY;
	while (b->length >> bits)
		bits++;
	return PART_EMPTY + bits;
}

static bool any_frame(const struct object_names *n, uint32_t site, const char *glob)
{
	uint32_t count = site == INDEX_NONE ? 0 : n->sites[site].frame_count, i = 0;
	char text[NAME_BYTES];

	do {
		if (!fnmatch(glob, object_method_text(n, site, i, text, sizeof(text)), 0))
			return true;
	} while (++i < count);
	return false;
}

static bool length_is(const struct subject *s, const char *glob)
{
	char text[64];

	if (!fnmatch(glob, length_text(length_part(s->b), text, sizeof(text)), 0))
		return true;
	snprintf(text, sizeof(text), "%" PRIu64, s->b->length);
	return s->b->is_array && !fnmatch(glob, text, 0);
}

static bool is(void *ctx, int aspect, const char *glob)
{
	const struct subject *s = ctx;
	const struct object_names *n = object_replay_names(s->f->o.replay);
	const struct object_birth *b = s->b;
	char text[NAME_BYTES];

	switch ((enum objects_by)aspect) {
	case OBJECTS_BY_CLASS:
		return !fnmatch(glob, object_class_text(n, b->class, text, sizeof(text)), 0);
	case OBJECTS_BY_SITE:
		return !fnmatch(glob, object_frame_text(n, b->site, 0, text, sizeof(text)), 0);
	case OBJECTS_BY_METHOD:
		return !fnmatch(glob, object_method_text(n, b->site, 0, text, sizeof(text)), 0);
	case OBJECTS_BY_CHAIN:
		return any_frame(n, b->site, glob);
	case OBJECTS_BY_THREAD:
		return !fnmatch(glob, objects_thread_name(s->f->o.names, b->thread->java_tid), 0);
	case OBJECTS_BY_TIER:
		return !fnmatch(glob, object_code_text(n, b->site), 0);
	case OBJECTS_BY_TLAB:
		return !fnmatch(glob, b->in_tlab ? "yes" : "no", 0);
	case OBJECTS_BY_LENGTH:
		return length_is(s, glob);
	case OBJECTS_BY_SPAN:
		return !fnmatch(glob, s->span ? objects_spans_name(s->f->o.spans, s->span) : "", 0);
	default:
		return false;
	}
}

/* All objects of which this is the same have one answer. */
static struct keymap_key question(const struct objects_filter *f, const struct object_birth *b,
				  uint32_t span)
{
	const bool *uses = f->uses;
	struct keymap_key key = {.f = 1};

	if (uses[OBJECTS_BY_CLASS])
		key.a = 1 + (uint64_t)b->class;
	if (uses[OBJECTS_BY_SITE] || uses[OBJECTS_BY_METHOD] || uses[OBJECTS_BY_CHAIN] ||
	    uses[OBJECTS_BY_TIER])
		key.b = 1 + (uint64_t)b->site;
	if (uses[OBJECTS_BY_THREAD])
		key.c = 1 + (uint64_t)b->stream;
	if (uses[OBJECTS_BY_LENGTH] && b->is_array)
		key.d = 1 + b->length;
	key.e = (uint64_t)span << 1 | (uses[OBJECTS_BY_TLAB] && b->in_tlab);
	return key;
}

static bool holds(struct objects_filter *f, const struct object_birth *b, uint32_t span)
{
	struct subject s = {f, b, span};
	struct keymap_key key = question(f, b, span);
	uint32_t known = f->asked.count, i;

	if (keymap_add_row(&f->asked, key, &f->answers, &f->answers_capacity, sizeof(*f->answers),
			   &i)) {
		f->err = -ENOMEM;
		return false;
	}
	if (i == known)
		f->answers[i] = condition_holds(f->o.where, is, &s);
	return f->answers[i];
}

/* --- parts -------------------------------------------------------------------------------- */

static bool has_range(const struct objects_filter *f)
{
	return (f->o.from_ns || f->o.to_ns != UINT64_MAX) && f->o.by != OBJECTS_BY_COLLECTION;
}

static bool in_range(const struct objects_filter *f, uint64_t ns)
{
	return !has_range(f) || (ns >= f->o.from_ns && ns < f->o.to_ns);
}

static int64_t second_of(const struct objects_filter *f, uint64_t ns)
{
	if (ns >= f->o.begin_ns)
		return (int64_t)((ns - f->o.begin_ns) / NS_PER_S);
	return -(int64_t)((f->o.begin_ns - ns - 1) / NS_PER_S) - 1;
}

static void add_second(struct objects_filter *f, const struct object_birth *b)
{
	int64_t second = second_of(f, b->from_ns);
	uint32_t i;

	if (b->was_found)
		return;
	if (keymap_add_row(&f->second_map, (struct keymap_key){.a = (uint64_t)second, .b = 1},
			   &f->seconds, &f->seconds_capacity, sizeof(*f->seconds), &i)) {
		f->err = -ENOMEM;
		return;
	}
	f->seconds[i].second = second;
	f->seconds[i].count++;
	f->seconds[i].bytes += b->bytes;
}

static uint32_t span_at(const struct objects_filter *f, const struct object_birth *b)
{
	if (!f->uses[OBJECTS_BY_SPAN] || !f->o.spans || b->was_found)
		return 0;
	return objects_spans_at(f->o.spans, (uint64_t)b->thread->java_tid, b->from_ns);
}

static uint32_t part(void *ctx, const struct object_birth *b, bool *ret_by_time)
{
	struct objects_filter *f = ctx;
	uint32_t span = span_at(f, b);
	bool chosen = !f->o.where || holds(f, b, span);

	*ret_by_time = (chosen && (has_range(f) || f->o.by == OBJECTS_BY_SECOND)) ||
		       f->uses[OBJECTS_BY_SPAN];
	if (!chosen || (!b->was_found && !in_range(f, b->from_ns)))
		return OBJECT_PART_NONE;
	switch (f->o.by) {
	case OBJECTS_BY_SECOND:
		add_second(f, b);
		return 0;
	case OBJECTS_BY_SPAN:
		return span;
	case OBJECTS_BY_TLAB:
		return b->in_tlab;
	case OBJECTS_BY_LENGTH:
		return length_part(b);
	default:
		return 0;
	}
}

static bool edge(void *ctx, const struct object_birth *b, uint64_t to_ns)
{
	const struct objects_filter *f = ctx;
	uint64_t from = b->from_ns, last = to_ns - 1;

	if (has_range(f) && (in_range(f, from) != in_range(f, last) ||
			     (from < f->o.from_ns && last >= f->o.to_ns)))
		return true;
	if (f->o.by == OBJECTS_BY_SECOND && second_of(f, from) != second_of(f, last))
		return true;
	return f->uses[OBJECTS_BY_SPAN] && f->o.spans &&
	       objects_spans_change(f->o.spans, (uint64_t)b->thread->java_tid, from, to_ns);
}

struct objects_filter *objects_filter_new(const struct objects_filter_options *o)
{
	struct objects_filter *f = calloc(1, sizeof(*f));
	unsigned at = 0;
	int by;

	if (!f)
		return NULL;
	f->o = *o;
	f->choice = (struct object_choice){part, edge, f};
	f->uses[o->by] = true;
	while (o->where && (by = condition_next_name(o->where, &at)) >= 0)
		f->uses[by] = true;
	return f;
}

void objects_filter_free(struct objects_filter *f)
{
	if (!f)
		return;
	keymap_free(&f->asked);
	keymap_free(&f->second_map);
	free(f->answers);
	free(f->seconds);
	free(f);
}

const struct object_choice *objects_filter_choice(const struct objects_filter *f)
{
	return &f->choice;
}

int objects_filter_error(const struct objects_filter *f)
{
	return f->err;
}

const struct objects_filter_options *objects_filter_options(const struct objects_filter *f)
{
	return &f->o;
}

bool objects_filter_has(const struct objects_filter *f, const struct object_collection *c)
{
	return c->begin_ns >= f->o.from_ns && c->end_ns <= f->o.to_ns;
}

uint64_t objects_filter_spans(const struct objects_filter *f, uint32_t part)
{
	return part && f->o.by == OBJECTS_BY_SPAN ? objects_spans_count(f->o.spans, part) : 0;
}

static int compare_seconds(const void *a, const void *b)
{
	const struct objects_second *x = a, *y = b;

	return (x->second > y->second) - (x->second < y->second);
}

const struct objects_second *objects_filter_seconds(struct objects_filter *f, uint32_t *ret_count)
{
	*ret_count = f->second_map.count;
	if (*ret_count)
		qsort(f->seconds, *ret_count, sizeof(*f->seconds), compare_seconds);
	return f->seconds;
}

char *objects_part_text(const struct objects_filter *f, uint32_t part, char *buf, size_t size)
{
	if (f->o.by == OBJECTS_BY_SPAN)
		snprintf(buf, size, "%s",
			 part ? objects_spans_name(f->o.spans, part) : "(no span)");
	else if (f->o.by == OBJECTS_BY_TLAB)
		snprintf(buf, size, "%s", part ? "in a TLAB" : "outside of TLABs");
	else
		length_text(part, buf, size);
	return buf;
}
