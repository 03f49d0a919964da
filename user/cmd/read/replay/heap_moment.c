#include "cmd/read/replay/heap_moment.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/msg.h"
#include "base/text/units.h"
#include "heap/replay/object_replay.h"

#define DUMP_CAUSE "Heap Dump" /* how HotSpot's causes of it begin */

bool heap_moment_parse(const char *arg, struct heap_moment *ret)
{
	static const struct {
		const char *name;
		enum heap_moment_kind kind;
	} words[] = {{"dump", MOMENT_DUMP},
		     {"begin", MOMENT_BEGIN},
		     {"end", MOMENT_END},
		     {"peak", MOMENT_PEAK}},
	  numbered[] = {{"gc:", MOMENT_GC_END}, {"before:", MOMENT_GC_BEGIN}};
	char *end;

	*ret = (struct heap_moment){0};
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		ret->kind = words[i].kind;
		if (!strcmp(arg, words[i].name))
			return true;
	}
	for (size_t i = 0; i < sizeof(numbered) / sizeof(*numbered); i++) {
		size_t length = strlen(numbered[i].name);

		if (strncmp(arg, numbered[i].name, length) != 0 || arg[length] < '0' ||
		    arg[length] > '9')
			continue;
		errno = 0;
		ret->number = strtoull(arg + length, &end, 10);
		ret->kind = numbered[i].kind;
		return !*end && !errno;
	}
	ret->kind = MOMENT_TIME;
	return !duration_parse(arg, &ret->number);
}

static uint32_t last_before(const struct object_replay *r, uint64_t ns, uint32_t count)
{
	const struct object_collection *c = object_replay_collections(r, &count);
	uint64_t begin = object_replay_sums(r)->begin_ns;
	uint32_t i = count;

	while (i-- > 0 && (c[i].end_ns < begin || c[i].end_ns - begin > ns))
		;
	return i;
}

/* When that is, and how far from what was asked for: a heap is whole at collections only. */
static void stop_time(const struct heap_moment *m, const struct object_replay *r,
		      struct heap_stop *s)
{
	uint32_t count;
	const struct object_collection *c = object_replay_collections(r, &count) + s->collection;
	uint64_t begin = object_replay_sums(r)->begin_ns, ns = s->before ? c->begin_ns : c->end_ns;

	if (!s->has_collection || !begin || ns < begin)
		return;
	s->at_ns = ns - begin;
	if (m->kind == MOMENT_TIME)
		s->early_ns = m->number - s->at_ns;
}

static void find_peak(const struct object_collection *c, uint32_t count, uint64_t end_bytes,
		      struct heap_stop *ret)
{
	uint64_t most = end_bytes;

	for (uint32_t i = 0; i < count; i++) {
		if (c[i].before_bytes > most)
			*ret = (struct heap_stop){true, i, true, 0, 0};
		most = c[i].before_bytes > most ? c[i].before_bytes : most;
	}
}

static int say_none(const struct heap_moment *m, const char *log)
{
	if (m->kind == MOMENT_GRAPH)
		msg_error("%s has no pointers, which that needs: record them with spoor record "
			  "--objects --objects-pointers=all, or take a heap dump",
			  log);
	else if (m->kind == MOMENT_DUMP)
		msg_error("%s has no collection that a heap dump has asked for, as jcmd PID "
			  "GC.heap_dump does: say with --at gc:N or --at end of which moment the "
			  "dump is; spoor objects --by collection shows the collections",
			  log);
	else if (m->kind == MOMENT_TIME)
		msg_error("%s has no collection that early; spoor objects --by collection shows "
			  "those that it has",
			  log);
	else
		msg_error("%s has no collection %" PRIu64 "; spoor objects --by collection shows "
			  "those that it has",
			  log, m->number);
	return -ENOENT;
}

static bool is_meant(const struct heap_moment *m, const struct object_collection *c)
{
	if (m->kind == MOMENT_DUMP)
		return !strncmp(c->cause, DUMP_CAUSE, strlen(DUMP_CAUSE));
	return m->kind == MOMENT_GRAPH ? c->graph_bytes != 0 : c->id == m->number;
}

int heap_moment_find(const struct heap_moment *m, const struct object_replay *r, const char *log,
		     struct heap_stop *ret)
{
	uint32_t count, i;
	const struct object_collection *c = object_replay_collections(r, &count);

	*ret = (struct heap_stop){0};
	if (m->kind == MOMENT_END || m->kind == MOMENT_BEGIN)
		return 0;
	if (m->kind == MOMENT_PEAK) {
		find_peak(c, count, object_replay_sums(r)->live_bytes, ret);
		stop_time(m, r, ret);
		return 0;
	}
	if (m->kind == MOMENT_TIME) {
		i = last_before(r, m->number, count);
	} else {
		for (i = count; i-- > 0;)
			if (is_meant(m, &c[i]))
				break;
	}
	if (i == UINT32_MAX)
		return say_none(m, log);
	*ret = (struct heap_stop){true, i, m->kind == MOMENT_GC_BEGIN, 0, 0};
	stop_time(m, r, ret);
	return 0;
}
