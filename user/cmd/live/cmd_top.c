#include <argp.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "analyze/registry/analysis.h"
#include "base/text/msg.h"
#include "base/text/units.h"
#include "cmd/cmd.h"
#include "cmd/live/live_run.h"
#include "cmd/live/top_screen.h"
#include "cmd/live/top_window.h"
#include "cmd/parse.h"
#include "report/live/live_cells.h"
#include "report/model/by_list.h"
#include "report/model/where.h"
#include "session/facet_watch.h"
#include "session/max_memory.h"

#define INTERVAL_LEAST_NS (200 * NS_PER_MS)
#define INTERVAL_MOST_NS (600 * NS_PER_S)
#define ROWS 10

enum { OPT_ONCE = LIVE_OWN, OPT_SORT };

struct options {
	struct live_options live;
	bool once, json, text; /* text: also on a terminal */
	unsigned top;
	struct by_list by;
	enum group_order order;
	const char *where_text;
	struct condition *where;
};

static const struct argp_option option_table[] = {
	{"pid", 'p', "PID|NAME", 0,
	 "Watch the JVM with this process id, or the only one with NAME in its command line", 0},
	{"interval", 'i', "TIME", 0, "How long an interval is: 1s (the default), 500ms, 10s", 0},
	{"once", OPT_ONCE, NULL, 0, "Print one interval, then exit", 0},
	{"format", 'f', "text|json", 0,
	 "Print each interval, as text or as a line of JSON; without it there is a screen with "
	 "keys if stdin and stdout are a terminal, else text",
	 0},
	{"where", 'w', "CONDITION", 0,
	 "Only the contentions of which it holds, as spoor report has it", 0},
	{"by", 'b', "A[,B...]", 0,
	 "Also the blocked time nested by these aspects, as spoor report has them", 0},
	{"sort", OPT_SORT, "work|blocked|count|max|p50|p90|p99|p999|value", 0,
	 "What comes first of contentions, as spoor report has it", 0},
	{"top", 't', "N", 0, "Rows of each table that is printed (default 10; all in JSON)", 0},
	{"no-write", LIVE_NO_WRITE, NULL, 0,
	 "Never write to the JVM; monitor events then need -XX:+DTraceMonitorProbes", 0},
	LIVE_PROBES_OPTION,
	LIVE_VIRTUAL_PARKS_OPTION,
	{NULL, 0, NULL, 0, NULL, 0},
};

static const char doc[] =
	"Shows while a JVM runs which locks its threads wait for, who holds them and where, what "
	"the threads do, pauses, and what the hypervisor takes, anew each second.\v"
	"It records as spoor record does, into memory, and detaches when it ends.\n\n"
	"  spoor top -p 4711                    a screen; ? explains the keys\n"
	"  spoor top -p 4711 --once -i 10s      ten seconds as text\n"
	"  spoor top -p 4711 -f json | jq -c '.locks[0]'\n"
	"      the worst lock of each second\n"
	"  spoor top -p 4711 --once --by waiter_pool,owner_method --sort p99\n"
	"      which pools wait for what, the longest waits first\n\n"
	"Exit status: 0 done (also if the JVM has ended); 1 it could not be recorded, or not to "
	"the end; 2 wrong usage.\n";

static void parse_interval(struct options *o, const char *arg, struct argp_state *state)
{
	if (duration_parse(arg, &o->live.interval_ns) || o->live.interval_ns < INTERVAL_LEAST_NS ||
	    o->live.interval_ns > INTERVAL_MOST_NS)
		argp_error(state, "--interval is a time from 200ms to 10m, not '%s'", arg);
}

static void parse_where(struct options *o, const char *arg, struct argp_state *state)
{
	char error[WHERE_ERROR_MAX];
	int err;

	where_free(o->where);
	o->where = NULL;
	err = where_parse(arg, &o->where, error);
	if (err == -EINVAL)
		argp_error(state, "--where '%s': %s", arg, error);
	else if (err)
		argp_failure(state, CMD_FAILED, -err, "--where");
	o->where_text = arg;
}

