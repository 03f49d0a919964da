#include "cmd/read/heap/pool_check_run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/gc/gc_pools.h"
#include "base/text/msg.h"
#include "cmd/read/heap/heap_check_run.h"
#include "cmd/read/heap/heap_log.h"
#include "cmd/read/heap/heap_log_facts.h"
#include "cmd/read/heap/object_log.h"
#include "heap/replay/object_replay.h"
#include "log/read/names.h"
#include "log/read/reader.h"
#include "report/heap/pool_check_report.h"
#include "session/analyze_log.h"
#include "session/owner.h"

static int read_pools(struct log_reader *reader, struct gc_pools *pools)
{
	struct log_names *names = log_names_new();
	const struct event *e;
	int err = names ? 0 : -ENOMEM;

	while (!err && (err = log_reader_next(reader, &e)) == 1) {
		err = log_names_add(names, e);
		if (!err)
			err = gc_pools_add(pools, names, e);
	}
	log_names_free(names);
	return err;
}

/* What the log's events say of pools. 0; 1: parts are missing. */
static int read_events(const char *log, struct gc_pools *pools)
{
	struct log_reader *reader;
	int err = log_reader_open(log, &reader);

	if (!err) {
		err = read_pools(reader, pools);
		log_reader_close(reader);
	}
	return err == -EBADMSG ? 1 : err;
}

/* The same, and how the heap is laid out. */
static int read_facts(const char *log, struct pool_check_options *options, struct gc_pools *pools)
{
	struct heap_log_facts facts;
	int err = heap_log_facts_read(log, false, &facts);

	options->spaces = facts.spaces;
	heap_log_facts_free(&facts);
	if (!err)
		err = read_events(log, pools);
	if (err < 0) {
		msg_error("%s: cannot read its events: %s", log, object_log_error(err));
	} else if (options->spaces.collector == HEAP_OTHER) {
		msg_error("%s does not say how the heap is laid out: its collector is neither "
			  "Serial, Parallel nor G1, or it was recorded by an older spoor",
			  log);
		return -ENODATA;
	}
	return err;
}

/* Rows of which no pool is lost. */
static int samples_of(const struct gc_pools *pools, struct pool_sample **ret, uint32_t *ret_count)
{
	struct pool_sample *s = calloc(pools->count + 1ul, sizeof(*s));
	uint32_t count = 0;

	if (!s)
		return -ENOMEM;
	for (uint32_t i = 0; i < pools->count; i++)
		if (pools->rows[i].pools == pools->pools_most)
			s[count++] = (struct pool_sample){pools->rows[i].time_ns,
							  gc_pools_used(&pools->rows[i])};
	*ret = s;
	*ret_count = count;
	return 0;
}

/* 0; 1: parts are missing. */
static int compare(const char *log, const struct gc_pools *pools,
		   const struct pool_check_options *options, struct object_replay *r,
		   struct pool_check *ret)
{
	struct pool_sample *samples = NULL;
	uint32_t count = 0;
	int damaged, err;

	pool_check_begin(ret, options, r);
	damaged = heap_log_read(log, r);
	if (damaged < 0)
		return damaged;
	/* Of a JVM that was running for long, the walk of the heap has reported the archive,
	 * too. */
	ret->options.archive =
		options->spaces.collector == HEAP_G1 && !object_replay_sums(r)->found;
	err = samples_of(pools, &samples, &count);
	if (!err)
		err = pool_check_finish(ret, samples, count);
	free(samples);
	if (err)
		msg_error("%s: cannot compare: %s", log, object_log_error(err));
	return err ? err : damaged;
}

static int report(const struct heap_check_options *o, const struct object_replay *r,
		  const struct pool_check *check)
{
	const struct pool_check_report report = {
		.log_name = o->log, .log = r, .check = check, .top = o->top, .format = o->format};
	int err = heap_report_pool_check(&report, stdout);

	if (err)
		msg_error("%s: cannot report on it: %s", o->log, object_log_error(err));
	return err ? err : finish_output(stdout);
}

int pool_check_run(const struct heap_check_options *o)
{
	struct object_replay *r = NULL;
	struct pool_check_options options = {0};
	struct pool_check check = {0};
	struct gc_pools pools = {0};
	int missing, damaged = 0, err = 0;

	if (!o->force && owner_check(o->log))
		return -EPERM;
	missing = read_facts(o->log, &options, &pools);
	if (missing >= 0) {
		r = heap_log_new();
		damaged = r ? compare(o->log, &pools, &options, r, &check) : -ENOMEM;
	}
	err = missing < 0 ? missing : damaged < 0 ? damaged : report(o, r, &check);
	if (!err && (missing || damaged))
		msg_warning("%s: parts of it are missing; differences are to be expected", o->log);
	if (!err)
		err = missing || damaged || check.verdicts[POOL_DIFFERS];
	pool_check_free(&check);
	object_replay_free(r);
	gc_pools_free(&pools);
	return err;
}
