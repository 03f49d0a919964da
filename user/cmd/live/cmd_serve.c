#include <argp.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "analyze/cells/blocked_list.h"
#include "analyze/profile/profile.h"
#include "analyze/registry/analysis.h"
#include "analyze/spans/spans.h"
#include "base/http_server.h"
#include "base/text/msg.h"
#include "base/text/units.h"
#include "cmd/cmd.h"
#include "cmd/live/live_run.h"
#include "cmd/live/top_window.h"
#include "cmd/parse.h"
#include "cmd/sample_option.h"
#include "log/format/event.h"
#include "report/live/metrics.h"
#include "report/model/sections/commands/profile_window.h"
#include "session/max_memory.h"

#define LISTEN_DEFAULT "127.0.0.1:9464"
#define INTERVAL_LEAST_NS NS_PER_S
#define INTERVAL_MOST_NS (60 * NS_PER_S)
#define LABELS_DEFAULT 50
#define LABELS_MOST 1000

enum { OPT_LABELS = LIVE_OWN, OPT_SAMPLE };

struct options {
	struct live_options live;
	const char *listen;
	unsigned labels;
};

static const struct argp_option option_table[] = {
	{"pid", 'p', "PID|NAME", 0,
	 "Record the JVM with this process id, or the only one with NAME in its command line", 0},
	{"listen", 'l', "ADDRESS", 0,
	 "Where to answer: 127.0.0.1:9464 (the default), [::1]:PORT, unix:PATH. Whoever can reach "
	 "another address can read the names of locks and threads",
	 0},
	{"interval", 'i', "TIME", 0, "How often the sums grow: 5s (the default), 1s, 15s", 0},
	{"labels", OPT_LABELS, "N", 0,
	 "Lock classes, pools of threads, and methods that are told apart (50); the rest is "
	 "'other'",
	 0},
	{"sample", OPT_SAMPLE, "TIME[,event=EVENT]", OPTION_ARG_OPTIONAL,
	 "Look where each running thread is whenever it has run for TIME (default: 10ms), for CPU "
	 "time by method; EVENT: timer, cpu-clock, cycles or tick, as spoor record --help says",
	 0},
	{"no-write", LIVE_NO_WRITE, NULL, 0,
	 "Never write to the JVM; monitor events then need -XX:+DTraceMonitorProbes", 0},
	LIVE_PROBES_OPTION,
	LIVE_VIRTUAL_PARKS_OPTION,
	{NULL, 0, NULL, 0, NULL, 0},
};

static const char doc[] =
	"Records a JVM into memory, and answers HTTP with its metrics, for Prometheus and what "
	"else reads OpenMetrics: blocked time by class of lock, what owners did, threads by state, "
	"pauses, stolen time; with --sample, CPU time by method.\v"
	"GET /metrics has the metrics, GET /healthz says whether the JVM is recorded. Nothing else "
	"is served, and nothing can be changed.\n\n"
	"  spoor serve -p 4711\n"
	"  curl http://127.0.0.1:9464/metrics\n"
	"  spoor serve -p 4711 --listen unix:/run/spoor/app.sock\n\n"
	"deploy/prometheus has rules for alerts and a dashboard; docs/serve.md lists the "
	"metrics.\n\n"
	"Exit status: 0 done (also if the JVM has ended); 1 it could not be recorded, or not to "
	"the end, or the address cannot be listened at; 2 wrong usage.\n";

static void parse_interval(struct options *o, const char *arg, struct argp_state *state)
{
	if (duration_parse(arg, &o->live.interval_ns) || o->live.interval_ns < INTERVAL_LEAST_NS ||
	    o->live.interval_ns > INTERVAL_MOST_NS)
		argp_error(state, "--interval is a time from 1s to 60s, not '%s'", arg);
}

static void parse_labels(struct options *o, const char *arg, struct argp_state *state)
{
	char *end;
	unsigned long n = strtoul(arg, &end, 10);

	if (*arg < '0' || *arg > '9' || *end || !n || n > LABELS_MOST)
		argp_error(state, "--labels is a number from 1 to %d, not '%s'", LABELS_MOST, arg);
	o->labels = (unsigned)n;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case 'l':
		o->listen = arg;
		return 0;
	case 'i':
		parse_interval(o, arg, state);
		return 0;
	case OPT_LABELS:
		parse_labels(o, arg, state);
		return 0;
	case OPT_SAMPLE:
		parse_sample(arg, false, &o->live.recorder.sample, state);
		return 0;
	default:
		return live_parse(key, arg, state, &o->live);
	}
}

/* --- a run --- */