static void parse_by(struct options *o, const char *arg, struct argp_state *state)
{
	char error[BY_LIST_ERROR_MAX];

	if (by_list_add(&o->by, arg, error))
		argp_error(state, "--by: %s", error);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case 'i':
		parse_interval(o, arg, state);
		return 0;
	case 'f':
		o->json = parse_is_json(arg, state);
		o->text = !o->json;
		return 0;
	case 'w':
		parse_where(o, arg, state);
		return 0;
	case 'b':
		parse_by(o, arg, state);
		return 0;
	case OPT_SORT:
		o->order = parse_found("sort", arg, by_order(arg), BY_ORDERS, state);
		return 0;
	case 't':
		o->top = parse_top(arg, state);
		return 0;
	case OPT_ONCE:
		o->once = true;
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
	struct live_early early;   /* of the window */
	struct facet_watch facets; /* of the window, while it is analysed */
	struct facet_watch shown;  /* of the view that is shown */
	bool has_screen;           /* else text or JSON */
	struct top_screen *screen; /* NULL: it is not open */
	char note[sizeof((struct top_message){0}.text)];
	uint64_t due_ns;
	bool attached, asked, ended; /* ended: the recorder is no more */
	bool stop, stopping;         /* the user wants no more; the recorder has been asked to */
	int err;
};

static int print(struct run *run)
{
	struct live_view v = run->window.view;
	int err;

	v.note = run->note;
	v.early = &run->early;
	v.facets = run->shown.cells;
	v.cut = run->shown.facets;
	v.last &= !run->o->once;
	if (run->screen) {
		top_panes_show(top_screen_panes(run->screen), &v, "");
		return 0; /* it is drawn in any case */
	}
	v.where = run->o->where;
	v.where_text = run->o->where_text;
	v.top = run->o->json ? 0 : run->o->top;
	v.by = run->o->by.by;
	v.depth = run->o->by.depth;
	v.order = run->o->order;
	err = (run->o->json ? live_json : live_text)(&v, stdout);
	if (fflush(stdout) || ferror(stdout)) { /* nobody reads it any more */
		run->stop = true;
		return 0;
	}
	if (err)
		msg_error("cannot show the interval: %s", max_memory_error(err));
	return err;
}

static int on_begin(void *ctx, struct analysis *a, const json_t *header)
{
	struct run *run = ctx;

	live_early_reset(&run->early, run->window.from_ns);
	if (facet_watch_begin(&run->facets, a, header))
		return -ENOMEM;
	if (run->facets.cells)
		facet_cells_observe(run->facets.cells, live_early_observe, &run->early);
	else
		analysis_observe(a, live_early_observe, &run->early);
	return 0;
}

static int on_event(void *ctx, const struct event *e)
{
	struct run *run = ctx;

	return facet_watch_event(&run->facets, e);
}

static int on_hole(void *ctx, uint64_t from_ns, uint64_t to_ns)
{
	struct run *run = ctx;

	(void)to_ns;
	return facet_watch_hole(&run->facets, from_ns);
}

/* What its cells are to be cut by: what the options or, on the screen, the keys ask for. */
static void facets_begin(struct run *run)
{
	run->facets = (struct facet_watch){.source = &run->window.source};
	run->facets.facets = run->screen ? top_panes_facets(top_screen_panes(run->screen))
					 : where_facets(run->o->where) |
						   aspects_facets(run->o->by.by, run->o->by.depth);
}

/* What is on the screen stays there if nothing new comes. */
static void facets_end(struct run *run, int err)
{
	facet_watch_free(err ? &run->facets : &run->shown);
	if (!err)
		run->shown = run->facets;
}

static void on_window(struct run *run, const struct top_message *message)
{
	const struct log_watch watch = {
		.begin = on_begin, .event = on_event, .hole = on_hole, .ctx = run};
	bool show = !(run->screen && run->stop) && !ferror(stdout) &&
		    !(run->o->once && message->kind != TOP_LAST);
	int err = 0;

	run->asked = false;
	run->window.watch = &watch;
	if (show) {
		facets_begin(run);
		err = top_window_next(&run->window, message);
		if (!err && run->facets.cells)
			err = facet_cells_error(run->facets.cells);
		facets_end(run, err);
	} else {
		unlink(message->path);
	}
	run->window.watch = NULL;
	if (show && !err)
		err = print(run);
	if (err && err != -ENODATA)
		run->err = err;
}

static void on_attached(struct run *run, const struct top_message *message)
{
	uint64_t now = clock_mono_ns();

	run->attached = true;
	run->window.record_cpu_ns = message->cpu_ns; /* attaching is not what recording costs */
	snprintf(run->note, sizeof(run->note), "%s", message->text);
	run->due_ns = now + run->o->live.interval_ns + (run->o->once ? 0 : TOP_LATE_NS);
	if (run->screen)
		top_panes_show(top_screen_panes(run->screen), NULL,
			       "attached; the first interval is not over yet");
}

