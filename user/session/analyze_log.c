#include "session/analyze_log.h"

#include <errno.h>
#include <string.h>

#include "analyze/registry/analysis.h"
#include "base/text/msg.h"
#include "log/format/header_fields.h"
#include "log/read/reader.h"
#include "session/hole_order.h"
#include "session/holes.h"
#include "session/log_source.h"
#include "session/max_memory.h"

static int add(struct analysis *a, const struct log_watch *w, const struct event *e)
{
	int err = analysis_add(a, e);

	return err || !w || !w->event ? err : w->event(w->ctx, e);
}

static int add_hole(struct analysis *a, const struct log_watch *w, const struct hole_order *s)
{
	int err = analysis_hole(a, s->hole_from_ns, s->hole_to_ns);

	return err || !w || !w->hole ? err : w->hole(w->ctx, s->hole_from_ns, s->hole_to_ns);
}

/* 0 or the first error; a damaged log is none, and is noted in ret. */
static int analyze(struct log_reader *r, const struct range *read, const struct log_watch *w,
		   struct analysis *a, struct session_log *ret)
{
	bool given = range_is_given(read);
	struct hole_order s = {.reader = r,
			       .from_ns = given ? read->read_from_ns : 0,
			       .to_ns = given ? read->read_to_ns : UINT64_MAX};
	const struct event *e;
	int err, next = 0;

	if (header_begin_ns(ret->header) > header_number(ret->header, NULL, "start_mono_ns"))
		analysis_set_begin(a, header_begin_ns(ret->header));
	if (given && read->read_from_ns > header_begin_ns(ret->header))
		analysis_set_begin(a, read->read_from_ns);
	err = w && w->begin ? w->begin(w->ctx, a, ret->header) : 0;
	while (!err && (next = hole_order_next(&s, &e)) > 0)
		err = next == LOG_READER_HOLE ? add_hole(a, w, &s) : add(a, w, e);
	hole_order_free(&s);
	if (!err && next < 0)
		err = next;
	ret->damaged = err == -EBADMSG;
	ret->late = s.late;
	log_reader_stats(r, &ret->stats);
	return err && !ret->damaged ? err : analysis_finish(a);
}

int analyze_log_watched(struct log_source *source, const struct log_watch *w,
			struct analyzed_log *ret)
{
	struct analyzed_log l = {.name = source->name};
	int err;

	source->holes = true;
	err = log_source_open(source, &l.reader);

	if (err)
		return err;
	l.analysis = analysis_new();
	l.log.analysis = l.analysis;
	l.log.header = log_reader_header(l.reader);
	l.log.set = source->set;
	l.log.from_ns = source->range.from ? source->range.from_ns : 0;
	l.log.to_ns = source->range.to ? source->range.to_ns : 0;
	err = l.analysis ? analyze(l.reader, &source->range, w, l.analysis, &l.log) : -ENOMEM;
	if (err) {
		msg_error("%s: cannot report on it: %s", l.name, max_memory_error(err));
		analyzed_log_close(&l);
		return err;
	}
	*ret = l;
	return 0;
}

void analyzed_log_close(struct analyzed_log *l)
{
	analysis_free(l->analysis);
	log_reader_close(l->reader);
	*l = (struct analyzed_log){0};
}

void log_report_holes(const json_t *header, const struct log_set *set, bool ended)
{
	char text[HOLES_TEXT_MAX];

	for (unsigned i = 0; holes_text(header, set, ended, i, text); i++)
		msg_warning("%s", text);
}

int log_report(const char *name, const struct session_log *l, bool ended, const char *done)
{
	char damage[512];

	log_report_holes(l->header, l->set, ended);
	if (l->damaged) {
		session_log_damage(l, damage, sizeof(damage));
		msg_error("%s: %s", name, damage);
		return -EBADMSG;
	}
	if (ended || l->to_ns || (l->set && log_set_goes_on(l->set)))
		return 0;
	msg_error("%s: the log has no end: its recorder was killed, or is still at work; what it "
		  "had written by then is %s",
		  name, done);
	return -EBADMSG;
}

int analyzed_log_report(const struct analyzed_log *l, const char *done)
{
	struct analysis_facts facts;

	analysis_facts(l->analysis, &facts);
	if (l->log.from_ns && !session_log_duration(&l->log))
		msg_warning("%s: the recording ends before --from: nothing of it is %s", l->name,
			    done);
	return log_report(l->name, &l->log, facts.ended, done);
}

int finish_output(FILE *out)
{
	if (!fflush(out) && !ferror(out))
		return 0;
	if (errno == EPIPE)
		return 1;
	msg_error("cannot write the output: %s", strerror(errno));
	return -EIO;
}