struct run {
	const struct options *o;
	struct live_recorder *live;
	struct top_window window;
	struct blocked_list intervals;
	struct spans *spans;                         /* of the interval that is analysed */
	struct profile profile, before;              /* of that, and of the interval before */
	uint64_t newest_ns, late[SCHEMA_ID_MAX + 1]; /* of that: events that are out of order */
	struct metrics *metrics;
	struct http_body *bodies[2]; /* plain, OpenMetrics; NULL: no interval has ended yet */
	struct http_server *server;
	uint64_t due_ns;
	bool attached, asked, ended, stop, stopping;
	int err;
};

static struct http_answer text_answer(int status, const char *text)
{
	struct http_answer a = {.status = status, .type = "text/plain; charset=utf-8"};
	char *copy = strdup(text);

	a.body = copy ? http_body_new(copy, strlen(copy)) : NULL;
	return a;
}

static struct http_answer answer(void *context, const struct http_request *r)
{
	const struct run *run = context;
	struct http_body *body = run->bodies[r->open_metrics];

	if (!strcmp(r->path, "/healthz"))
		return run->attached && !run->ended ? text_answer(200, "recording\n")
						    : text_answer(503, "not recording\n");
	if (strcmp(r->path, "/metrics"))
		return text_answer(404, "/metrics and /healthz are here\n");
	if (!body)
		return text_answer(503, "the first interval is not over yet\n");
	body->users++;
	return (struct http_answer){200, r->open_metrics ? METRICS_OPEN : METRICS_PLAIN, body};
}

/* What is served until the next interval is over. */
static int make_bodies(struct run *run)
{
	for (int open = 0; open < 2; open++) {
		struct http_body *body;
		char *text = NULL;
		size_t size;
		FILE *out = open_memstream(&text, &size);

		if (out)
			metrics_put(run->metrics, open, out);
		if (!out || fclose(out)) {
			free(text);
			return -ENOMEM;
		}
		body = http_body_new(text, size);
		if (!body)
			return -ENOMEM;
		http_body_free(run->bodies[open]);
		run->bodies[open] = body;
	}
	return 0;
}

/* Nothing is missing between the interval before and this one. */
static bool goes_on(const struct run *run)
{
	return run->window.seen_to_ns && run->window.from_ns == run->window.seen_to_ns;
}

static int profile_begin(struct run *run, struct analysis *a, const json_t *header)
{
	struct profile_options *o = &run->profile.options;
	int err = 0;

	if (!run->o->live.recorder.sample.period_ns)
		return 0;
	profile_window_set(o, header, &run->window.source.range);
	o->names = analysis_names(a);
	if (goes_on(run)) {
		o->from_begin = run->before.options.from_begin;
		err = profile_go_on(&run->profile, &run->before);
	}
	profile_free(&run->before);
	return err;
}

static int on_begin(void *ctx, struct analysis *a, const json_t *header)
{
	const struct spans_options all = {.names = analysis_names(a)};
	struct run *run = ctx;
	int err = profile_begin(run, a, header);

	if (err)
		return err;
	memset(run->late, 0, sizeof(run->late));
	run->newest_ns = run->window.from_ns;
	analysis_observe(a, blocked_list_part, &run->intervals);
	analysis_observe_intervals(a, blocked_list_interval);
	run->spans = spans_new(&all);
	return run->spans ? 0 : -ENOMEM;
}

static int on_event(void *ctx, const struct event *e)
{
	struct run *run = ctx;
	int err = run->o->live.recorder.sample.period_ns ? profile_add(&run->profile, e) : 0;

	if (e->time_ns >= run->newest_ns)
		run->newest_ns = e->time_ns;
	else if (e->time_ns >= run->window.from_ns && !schema_is_definition(e->id) &&
		 e->id <= SCHEMA_ID_MAX)
		run->late[e->id]++;
	return err ? err : spans_add(run->spans, e);
}

static int on_hole(void *ctx, uint64_t from_ns, uint64_t to_ns)
{
	struct run *run = ctx;

	profile_hole(&run->profile);
	return spans_hole(run->spans, from_ns, to_ns);
}

static int add_window(struct run *run, bool last)
{
	const bool samples = run->o->live.recorder.sample.period_ns != 0;
	const struct metrics_interval interval = {.view = &run->window.view,
						  .blocked = &run->intervals,
						  .spans = run->spans,
						  .profile = samples ? &run->profile : NULL,
						  .late = run->late};
	int err = spans_finish(run->spans, run->window.view.to_ns);

	if (!err && samples)
		err = profile_finish(&run->profile, analysis_wall(run->window.view.log->analysis));
	err = err ? err : metrics_add(run->metrics, &interval);
	if (last)
		metrics_end(run->metrics);
	err = err ? err : make_bodies(run);
	if (err)
		msg_error("the interval cannot be served: %s", max_memory_error(err));
	return err;
}

