#include "cmd/read/heap/pool_check_run.h"

#include <errno.h>
#include <stdio.h>

#include "base/text/msg.h"
#include "cmd/read/heap/heap_check_run.h"
#include "cmd/read/replay/heap_log.h"
#include "cmd/read/replay/object_log.h"
#include "cmd/read/replay/pool_compare.h"
#include "heap/replay/object_replay.h"
#include "report/heap/pool_check_report.h"
#include "session/analyze_log.h"
#include "session/owner.h"

/* 0; 1: parts are missing. */
static int compare(const struct heap_check_options *o, struct object_replay *r,
		   struct pool_compare *ret)
{
	const char *log = o->log;
	int err = pool_compare_begin(ret, log, false, r), damaged;

	if (err) {
		msg_error("%s: cannot read its events: %s", log, object_log_error(err));
		return err;
	}
	if (!ret->has_layout) {
		msg_error("%s does not say how the heap is laid out: its collector is neither "
			  "Serial, Parallel nor G1, or it was recorded by an older spoor",
			  log);
		return -ENODATA;
	}
	damaged = heap_log_read(log, o->jobs, r);
	if (damaged < 0)
		return damaged;
	err = pool_compare_finish(ret);
	if (err)
		msg_error("%s: cannot compare: %s", log, object_log_error(err));
	return err ? err : damaged || ret->missing;
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
	struct object_replay *r;
	struct pool_compare c = {0};
	int missing, err;

	if (!o->force && owner_check(o->log))
		return -EPERM;
	r = heap_log_new();
	missing = r ? compare(o, r, &c) : -ENOMEM;
	err = missing < 0 ? missing : report(o, r, &c.check);
	if (!err && missing)
		msg_warning("%s: parts of it are missing; differences are to be expected", o->log);
	if (!err)
		err = missing || c.check.verdicts[POOL_DIFFERS];
	pool_compare_free(&c);
	object_replay_free(r);
	return err;
}
