#include "report/web/parts/page_objects.h"

#include <errno.h>
#include <unistd.h>

#include "analyze/registry/analysis.h"
#include "base/text/print.h"
#include "heap/replay/object_replay.h"
#include "log/format/header_fields.h"
#include "log/format/object_record.h"
#include "log/objects/object_in.h"
#include "log/read/set.h"
#include "report/model/findings.h"
#include "report/model/report.h"
#include "report/model/sections/commands/objects_filter.h"
#include "report/model/sections/commands/objects_report.h"
#include "report/model/sections/sections.h"
#include "report/web/page_findings.h"
#include "report/web/parts/page_put.h"
#include "session/session_log.h"

#define HEAP_BYTES (2ull << 30) /* for the map of the heap, as spoor objects has it */

static int replay_file(const char *path, struct object_replay *r, struct object_in_stats *sum)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct object_in_stats stats;
	struct object_record record;
	struct object_in *log;
	int err = object_in_open(path, &log);

	if (err)
		return err;
	object_in_jobs(log, cpus > 0 ? (unsigned)cpus : 1);
	while (!err && (err = object_in_next(log, &record)) == 1)
		err = object_replay_add(r, &record);
	object_in_stats(log, &stats);
	object_in_close(log);
	sum->bytes += stats.bytes;
	sum->damaged += stats.damaged;
	sum->missing += stats.missing;
	return err;
}

static int replay(const struct log_set *set, struct object_replay *r, struct object_in_stats *sum)
{
	int err = 0;

	for (unsigned i = 0; i < log_set_count(set) && !err; i++)
		err = replay_file(log_set_paths(set)[i], r, sum);
	return err ? err : object_replay_finish(r);
}

static int tables_write(struct objects_input *in, FILE *out)
{
	static const enum objects_by by[] = {OBJECTS_BY_CLASS, OBJECTS_BY_SITE, OBJECTS_BY_CHAIN,
					     OBJECTS_BY_METHOD, OBJECTS_BY_COLLECTION};
	/* Collections stay in the order of time. */
	static const char *const keys[] = {"bytes", "bytes", "bytes", "bytes", ""};
	int err = 0;

	for (size_t i = 0; i < sizeof(by) / sizeof(*by) && !err; i++) {
		in->by = by[i];
		print_json(out, ",%s:", objects_by_names[by[i]]);
		err = page_findings_take_sorted(objects_section(in), keys[i], out);
	}
	return err;
}

static int objects_write(struct objects_input *in, const struct object_in_stats *stats, int failed,
			 FILE *out)
{
	const struct object_sums *s = object_replay_sums(in->replay);

	fprintf(out, ",\"objects\":{\"failed\":%d", failed < 0);
	page_put_number(out, "damaged", stats->damaged + stats->missing);
	page_put_number(out, "objects", s->count);
	page_put_number(out, "bytes", s->bytes);
	page_put_number(out, "gaps", s->gaps);
	page_put_number(out, "overwritten", s->over);
	page_put_number(out, "holes", s->holes);
	page_put_number(out, "left_out", s->left_out);
	page_put_number(out, "unknown_class", s->unknown_class);
	page_put_number(out, "survivors", objects_has_survivors(in));
	if (tables_write(in, out))
		return -ENOMEM;
	putc('}', out);
	return 0;
}

static int read_and_write(const struct section_input *s, struct object_replay *r, FILE *out)
{
	const struct session_log *log = s->in->log;
	struct objects_input in = {.replay = r, .names = s->names, .by = OBJECTS_BY_CLASS};
	const struct objects_filter_options o = {
		.by = OBJECTS_BY_CLASS,
		.from_ns = log->from_ns,
		.to_ns = log->to_ns ? log->to_ns : UINT64_MAX,
		.begin_ns = header_number(log->header, NULL, "start_mono_ns"),
		.replay = r,
		.names = s->names,
	};
	struct object_in_stats stats = {0};
	int err;

	in.filter = objects_filter_new(&o);
	if (!in.filter)
		return -ENOMEM;
	object_replay_choose(r, objects_filter_choice(in.filter));
	err = replay(log->set, r, &stats);
	err = err ? err : objects_filter_error(in.filter);
	in.log_bytes = stats.bytes;
	in.damaged = stats.damaged || stats.missing;
	if (err != -ENOMEM && !stats.bytes) {
		fputs(",\"objects\":null", out);
		err = 0;
	} else if (err != -ENOMEM) {
		err = objects_write(&in, &stats, err, out);
	}
	objects_filter_free(in.filter);
	return err;
}

int page_objects_write(const struct section_input *in, FILE *out)
{
	struct object_replay *r;
	int err;

	if (!in->in->log->set) {
		fputs(",\"objects\":null", out);
		return 0;
	}
	r = object_replay_new(HEAP_BYTES);
	err = r ? read_and_write(in, r, out) : -ENOMEM;
	object_replay_free(r);
	return err;
}
