/* Reads any bytes as who refers to whom in a heap: no wrong access, and references go to objects. */
#include "fuzz.h"

#include <errno.h>

#include "heap/graph/heap_graph.h"
#include "heap/snapshot/graph_state.h"
#include "heap/snapshot/replay_state.h"
#include "heap/state/heap_state.h"
#include "tests/unit/heap/graph_maker.h"

#define REPLAY_BYTES (1 << 20)
#define LARGEST (1u << 19)

static void check(const struct heap_state *s)
{
	for (uint32_t i = 0; i < s->desc_count; i++)
		ENSURE(s->descs[i].type < s->types.count);
	for (uint32_t i = 0; i < s->objects.ref_count; i++)
		ENSURE(s->objects.refs[i] == HEAP_NONE || s->objects.refs[i] < s->objects.count);
	for (uint32_t i = 0; i < s->root_count; i++)
		ENSURE(s->roots[i].kind < HEAP_ROOT_KIND_COUNT);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct object_replay *r = object_replay_new(REPLAY_BYTES);
	struct heap_state s = {0};
	struct heap_graph *g;
	int err;

	ENSURE(r);
	if (size > LARGEST)
		size = LARGEST;
	ENSURE(!graph_replay(r, data, size, false));
	err = graph_state_make(r, &(struct replay_state_options){0}, &s);
	ENSURE(!err || err == -EBADMSG || err == -ENOENT);
	if (!err) {
		check(&s);
		ENSURE(!heap_graph_new(&s, &g));
		heap_graph_free(g);
	}
	heap_state_free(&s);
	object_replay_free(r);
	return 0;
}
