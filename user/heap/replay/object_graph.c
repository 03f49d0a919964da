/* Graphs come in pieces, as words of the VM thread, within the phase of their collection. */
#include "heap/replay/object_replay_internal.h"

#include <string.h>

#include "base/tables/array.h"
#include "jvm-hooks/graph.h"

void object_graph_begin(struct object_replay *r)
{
	r->graph.begun = r->graph.whole = false;
	r->graph.count = 0;
}

void object_graph_cut(struct object_replay *r)
{
	r->graph.begun = false;
}

static int keep(struct object_replay *r, const uint32_t *words, size_t bytes)
{
	size_t needed = r->graph.count + bytes;

	if (needed > r->graph.room &&
	    bytes_reserve(&r->graph.bytes, &r->graph.room, needed + needed / 2))
		return -ENOMEM;
	memcpy(r->graph.bytes + r->graph.count, words, bytes);
	return 0;
}

void object_graph_words(struct object_replay *r, const uint32_t *words, uint32_t count)
{
	size_t bytes = words[0] & SPOOR_GRAPH_BYTES;

	if (words[0] & SPOOR_GRAPH_FIRST) {
		object_graph_begin(r);
		r->graph.begun = true;
	}
	if (!r->collecting || !count || bytes > (count - 1) * sizeof(*words)) {
		r->sums.bad_words++;
		r->graph.begun = false;
	}
	if (!r->graph.begun)
		return;
	if (r->keep_graph && keep(r, words + 1, bytes)) {
		r->err = -ENOMEM;
		return;
	}
	r->graph.count += bytes;
	if (!(words[0] & SPOOR_GRAPH_LAST))
		return;
	r->graph.begun = false;
	r->graph.whole = true;
	r->collections[r->collection_count - 1].graph_bytes = r->graph.count;
}

void object_replay_keep_graph(struct object_replay *r)
{
	r->keep_graph = true;
}

const uint8_t *object_replay_graph(const struct object_replay *r, size_t *ret_bytes)
{
	*ret_bytes = r->graph.count;
	return r->keep_graph && r->graph.whole ? r->graph.bytes : NULL;
}
