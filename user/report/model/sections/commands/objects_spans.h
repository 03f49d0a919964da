/* report/model/sections/commands/objects_spans.h: which span each thread was in, and when. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct event;
struct log_names;
struct objects_spans;

/* names: lent until objects_spans_free. NULL: no memory. */
struct objects_spans *objects_spans_new(const struct log_names *names);
void objects_spans_free(struct objects_spans *s);
/* In time order; events of other kinds are ignored. 0 or -ENOMEM. */
int objects_spans_add(struct objects_spans *s, const struct event *e);
/* Parts of the recording are missing up to this: no span is known there. 0 or -ENOMEM. */
int objects_spans_hole(struct objects_spans *s, uint64_t from_ns);
/* No more of either. 0 or -ENOMEM. */
int objects_spans_finish(struct objects_spans *s);

/* The innermost span of a Java thread at a time: 1 + the index of its name; 0: none. */
uint32_t objects_spans_at(const struct objects_spans *s, uint64_t java_tid, uint64_t ns);
/* True: a span of the thread begins or ends after the one time, and before the other. */
bool objects_spans_change(const struct objects_spans *s, uint64_t java_tid, uint64_t from_ns,
			  uint64_t to_ns);
/* Of 1 + index: lent; how many spans of it have begun. */
const char *objects_spans_name(const struct objects_spans *s, uint32_t name);
uint64_t objects_spans_count(const struct objects_spans *s, uint32_t name);
