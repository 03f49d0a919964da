/* A timeline of a log, in two passes: names can come after their first use, and the timeline is
 * written as the events come. */
#include "cmd/read/export/export_chrome.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text/msg.h"
#include "cmd/cmd.h"
#include "cmd/read/export_output.h"
#include "log/format/event.h"
#include "log/read/names.h"
#include "log/read/reader.h"
#include "session/analyze_log.h"
#include "session/hole_order.h"
#include "session/log_source.h"
#include "session/max_memory.h"

/* What reaches over an end of the range follows from what is around it: samples, off_cpu. */
#define SAMPLES_AROUND 2

/* The first pass. */
static int read_names(struct log_reader *r, struct log_names *names, struct chrome_options *o)
{
	struct log_reader_span span;
	const struct event *e;
	bool any = false;
	int err;

	while ((err = log_reader_next(r, &e)) == 1) {
		if (!any || e->time_ns < o->first_ns)
			o->first_ns = e->time_ns;
		if (!any || e->time_ns > o->last_ns)
			o->last_ns = e->time_ns;
		any = true;
		err = log_names_add(names, e);
		if (err)
			return err;
	}
	span = log_reader_span(r);
	if (span.any && (!any || span.first_ns < o->first_ns))
		o->first_ns = span.first_ns;
	if (span.any && (!any || span.last_ns > o->last_ns))
		o->last_ns = span.last_ns;
	return err == -EBADMSG ? 0 : err;
}

static int add(struct chrome *c, const struct hole_order *s, int next, const struct event *e)
{
	return next == LOG_READER_HOLE ? chrome_hole(c, s->hole_from_ns, s->hole_to_ns)
				       : chrome_add(c, e);
}

/* The second one. A damaged log is no error, and is noted in ret. */
static int read_events(struct log_reader *r, struct chrome *c, const struct range *read, FILE *out,
		       struct session_log *ret)
{
	bool given = range_is_given(read);
	struct hole_order s = {.reader = r,
			       .from_ns = given ? read->read_from_ns : 0,
			       .to_ns = given ? read->read_to_ns : UINT64_MAX};
	const struct event *e;
	int err = 0, next = 0;

	while (!err && (next = hole_order_next(&s, &e)) > 0 && !ferror(out)) {
		log_reader_stats(r, &ret->stats);
		chrome_gaps(c, &ret->stats);
		err = add(c, &s, next, e);
	}
	if (!err && next < 0)
		err = next;
	log_reader_stats(r, &ret->stats);
	if (!err || err == -EBADMSG)
		chrome_gaps(c, &ret->stats);
	ret->damaged = err == -EBADMSG;
	hole_order_free(&s);
	ret->late = s.late;
	return ret->damaged ? 0 : err;
}

/* 0; 1: nobody reads the pipe any more; or negative errno, and it has been said. */
static int write_timeline(struct log_reader *r, const struct log_names *names,
			  const struct chrome_options *o, FILE *out,
			  const struct log_source *source)
{
	struct chrome *c = chrome_new(o, names, log_reader_header(r), out);
	struct session_log in = {.header = log_reader_header(r),
				 .set = source->set,
				 .to_ns = source->range.to ? source->range.to_ns : 0};
	struct chrome_facts facts;
	int err = c ? read_events(r, c, &source->range, out, &in) : -ENOMEM, end;

	if (c) {
		end = chrome_finish(c, &facts);
		err = err ? err : end;
	}
	chrome_free(c);
	if (err) {
		msg_error("%s: cannot export it: %s", source->name, max_memory_error(err));
		return err;
	}
	err = finish_output(out);
	if (err)
		return err;
	if (!facts.threads)
		msg_warning("%s: no thread has a track%s%s%s", source->name,
			    o->threads ? ": none of '" : "", o->threads ? o->threads : "",
			    o->threads ? "' in this range" : "");
	return log_report(source->name, &in, facts.ended, "exported");
}

static int run(struct log_source *source, const char *output, mode_t mode, struct chrome_options *o,
	       struct log_names *names)
{
	struct log_reader *r;
	FILE *out;
	int err;

	source->range.samples = SAMPLES_AROUND;
	source->holes = false;
	err = log_source_open_again(source, &r);
	if (err)
		return err;
	log_reader_definitions(r);
	err = read_names(r, names, o);
	log_reader_close(r);
	if (range_is_given(&source->range) && o->last_ns > source->range.read_to_ns)
		o->last_ns = source->range.read_to_ns;
	o->from_ns = source->range.from_ns;
	o->until_ns = source->range.to ? source->range.to_ns : 0;
	if (err) {
		msg_error("%s: cannot read it: %s", source->name, max_memory_error(err));
		return err;
	}
	source->holes = true;
	err = log_source_open_again(source, &r);
	if (err)
		return err;
	o->title = log_source_title(source);
	out = export_output_open(source, output, mode);
	err = out ? write_timeline(r, names, o, out, source) : -EIO;
	if (out)
		err = export_output_close(out, output, err);
	log_reader_close(r);
	return err;
}

int export_chrome(struct log_source *source, const char *output, mode_t mode,
		  const struct chrome_options *options)
{
	struct log_names *names = log_names_new();
	struct chrome_options o = *options;
	int err;

	if (!names) {
		msg_error("%s: cannot read it: %s", source->name, max_memory_error(-ENOMEM));
		return CMD_FAILED;
	}
	err = run(source, output, mode, &o, names);
	log_names_free(names);
	return err < 0 ? CMD_FAILED : CMD_OK;
}
