#include "cmd/read/heap/heap_log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text/msg.h"
#include "base/text/strbuf.h"
#include "cmd/read/heap/object_log.h"
#include "heap/replay/object_replay.h"
#include "heap/snapshot/graph_state.h"

#define GRAPHS_NAMED 8
#define HEAP_BYTES (64ull << 30) /* for the map of the heap; --max-memory allows less */

struct object_replay *heap_log_new(void)
{
	return object_replay_new(HEAP_BYTES);
}

int heap_log_read(const char *log, struct object_replay *r)
{
	struct object_in_stats stats;
	int err = object_log_replay(log, r, &stats);

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
static int read_until(const char *log, const struct heap_stop *stop, bool threads,
		      struct object_replay **ret)
{
	struct object_replay *r = heap_log_new();

	object_replay_free(*ret);
	*ret = r;
	if (!r)
		return -ENOMEM;
	if (threads)
		object_replay_by_thread(r);
	object_replay_stop(r, stop->collection, stop->before);
	object_replay_keep_graph(r);
	return heap_log_read(log, r);
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

int heap_log_replay(const char *log, const struct heap_moment *at, unsigned what,
		    struct heap_stop *ret_stop, struct object_replay **ret)
{
	static const struct heap_moment last_graph = {.kind = MOMENT_GRAPH};
	bool threads = what & HEAP_LOG_THREADS, graph = what & HEAP_LOG_GRAPH;
	struct object_replay *r = heap_log_new();
	struct heap_stop stop = {0};
	int err = -ENOMEM, found = 0;

	if (graph && !at)
		at = &last_graph;
	if (r && threads)
		object_replay_by_thread(r);
	if (r)
		err = heap_log_read(log, r);
	if (err >= 0 && at)
		found = heap_moment_find(at, r, log, &stop);
	if (!found && err >= 0 && graph && !has_graph(r, &stop))
		found = say_others(log, r);
	if (found)
		err = found;
	if (err >= 0 && stop.has_collection)
		err = read_until(log, &stop, threads, &r);
	if (err < 0) {
		object_replay_free(r);
		return err;
	}
	*ret_stop = stop;
	*ret = r;
	return err;
}