static void on_window(struct run *run, const struct top_message *message)
{
	const struct log_watch watch = {
		.begin = on_begin, .event = on_event, .hole = on_hole, .ctx = run};
	int err;

	run->asked = false;
	run->window.watch = &watch;
	err = top_window_next(&run->window, message);
	run->window.watch = NULL;
	if (!err)
		err = add_window(run, message->kind == TOP_LAST);
	blocked_list_free(&run->intervals);
	spans_free(run->spans);
	run->spans = NULL;
	if (!err) {
		run->before = run->profile; /* which has been taken over, and freed */
		run->profile = (struct profile){0};
	}
	if (err && err != -ENODATA)
		run->err = err;
}

static void on_message(struct run *run)
{
	struct top_message message;

	if (!top_source_read(&run->live->source, &message)) {
		run->ended = true;
		return;
	}
	message.path[sizeof(message.path) - 1] = message.text[sizeof(message.text) - 1] = 0;
	if (message.kind == TOP_ATTACHED) {
		run->attached = true;
		run->window.record_cpu_ns = message.cpu_ns;
		run->due_ns = clock_mono_ns() + run->o->live.interval_ns + TOP_LATE_NS;
		if (*message.text)
			msg_warning("%s", message.text);
		msg_info("metrics of process %d: http://%s/metrics", (int)run->o->live.recorder.pid,
			 http_server_name(run->server));
	} else if (message.kind == TOP_FAILED) {
		snprintf(run->live->failed, sizeof(run->live->failed), "%s", message.text);
	} else {
		on_window(run, &message);
	}
}

static void on_signal(struct run *run)
{
	struct signalfd_siginfo info;

	while (read(run->live->signals, &info, sizeof(info)) == sizeof(info))
		run->stop = true;
}

static void on_due(struct run *run)
{
	uint64_t now = clock_mono_ns();

	run->due_ns += run->o->live.interval_ns;
	if (run->due_ns < now)
		run->due_ns = now + run->o->live.interval_ns;
	if (!run->asked)
		top_source_ask(&run->live->source);
	run->asked = true;
}

static int wait_ms(const struct run *run)
{
	uint64_t now = clock_mono_ns(), due = http_server_due(run->server);

	if (run->attached && !run->stopping && run->due_ns < due)
		due = run->due_ns;
	if (due == UINT64_MAX)
		return -1;
	return due > now ? (int)((due - now + NS_PER_MS - 1) / NS_PER_MS) : 0;
}

static void loop(struct run *run)
{
	struct pollfd fds[2 + HTTP_FDS];

	while (!run->err && !run->ended) {
		fds[0] = (struct pollfd){.fd = run->live->source.from_recorder, .events = POLLIN};
		fds[1] = (struct pollfd){.fd = run->live->signals, .events = POLLIN};
		http_server_poll(run->server, fds + 2);
		if (poll(fds, 2 + HTTP_FDS, wait_ms(run)) < 0) {
			if (errno != EINTR)
				run->err = -errno;
			continue;
		}
		http_server_run(run->server, fds + 2, clock_mono_ns());
		if (fds[1].revents)
			on_signal(run);
		if (fds[0].revents)
			on_message(run);
		if (run->attached && !run->stopping && clock_mono_ns() >= run->due_ns)
			on_due(run);
		if (run->stop && !run->stopping) {
			top_source_stop(&run->live->source);
			run->stopping = true;
		}
	}
}

/* The recorder has been forked: the socket is this process's only. */
static int serve_with(void *ctx, struct live_recorder *r)
{
	struct run *run = ctx;
	const struct http_options http = {answer, run};
	char why[HTTP_WHY_MAX] = "";
	int err = http_server_listen(run->o->listen, &http, &run->server, why);

	run->live = r;
	if (err)
		msg_error("--listen %s: %s", run->o->listen, why);
	if (!err)
		err = live_give_up_rights(r);
	run->metrics = err ? NULL : metrics_new(run->o->labels);
	if (run->metrics)
		loop(run);
	err = err || run->metrics ? err : -ENOMEM;
	top_window_free(&run->window);
	return err ? err : run->err;
}

int cmd_serve(int argc, char **argv)
{
	static const struct argp argp = {option_table, parse_option, "", doc, NULL, NULL, NULL};
	struct options o = {.live.interval_ns = 5 * NS_PER_S,
			    .listen = LISTEN_DEFAULT,
			    .labels = LABELS_DEFAULT};
	struct run run = {.o = &o};
	int status;

	if (parse_arguments(&argp, argc, argv, 0, &o))
		return CMD_FAILED;
	status = live_record(&o.live, false, serve_with, &run);
	http_server_free(run.server);
	metrics_free(run.metrics);
	http_body_free(run.bodies[0]);
	http_body_free(run.bodies[1]);
	blocked_list_free(&run.intervals);
	profile_free(&run.profile);
	profile_free(&run.before);
	return status;
}
