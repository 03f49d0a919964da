/* A timeline of a log, in two passes: names can come behind their first use, and the timeline is
 * written as the events come. */
#include "cmd/export_chrome.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/msg.h"
#include "base/units.h"
#include "cmd/analyze_log.h"
#include "cmd/cmd.h"
#include "cmd/export_output.h"
#include "cmd/log_source.h"
#include "log/event.h"
#include "log/names.h"
#include "log/order.h"
#include "log/reader.h"

#define ORDER_WINDOW_NS NS_PER_S /* as cmd/analyze_log.c has it */

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

/* The second one. A damaged log is no error, and is noted in ret. */
static int read_events(struct log_reader *r, struct chrome *c, FILE *out, struct report_input *ret)
{
	struct log_order *order;
	const struct event *e;
	int err = log_order_new(r, ORDER_WINDOW_NS, &order);

	if (err)
		return err;
	while ((err = log_order_next(order, &e)) == 1 && !ferror(out)) {
		log_reader_stats(r, &ret->stats);
		chrome_gaps(c, &ret->stats);
		err = chrome_add(c, e);
		if (err)
			break;
	}
	log_reader_stats(r, &ret->stats);
	if (err <= 0)
		chrome_gaps(c, &ret->stats);
	ret->damaged = err == -EBADMSG;
	ret->late = log_order_late(order);
	log_order_free(order);
	return err == 1 || ret->damaged ? 0 : err;
}

/* 0; 1: nobody reads the pipe any more; or negative errno, and it has been said. */
static int write_timeline(struct log_reader *r, const struct log_names *names,
			  const struct chrome_options *o, FILE *out,
			  const struct log_source *source)
{
	struct chrome *c = chrome_new(o, names, log_reader_header(r), out);
	struct report_input in = {.header = log_reader_header(r), .set = source->set};
	struct chrome_facts facts;
	int err = c ? read_events(r, c, out, &in) : -ENOMEM, end;

	if (c) {
		end = chrome_finish(c, &facts);
		err = err ? err : end;
	}
	chrome_free(c);
	if (err) {
		msg_error("%s: cannot export it: %s", source->name, strerror(-err));
		return err;
	}
	err = finish_output(out);
	if (err)
		return err;
	if (!facts.threads)
		msg_warning("%s: no thread has a track%s%s%s", source->name,
			    o->threads ? ": none of '" : "", o->threads ? o->threads : "",
			    o->threads ? "' in this range" : "");
	return log_tell(source->name, &in, facts.ended, "exported");
}

static int run(struct log_source *source, const char *output, struct chrome_options *o,
	       struct log_names *names)
{
	struct log_reader *r;
	FILE *out;
	int err;

	source->range.read_all = true; /* for how long it is what reaches over an end of it */
	err = log_source_open_again(source, &r);
	if (err)
		return err;
	log_reader_definitions(r);
	err = read_names(r, names, o);
	log_reader_close(r);
	o->from_ns = source->range.from_ns;
	o->until_ns = source->range.to ? source->range.to_ns : 0;
	if (err) {
		msg_error("%s: cannot read it: %s", source->name, strerror(-err));
		return err;
	}
	err = log_source_open_again(source, &r);
	if (err)
		return err;
	o->title = log_source_title(source);
	out = export_output_open(source, output);
	err = out ? write_timeline(r, names, o, out, source) : -EIO;
	if (out)
		err = export_output_close(out, output, err);
	log_reader_close(r);
	return err;
}

int export_chrome(struct log_source *source, const char *output,
		  const struct chrome_options *wanted)
{
	struct log_names *names = log_names_new();
	struct chrome_options o = *wanted;
	int err;

	if (!names) {
		msg_error("%s: cannot read it: %s", source->name, strerror(ENOMEM));
		return CMD_FAILED;
	}
	err = run(source, output, &o, names);
	log_names_free(names);
	return err < 0 ? CMD_FAILED : CMD_OK;
}
