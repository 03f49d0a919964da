/* heap/snapshot/graph_state.h: the heap at a collection of which the references were recorded. */
#pragma once

struct heap_state;
struct object_replay;
struct replay_state_options;

/*
 * r is finished, has stopped at the end of a collection, and keeps its graph. Objects come one by
 * one, whatever o says of that, with references; those of which the replay knows one of that size
 * at that address have an origin. *ret is initialized, and is to be freed in any case. 0; -ENOENT:
 * there is no graph; -EBADMSG: it makes no sense; -ENOMEM; -EOVERFLOW: there are more objects or
 * references than spoor can number.
 */
int graph_state_make(const struct object_replay *r, const struct replay_state_options *o,
		     struct heap_state *ret);