static void on_message(struct run *run)
{
	struct top_message message;

	if (!top_source_read(&run->live->source, &message)) {
		run->ended = true;
		return;
	}
	message.path[sizeof(message.path) - 1] = message.text[sizeof(message.text) - 1] = 0;
	if (message.kind == TOP_ATTACHED)
		on_attached(run, &message);
	else if (message.kind == TOP_FAILED)
		snprintf(run->live->failed, sizeof(run->live->failed), "%s", message.text);
	else
		on_window(run, &message);
}

static void on_signal(struct run *run)
{
	struct signalfd_siginfo info;

	while (read(run->live->signals, &info, sizeof(info)) == sizeof(info))
		if (info.ssi_signo != SIGWINCH && info.ssi_signo != SIGTSTP)
			run->stop = true;
}

static void on_due(struct run *run)
{
	run->due_ns += run->o->live.interval_ns;
	if (run->due_ns < clock_mono_ns())
		run->due_ns = clock_mono_ns() + run->o->live.interval_ns;
	if (run->o->once) {
		run->stop = true;
		return;
	}
	if (run->screen && top_panes_is_paused(top_screen_panes(run->screen))) {
		run->window.skip_ns = run->o->live.interval_ns;
		return;
	}
	if (!run->asked)
		top_source_ask(&run->live->source);
	run->asked = true;
}

static int wait_ms(const struct run *run)
{
	uint64_t now = clock_mono_ns();

	if (!run->attached || run->stopping)
		return -1;
	return run->due_ns > now ? (int)((run->due_ns - now + NS_PER_MS - 1) / NS_PER_MS) : 0;
}

/* The screen stays when the JVM has ended, until a key says that it was seen. */
static bool is_over(const struct run *run)
{
	return run->err ||
	       (run->ended && (!run->screen || run->stop || *run->live->failed || !run->attached));
}

static void loop(struct run *run)
{
	struct pollfd fds[3];

	while (!is_over(run)) {
		fds[0] = (struct pollfd){.fd = run->ended ? -1 : run->live->source.from_recorder,
					 .events = POLLIN};
		fds[1] = (struct pollfd){.fd = run->live->signals, .events = POLLIN};
		fds[2] = (struct pollfd){.fd = run->screen ? STDIN_FILENO : -1, .events = POLLIN};
		if (run->screen && top_screen_draw(run->screen))
			run->stop = true;
		if (poll(fds, 3, run->ended ? -1 : wait_ms(run)) < 0 && errno != EINTR)
			run->err = -errno;
		if (fds[1].revents)
			on_signal(run);
		if (fds[2].revents && !top_screen_keys(run->screen))
			run->stop = true;
		if (fds[0].revents)
			on_message(run);
		if (run->attached && !run->ended && !run->stopping &&
		    clock_mono_ns() >= run->due_ns)
			on_due(run);
		if (run->stop && !run->stopping) {
			top_source_stop(&run->live->source);
			run->stopping = true;
		}
	}
}

static int run_with(void *ctx, struct live_recorder *r)
{
	struct run *run = ctx;
	int err = live_give_up_rights(r);

	run->live = r;
	if (!err && run->has_screen) {
		err = top_screen_open(&run->screen);
		if (!err && run->o->where_text)
			top_panes_where(top_screen_panes(run->screen), run->o->where_text);
		if (!err)
			top_panes_by(top_screen_panes(run->screen), &run->o->by, run->o->order);
		if (!err)
			top_panes_show(top_screen_panes(run->screen), NULL, "attaching");
	}
	if (!err)
		loop(run);
	top_screen_close(run->screen);
	run->screen = NULL;
	facet_watch_free(&run->shown);
	top_window_free(&run->window);
	live_early_reset(&run->early, 0);
	return err ? err : run->err;
}

int cmd_top(int argc, char **argv)
{
	static const struct argp argp = {option_table, parse_option, "", doc, NULL, NULL, NULL};
	struct options o = {.live.interval_ns = NS_PER_S, .top = ROWS};
	struct run run = {.o = &o};
	int status;

	if (parse_arguments(&argp, argc, argv, 0, &o))
		return CMD_FAILED;
	run.has_screen =
		!o.once && !o.json && !o.text && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
	status = live_record(&o.live, run.has_screen, run_with, &run);
	where_free(o.where);
	return status;
}
