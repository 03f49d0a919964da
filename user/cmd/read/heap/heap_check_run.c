#include "cmd/read/heap/heap_check_run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/msg.h"
#include "cmd/read/heap/heap_dump.h"
#include "cmd/read/replay/heap_log.h"
#include "heap/check/graph_check.h"
#include "heap/replay/object_replay.h"
#include "heap/snapshot/graph_state.h"
#include "heap/snapshot/replay_state.h"
#include "report/heap/heap_check_report.h"
#include "session/analyze_log.h"
#include "session/owner.h"

/* The log up to the moment. */
static int replay(const struct heap_check_options *o, struct heap_check_report *report,
		  struct object_replay **ret)
{
	const struct heap_log_options options = {.at = &o->at, .jobs = o->jobs};
	struct heap_log l;
	int err = heap_log_open(o->log, &options, &l);

	if (err < 0)
		return err;
	if (err)
		msg_warning("%s: parts of it are missing; differences are to be expected", o->log);
	heap_log_say_incomplete(o->log, &l);
	report->has_collection = l.stop.has_collection;
	report->before = l.stop.before;
	report->collection = l.stop.collection;
	*ret = l.replay;
	return 0;
}

/* Who refers to whom, if the log has it of this moment. */
static int compare_graphs(struct heap_check_report *report, const struct object_replay *r,
			  const struct heap_state *dump, struct graph_check *ret)
{
	struct heap_state log;
	size_t bytes;
	int err;

	if (!object_replay_graph(r, &bytes))
		return 0;
	err = graph_state_make(r, &(struct replay_state_options){0}, &log);
	if (!err)
		err = graph_check(&log, dump, ret);
	heap_state_free(&log);
	report->graph = ret;
	return err;
}

static bool is_g1(const struct object_replay *r)
{
	uint32_t count;
	const struct object_collection *c = object_replay_collections(r, &count);

	return count && !strncmp(c->collector, "G1", 2);
}

static int compare(const struct heap_check_options *o, struct heap_check_report *report,
		   const struct heap_dump *dump)
{
	struct object_replay *r = NULL;
	struct heap_check check = {0};
	struct graph_check graph = {0};
	int err = replay(o, report, &r);

	if (!err) {
		report->log = r;
		report->check = &check;
		err = heap_check(r, &dump->state, is_g1(r), &check);
		if (!err)
			err = compare_graphs(report, r, &dump->state, &graph);
		if (!err)
			err = heap_report_check(report, stdout);
		if (err)
			msg_error("%s: cannot compare: %s", o->dump, heap_dump_error(err));
		else
			err = finish_output(stdout);
	}
	if (!err)
		err = heap_check_differences(&check) || graph_check_differences(&graph);
	heap_check_free(&check);
	object_replay_free(r);
	return err;
}

int heap_check_run(const struct heap_check_options *o)
{
	struct heap_check_report report = {.log_name = o->log, .top = o->top, .format = o->format};
	struct heap_dump dump;
	int damaged, err;

	if (!o->force && owner_check(o->log))
		return -EPERM;
	damaged = heap_dump_open(o->dump, true, o->force, &dump);
	if (damaged < 0)
		return damaged;
	report.dump = heap_dump_source(&dump);
	err = compare(o, &report, &dump);
	heap_dump_close(&dump);
	return err ? err : damaged;
}
