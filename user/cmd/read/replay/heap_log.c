#include "cmd/read/replay/heap_log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/msg.h"
#include "base/text/strbuf.h"
#include "cmd/read/replay/class_path.h"
#include "cmd/read/replay/object_log.h"
#include "cmd/read/replay/pool_compare.h"
#include "heap/replay/object_replay.h"
#include "heap/snapshot/graph_state.h"

#define GRAPHS_NAMED 8
#define HEAP_BYTES (64ull << 30) /* for the map of the heap; --max-memory allows less */

struct object_replay *heap_log_new(void)
{
	return object_replay_new(HEAP_BYTES);
}

int heap_log_read(const char *log, unsigned jobs, struct object_replay *r)
{
	struct object_in_stats stats;
	int err = object_log_replay(log, jobs, r, &stats);

	if (err) {
		msg_error("%s: cannot read its object events: %s", log, object_log_error(err));
		return err;
	}
	if (!object_replay_sums(r)->has_ring) {
		msg_error("%s has no object events: spoor record --objects records them", log);
		return -ENODATA;
	}
	if (object_replay_sums(r)->heap_given_up) {
		msg_error("%s: its heap is larger than what can be held; --max-memory may allow "
			  "more",
			  log);
		return -ENOMEM;
	}
	return stats.damaged || stats.missing;
}

/* Reads it anew, up to there. */
static int read_until(const char *log, const struct heap_log_options *o,
		      const struct heap_stop *stop, struct object_replay **ret)
{
	struct object_replay *r = heap_log_new();

	object_replay_free(*ret);
	*ret = r;
	if (!r)
		return -ENOMEM;
	if (o->threads)
		object_replay_by_thread(r);
	object_replay_stop(r, stop->collection, stop->before);
	object_replay_keep_graph(r);
	return heap_log_read(log, o->jobs, r);
}

static bool has_graph(const struct object_replay *r, const struct heap_stop *stop)
{
	uint32_t count;
	const struct object_collection *c = object_replay_collections(r, &count);

	return stop->has_collection && !stop->before && c[stop->collection].graph_bytes;
}

/* Which ones have pointers; the last ones, if there are many. */
static int say_others(const char *log, const struct object_replay *r)
{
	char text[GRAPHS_NAMED * 32] = "";
	uint32_t count, named = 0;
	const struct object_collection *c = object_replay_collections(r, &count);

	for (uint32_t i = count; i-- > 0 && named < GRAPHS_NAMED;)
		if (c[i].graph_bytes) {
			buffer_add(text, sizeof(text), "%s--at gc:%" PRIu64, named ? ", " : "",
				   c[i].id);
			named++;
		}
	if (named)
		msg_error("%s has no pointers of that moment; it has them of %s", log, text);
	else
		msg_error("%s has no pointers, which that needs: record them with spoor record "
			  "--objects --objects-pointers=all, or take a heap dump",
			  log);
	return -ENOENT;
}

/* The whole log, whose collections are compared with the JVM's pools meanwhile. */
static int read_whole(const char *log, const struct heap_log_options *o, struct heap_log *ret)
{
	struct pool_compare compare;
	int damaged = 0, err = pool_compare_begin(&compare, log, true, ret->replay);

	if (err)
		msg_error("%s: cannot read its events: %s", log, object_log_error(err));
	if (!err && o->threads)
		object_replay_by_thread(ret->replay);
	if (!err)
		err = damaged = heap_log_read(log, o->jobs, ret->replay);
	if (err >= 0) {
		err = pool_compare_finish(&compare);
		if (err)
			msg_error("%s: %s", log, object_log_error(err));
	}
	ret->agreement = pool_compare_agreement(&compare);
	pool_compare_free(&compare);
	return err ? err : damaged;
}

static bool has_any_graph(const struct object_replay *r)
{
	uint32_t count;
	const struct object_collection *c = object_replay_collections(r, &count);

	while (count && !c[count - 1].graph_bytes)
		count--;
	return count != 0;
}

static int find_moment(const char *log, const struct heap_log_options *o, struct heap_log *l)
{
	static const struct heap_moment last_graph = {.kind = MOMENT_GRAPH};
	bool graph = o->graph || (o->graph_if_any && has_any_graph(l->replay));
	const struct heap_moment *at = graph && !o->at ? &last_graph : o->at;
	int err = at ? heap_moment_find(at, l->replay, log, &l->stop) : 0;

	l->graph = !err && graph && has_graph(l->replay, &l->stop);
	return !err && o->graph && !l->graph ? say_others(log, l->replay) : err;
}

int heap_log_open(const char *log, const struct heap_log_options *o, struct heap_log *ret)
{
	int damaged, err;

	*ret = (struct heap_log){.replay = heap_log_new()};
	if (!ret->replay)
		return -ENOMEM;
	damaged = read_whole(log, o, ret);
	err = damaged < 0 ? damaged : find_moment(log, o, ret);
	if (!err && ret->stop.has_collection) {
		damaged = read_until(log, o, &ret->stop, &ret->replay);
		err = damaged < 0 ? damaged : 0;
	}
	if (!err && o->class_path)
		err = class_path_extend(o->class_path, ret->replay, &ret->callers);
	if (err)
		heap_log_close(ret);
	return err ? err : damaged;
}

void heap_log_close(struct heap_log *l)
{
	object_replay_free(l->replay);
	free(l->callers);
	*l = (struct heap_log){0};
}

void heap_log_say_incomplete(const char *log, const struct heap_log *l)
{
	if (object_replay_sums(l->replay)->incomplete_now)
		msg_warning("%s: events were lost before this moment: the heap is incomplete", log);
}

bool heap_log_differs(const struct heap_log *l)
{
	return l->agreement.verdicts[POOL_DIFFERS] != 0;
}
