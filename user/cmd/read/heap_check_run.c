#include "cmd/read/heap_check_run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/objects/object_replay.h"
#include "base/text/msg.h"
#include "cmd/read/heap_dump.h"
#include "cmd/read/object_log.h"
#include "report/heap/heap_check_report.h"
#include "session/analyze_log.h"
#include "session/owner.h"

#define HEAP_BYTES (2ull << 30) /* for the map of the heap; --max-memory may allow less */
#define DUMP_CAUSE "Heap Dump"  /* how HotSpot's causes of it begin */

bool heap_moment_parse(const char *arg, struct heap_check_options *ret)
{
	static const struct {
		const char *name;
		enum heap_moment moment;
	} words[] = {{"dump", MOMENT_DUMP}, {"end", MOMENT_END}},
	  numbered[] = {{"gc:", MOMENT_GC_END}, {"before:", MOMENT_GC_BEGIN}};
	char *end;

	for (size_t i = 0; i < 2; i++) {
		size_t length = strlen(numbered[i].name);

		ret->moment = words[i].moment;
		if (!strcmp(arg, words[i].name))
			return true;
		if (strncmp(arg, numbered[i].name, length) != 0 || arg[length] < '0' ||
		    arg[length] > '9')
			continue;
		errno = 0;
		ret->gc = strtoull(arg + length, &end, 10);
		ret->moment = numbered[i].moment;
		return !*end && !errno;
	}
	return false;
}

static int read_log(const struct heap_check_options *o, struct object_replay *r)
{
	struct object_in_stats stats;
	int err = object_log_replay(o->log, r, &stats);

	if (err) {
		msg_error("%s: cannot read its object events: %s", o->log, object_log_error(err));
		return err;
	}
	if (stats.damaged || stats.missing)
		msg_warning("%s: parts of it are missing; differences are to be expected", o->log);
	if (!object_replay_sums(r)->has_ring) {
		msg_error("%s has no object events: spoor record --objects records them", o->log);
		return -ENODATA;
	}
	if (object_replay_sums(r)->heap_given_up) {
		msg_error("%s: its heap is larger than what can be held; --max-memory may allow "
			  "more",
			  o->log);
		return -ENOMEM;
	}
	return 0;
}

static int find_collection(const struct heap_check_options *o, const struct object_replay *r,
			   uint32_t *ret)
{
	uint32_t count, i;
	const struct object_collection *c = object_replay_collections(r, &count);

	for (i = count; i-- > 0;)
		if (o->moment == MOMENT_DUMP ? !strncmp(c[i].cause, DUMP_CAUSE, strlen(DUMP_CAUSE))
					     : c[i].id == o->gc)
			break;
	*ret = i;
	if (i != UINT32_MAX)
		return 0;
	if (o->moment == MOMENT_DUMP)
		msg_error("%s has no collection that a heap dump has asked for, as jcmd PID "
			  "GC.heap_dump does: say with --at gc:N or --at end of which moment the "
			  "dump is; spoor objects --by collection shows the collections",
			  o->log);
	else
		msg_error("%s has no collection %" PRIu64 "; spoor objects --by collection shows "
			  "those that it has",
			  o->log, o->gc);
	return -ENOENT;
}

/* The log up to the moment. */
static int replay(const struct heap_check_options *o, struct heap_check_report *report,
		  struct object_replay **ret)
{
	struct object_replay *r = object_replay_new(HEAP_BYTES);
	int err = r ? read_log(o, r) : -ENOMEM;

	*ret = r;
	if (err || o->moment == MOMENT_END)
		return err;
	report->has_collection = true;
	report->before = o->moment == MOMENT_GC_BEGIN;
	err = find_collection(o, r, &report->collection);
	object_replay_free(r);
	*ret = NULL;
	if (err)
		return err;
	*ret = r = object_replay_new(HEAP_BYTES);
	if (!r)
		return -ENOMEM;
	object_replay_stop(r, report->collection, report->before);
	return read_log(o, r);
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
	int err = replay(o, report, &r);

	if (!err) {
		report->log = r;
		report->check = &check;
		err = heap_check(r, &dump->state, is_g1(r), &check);
		if (!err)
			err = heap_report_check(report, stdout);
		if (err)
			msg_error("%s: cannot compare: %s", o->dump, heap_dump_error(err));
		else
			err = finish_output(stdout);
	}
	if (!err)
		err = heap_check_differences(&check) != 0;
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
	report.dump = (struct heap_source){dump.name, &dump.state, &dump.result};
	err = compare(o, &report, &dump);
	heap_dump_close(&dump);
	return err ? err : damaged;
}
