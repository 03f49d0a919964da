/* report/chrome/chrome_internal.h: the parts of a timeline. */
#pragma once

#include "report/chrome/chrome_state.h"

/* All with int: 0 or -ENOMEM. */

/* --- chrome_threads.c: the threads' tracks */
int chrome_threads_init(struct chrome *c);
void chrome_threads_free(struct chrome *c);
/* *ret is the timeline's until chrome_threads_free, and stays where it is. */
int chrome_thread(struct chrome *c, uint64_t thread, struct chrome_thread **ret);
static inline struct chrome_thread *chrome_thread_at(const struct chrome *c, uint32_t index)
{
	return segments_at(&c->threads, index, sizeof(struct chrome_thread));
}
/* What its track is called: unlike all others. Returns buf. */
char *chrome_thread_label(struct chrome *c, uint64_t thread, char buf[LABEL_MAX]);

/* --- chrome_tracks.c: what is on them */
struct track_sink chrome_thread_sink(struct chrome *c);
int chrome_tracks_add(struct chrome *c, const struct event *e);

/* --- chrome_flow.c: arrows between threads; add: before tracks_add, settle: after it */
int chrome_flow_add(struct chrome *c, const struct event *e);
int chrome_flow_settle(struct chrome *c, const struct event *e);
int chrome_flow_begin(struct chrome *c, const struct track_slice *s);
int chrome_flow_end(struct chrome *c, const struct track_slice *s);

/* --- chrome_slice.c: what is said of a thread's slice; within an event */
void chrome_slice_begin(struct chrome *c, const struct track_slice *s);
void chrome_slice_end(struct chrome *c, const struct track_slice *s);

/* --- chrome_spans.c, chrome_vm.c, chrome_counters.c, chrome_marks.c */
int chrome_spans_add(struct chrome *c, const struct event *e);
int chrome_vm_add(struct chrome *c, const struct event *e);
int chrome_vm_finish(struct chrome *c);
int chrome_counters_add(struct chrome *c, const struct event *e);
void chrome_counters_finish(struct chrome *c);
void chrome_counters_hole(struct chrome *c);
int chrome_marks_add(struct chrome *c, const struct event *e);
void chrome_marks_gaps(struct chrome *c, const struct log_reader_stats *stats);
void chrome_marks_hole(struct chrome *c, uint64_t ns);

static inline bool chrome_in_range(const struct chrome *c, uint64_t ns)
{
	return ns >= c->options.from_ns && ns <= c->options.until_ns;
}
