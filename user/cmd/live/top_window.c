#include "cmd/live/top_window.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/text/msg.h"
#include "base/text/units.h"
#include "log/format/header_fields.h"
#include "log/read/reader.h"

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

/* The last log, which may have been lent from; its file is gone already. */
static void forget(struct top_window *w)
{
	if (w->open)
		analyzed_log_close(&w->log);
	log_source_free(&w->source);
	w->source = (struct log_source){.count = 0};
	w->open = false;
}

static int source_of(struct top_window *w)
{
	w->source.jobs = 1;
	w->source.force = true; /* whoever runs spoor has written it, in a folder of his own */
	return log_source_add(&w->source, w->path);
}

/* --from and --to count from the recording's begin, which the header says. */
static int find_start(struct top_window *w)
{
	struct log_reader *r;
	int err = source_of(w);

	if (!err)
		err = log_source_open(&w->source, &r);
	if (!err) {
		w->start_ns = header_number(log_reader_header(r), NULL, "start_mono_ns");
		log_reader_close(r);
	}
	forget(w);
	return err;
}

static int analyze(struct top_window *w, uint64_t from_ns, uint64_t to_ns)
{
	int err = source_of(w);

	if (err)
		return err;
	if (from_ns > w->start_ns) {
		snprintf(w->from, sizeof(w->from), "%" PRIu64 "ns", from_ns - w->start_ns);
		w->source.range.from = w->from;
	}
	snprintf(w->to, sizeof(w->to), "%" PRIu64 "ns", to_ns - w->start_ns);
	w->source.range.to = w->to;
	err = analyze_log_watched(&w->source, w->watch, &w->log);
	w->open = !err;
	return err;
}

static void describe(struct top_window *w, const struct top_message *message, uint64_t from_ns,
		     uint64_t to_ns, uint64_t unseen_ns)
{
	uint64_t cpu = cpu_ns();

	w->view = (struct live_view){.log = &w->log.log,
				     .from_ns = from_ns,
				     .to_ns = to_ns,
				     .begin_ns = w->start_ns,
				     .unseen_ns = unseen_ns,
				     .lost = message->lost,
				     .record_cpu_ns = message->cpu_ns - w->record_cpu_ns,
				     .view_cpu_ns = cpu - w->view_cpu_ns,
				     .note = "",
				     .last = message->kind == TOP_LAST};
	w->record_cpu_ns = message->cpu_ns;
	w->view_cpu_ns = cpu;
}

static int next(struct top_window *w, const struct top_message *message)
{
	uint64_t to_ns = message->to_ns, from_ns, unseen_ns = 0;
	int err = w->start_ns ? 0 : find_start(w);

	if (err)
		return err;
	if (message->kind == TOP_WINDOW)
		to_ns = message->to_ns > TOP_LATE_NS ? message->to_ns - TOP_LATE_NS : 0;
	from_ns = w->seen_to_ns ? w->seen_to_ns : w->start_ns;
	if (w->skip_ns && to_ns > w->skip_ns && to_ns - w->skip_ns > from_ns)
		from_ns = to_ns - w->skip_ns;
	if (message->from_ns > from_ns) {
		unseen_ns = message->from_ns - from_ns;
		from_ns = message->from_ns;
	}
	if (to_ns <= from_ns)
		return -ENODATA;
	forget(w);
	w->from_ns = from_ns;
	err = analyze(w, from_ns, to_ns);
	if (err)
		return err;
	w->seen_to_ns = to_ns;
	w->skip_ns = 0;
	describe(w, message, from_ns, to_ns, unseen_ns);
	return 0;
}

int top_window_next(struct top_window *w, const struct top_message *message)
{
	int err;

	snprintf(w->path, sizeof(w->path), "%s", message->path);
	err = next(w, message);
	unlink(message->path);
	return err;
}

void top_window_free(struct top_window *w)
{
	forget(w);
}
