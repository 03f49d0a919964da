/* heap/replay/graph_state.h: the heap of a collection of which who refers to whom was recorded. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct heap_state;
struct object_replay;
struct replay_state_options;

/* Keeps the graph of the last collection that has one. To be called before the first record. */
void object_replay_keep_graph(struct object_replay *r);
/* Its bytes, those of jvm-hooks/graph.h, if the last collection has one; else NULL. */
const uint8_t *object_replay_graph(const struct object_replay *r, size_t *ret_bytes);

/*
 * r is finished, has stopped at the end of a collection, and keeps its graph. Objects come one by
 * one, whatever o says of that, with references; those of which the replay knows one of that size
 * at that address have an origin. *ret is initialized, and is to be freed in any case. 0; -ENOENT:
 * there is no graph; -EBADMSG: it makes no sense; -ENOMEM; -EOVERFLOW: there are more objects or
 * references than spoor can number.
 */
int graph_state_make(const struct object_replay *r, const struct replay_state_options *o,
		     struct heap_state *ret);
