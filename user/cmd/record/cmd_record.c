#include <argp.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/text/msg.h"
#include "base/text/print.h"
#include "base/text/units.h"
#include "cmd/cmd.h"
#include "cmd/parse.h"
#include "cmd/record/record_command.h"
#include "cmd/record/record_flight.h"
#include "cmd/record/record_memory.h"
#include "cmd/record/record_output.h"
#include "cmd/record/record_watched.h"
#include "cmd/rights.h"
#include "cmd/sample_option.h"
#include "cmd/signals.h"
#include "jvm/find.h"
#include "jvm/flag/flag_guard.h"
#include "jvm/native_symbols.h"
#include "record/session/launch.h"
#include "record/session/monitor_flag.h"
#include "record/session/recorder.h"

#define OBJECTS_BYTES_MIN (256ull << 20)
#define STATUS_MS 250
#define FIND_MS 2 /* between two looks for libjvm.so in a command that has just been started */

struct options {
	struct recorder_options recorder;
	uint64_t duration_ns;
	bool quiet;
	bool every_switch; /* of --lab */
	bool off_cpu_given;
	char **command;    /* NULL: -p */
	const char *jvm;   /* of -p: a number, or a name that is looked for */
	const char *user;  /* as whom the command runs; NULL: as whoever runs spoor */
	bool kill_foreign; /* the command runs as somebody else */
	char path[64];
};

enum {
	OPT_NO_WRITE = 1000,
	OPT_NO_STACKS,
	OPT_PROBES,
	OPT_STOCK_PROBES,
	OPT_SINGLE,
	OPT_EVERY_WAIT,
	OPT_VIRTUAL_PARKS,
	OPT_BUFFER,
	OPT_WINDOW,
	OPT_OFF_CPU,
	OPT_SAMPLE,
	OPT_FRAGMENTS,
	OPT_LAB,
	OPT_OBJECTS,
	OPT_OBJECTS_POINTERS
};

static const struct argp_option argp_options[] = {
	{"pid", 'p', "PID|NAME", 0,
	 "record the JVM with this process id, or the only one with NAME in its command line", 0},
	{"user", 'u', "USER", 0, "run COMMAND as this user (root may)", 0},
	{"duration", 'd', "TIME", 0,
	 "stop after TIME: 30, 30s, 500ms, 5m, 1h (default: until Ctrl-C or the JVM's end)", 0},
	{"quiet", 'q', NULL, 0, "say nothing unless something is wrong", 0},
	{"no-write", OPT_NO_WRITE, NULL, 0,
	 "never write to the JVM; monitor events then need -XX:+DTraceMonitorProbes", 0},
	{"no-stacks", OPT_NO_STACKS, NULL, 0, "record no call chains", 0},
	{"probes", OPT_PROBES, "none|usdt|hooks|monitors|auto", 0,
	 "what tells of locks and waits: none (the scheduler; the JVM is not touched, and is "
	 "slowed down least), usdt (the probes of a stock JVM), hooks (those of a patched one), "
	 "monitors (hooks for monitors, with their numbers; the scheduler for parks, which slows a "
	 "program that parks much down less), auto (default: hooks of a patched JVM, none where "
	 "the JVM has no virtual threads and Linux is 6.15 or newer, else usdt, if there are such "
	 "probes)",
	 0},
	{"stock-probes", OPT_STOCK_PROBES, NULL, 0, "the same as --probes usdt", 0},
	{"single", OPT_SINGLE, "TIME", 0,
	 "where the scheduler tells of waits: tell each wait on a queue, a condition or the like "
	 "that is this long (default: 1ms); shorter ones are summed up by thread, blocker and call "
	 "chain",
	 0},
	{"every-wait", OPT_EVERY_WAIT, NULL, 0, "the same as --single 0", 0},
	{"virtual-parks", OPT_VIRTUAL_PARKS, NULL, 0,
	 "of JDK 21 or later: also virtual threads that wait for locks, queues and conditions of "
	 "java.util.concurrent and leave their carriers; a program that hands much from one "
	 "virtual thread to another is slowed down by that. Not with the hooks of a patched JVM",
	 0},
	{"buffer", OPT_BUFFER, "SIZE", 0,
	 "ring buffer between kernel and spoor (default: 16M; 64M with --sample faster than 500us)",
	 0},
	{"window", OPT_WINDOW, "TIME", 0, "sample threads and CPUs this often (default: 1s)", 0},
	{"off-cpu", OPT_OFF_CPU, "TIME", 0,
	 "tell each break of a thread that is this long: asleep, in I/O, without a CPU (default: "
	 "1ms); shorter ones are in the sums only",
	 0},
	{"sample", OPT_SAMPLE, "TIME[,jitter=off][,event=EVENT][,symbols]", OPTION_ARG_OPTIONAL,
	 "look where each running thread is whenever it has run for TIME (default: 10ms; 1ms, "
	 "100us; by chance a little more or less), for spoor profile; symbols: with the names of "
	 "native and kernel functions; EVENT: timer, a timer of each CPU (default); cpu-clock, a "
	 "clock of each thread (default with symbols): costs more where threads come and go often; "
	 "cycles: the same by the PMU, where there is one that interrupts without an NMI; "
	 "tick: at the kernel's own ticks, TIME is a number of these (4ms, 8ms, ...): costs least, "
	 "above all in virtual machines",
	 0},
	{"fragments", OPT_FRAGMENTS, "SIZE", OPTION_ARG_OPTIONAL,
	 "with --sample: copy SIZE of the stack with each sample (4K, 8K, 16K, 32K, 64K; default: "
	 "32K), find the chain in that as well, compare the two, and take it where no other was "
	 "found; for experiments, it costs more than the samples themselves",
	 0},
	{"lab", OPT_LAB, "every-switch", 0,
	 "for experiments, with --sample: the call chain at each switch away from a CPU, whatever "
	 "it is for and however short, for spoor profile --lab gap-weights; it costs a program "
	 "that switches much more than all else, and may lose events",
	 0},
	{"objects", OPT_OBJECTS, "exact|lossy", OPTION_ARG_OPTIONAL,
	 "each object that is allocated, and each that a collection moves, for spoor objects; of a "
	 "patched JVM, which switches them on for the recording: its threads stop while its "
	 "heap is walked. exact: threads wait rather than lose events; lossy (default): never",
	 0},
	{"objects-pointers", OPT_OBJECTS_POINTERS, "WHICH", 0,
	 "with --objects: also who refers to whom, and all roots, for spoor heap keep; after "
	 "collections that were asked for, as by System.gc() or jcmd PID GC.run (triggered), of "
	 "the whole heap (full), after each Nth (N), or each (all), which takes longer for it",
	 0},
	{0},
};

static const char doc[] = "Records lock contention and parking with the call chains of both sides, "
			  "garbage collection, safepoints, "
			  "scheduling and steal time of a JVM "
			  "(OpenJDK with USDT probes, as most distributions build it) while it "
			  "runs, and writes an event log.\v"
			  "The JVM needs no flag and no agent. With --probes usdt spoor turns its "
			  "flag DTraceMonitorProbes on for the time of the "
			  "recording and puts it back, whatever happens to spoor meanwhile.\n\n"
			  "With COMMAND, spoor starts it, records the first JVM among it and its "
			  "children to its end, and exits with "
			  "the command's own status.\n\n"
			  "Examples:\n"
			  "  spoor record -p 4711 -d 30s -o app.spoor\n"
			  "  spoor record -o build.spoor -- java -jar app.jar\n\n"
			  "Exit status: 0 recorded (also if the JVM ended meanwhile); 1 it could "
			  "not be recorded, or not to the end; 2 wrong "
			  "usage.";

static error_t parse_size(struct argp_state *state, const char *text,
			  int (*parse)(const char *, uint64_t *), const char *what, uint64_t *ret)
{
	if (parse(text, ret) || !*ret)
		argp_error(state, "'%s' is not a %s", text, what);
	return 0;
}

static void parse_pointers(const char *arg, struct argp_state *state, struct recorder_options *o)
{
	char *end = NULL;
	unsigned long n = *arg >= '1' && *arg <= '9' ? strtoul(arg, &end, 10) : 0;

	o->pointers_full = !strcmp(arg, "full");
	o->pointers_triggered = !strcmp(arg, "triggered");
	o->pointers_every = !strcmp(arg, "all");
	if (n && n <= UINT16_MAX && !*end)
		o->pointers_every = (uint16_t)n;
	if (!recorder_wants_pointers(o))
		argp_error(state, "--objects-pointers=%s: all, full, triggered, or N: 1 to %d", arg,
			   UINT16_MAX);
}

static void check_objects(const struct recorder_options *o, struct argp_state *state)
{
	if (recorder_wants_pointers(o) && !o->objects)
		argp_error(state, "--objects-pointers is for --objects");
	if (o->objects && o->log.max_bytes && o->log.max_bytes < OBJECTS_BYTES_MIN)
		argp_error(state, "with --objects --max-size is 256M or more: each part begins "
				  "with what is in the heap");
}

static enum probe_set parse_probes(const char *arg, struct argp_state *state)
{
	return (enum probe_set)parse_word("probes", arg, probe_set_names, state);
}

static uint32_t parse_fragments(const char *arg, struct argp_state *state)
{
	uint64_t bytes = 32768;

	if (arg && (size_parse(arg, &bytes) || bytes < 4096 || bytes > 65536 ||
		    (bytes & (bytes - 1))))
		argp_error(state, "--fragments=%s: 4K, 8K, 16K, 32K or 64K", arg);
	return (uint32_t)bytes;
}

static void check_all(struct options *o, struct argp_state *state)
{
	struct recorder_options *r = &o->recorder;

	if (!o->jvm == !o->command)
		argp_error(state, o->command ? "either -p PID or COMMAND, not both"
					     : "-p PID or COMMAND is needed");
	if (o->user && !o->command)
		argp_error(state, "-u USER is for COMMAND");
	if (r->fragment_bytes && (!r->sample.period_ns || r->no_stacks))
		argp_error(state, "--fragments is for --sample%s",
			   r->sample.period_ns ? ", without --no-stacks" : "");
	if (o->every_switch && (!r->sample.period_ns || r->no_stacks))
		argp_error(state, "--lab every-switch is for --sample%s",
			   r->sample.period_ns ? ", without --no-stacks" : "");
	if (o->every_switch && o->off_cpu_given)
		argp_error(state, "--lab every-switch takes switches of any length: no --off-cpu "
				  "with it");
	if (o->every_switch)
		r->off_cpu_ns = 0;
	record_flight_check(r, state);
	record_output_check(&r->log, o->command != NULL, state);
	record_memory_check(r, state);
	check_objects(r, state);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->recorder.log;
		state->child_inputs[1] = &o->recorder;
		state->child_inputs[2] = &o->recorder;
		state->child_inputs[3] = &o->recorder;
		return 0;
	case 'p':
		o->jvm = arg;
		o->recorder.pid = parse_jvm(arg, state);
		return 0;
	case 'u':
		o->user = arg;
		return 0;
	case 'd':
		return parse_size(state, arg, duration_parse, "duration such as 30s",
				  &o->duration_ns);
	case 'q':
		o->quiet = true;
		return 0;
	case OPT_NO_WRITE:
		o->recorder.no_write = true;
		return 0;
	case OPT_NO_STACKS:
		o->recorder.no_stacks = true;
		return 0;
	case OPT_PROBES:
	case OPT_STOCK_PROBES:
		o->recorder.probes = parse_probes(key == OPT_PROBES ? arg : "usdt", state);
		return 0;
	case OPT_SINGLE:
		if (duration_parse(arg, &o->recorder.single_ns))
			argp_error(state, "'%s' is not a duration such as 1ms", arg);
		return 0;
	case OPT_EVERY_WAIT:
		o->recorder.single_ns = 0;
		return 0;
	case OPT_VIRTUAL_PARKS:
		o->recorder.virtual_parks = true;
		return 0;
	case OPT_BUFFER:
		return parse_size(state, arg, size_parse, "size such as 16M",
				  &o->recorder.buffer_bytes);
	case OPT_WINDOW:
		return parse_size(state, arg, duration_parse, "duration such as 1s",
				  &o->recorder.window_ns);
	case OPT_OFF_CPU:
		o->off_cpu_given = true;
		return parse_size(state, arg, duration_parse, "duration such as 1ms",
				  &o->recorder.off_cpu_ns);
	case OPT_SAMPLE:
		parse_sample(arg, true, &o->recorder.sample, state);
		return 0;
	case OPT_FRAGMENTS:
		o->recorder.fragment_bytes = parse_fragments(arg, state);
		return 0;
	case OPT_LAB:
		if (strcmp(arg, "every-switch") != 0)
			argp_error(state, "--lab=%s: every-switch", arg);
		o->every_switch = true;
		return 0;
	case OPT_OBJECTS:
		o->recorder.objects = true;
		o->recorder.objects_exact = arg && !strcmp(arg, "exact");
		if (arg && !o->recorder.objects_exact && strcmp(arg, "lossy") != 0)
			argp_error(state, "--objects=%s: exact or lossy", arg);
		return 0;
	case OPT_OBJECTS_POINTERS:
		parse_pointers(arg, state, &o->recorder);
		return 0;
	case ARGP_KEY_ARGS:
		o->command = state->argv + state->next;
		return 0;
	case ARGP_KEY_END:
		check_all(o, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {{&record_output_argp, 0, NULL, 0},
					     {&record_flight_argp, 0, NULL, 0},
					     {&record_memory_argp, 0, NULL, 0},
					     {&record_command_argp, 0, NULL, 0},
					     {0}};
static const struct argp argp = {
	argp_options, parse_option, "-p PID\n-- COMMAND [ARG...]", doc, children, NULL, NULL};

static void name_log(struct options *o)
{
	time_t now = time(NULL);
	struct tm tm;
	char when[32];

	if (o->recorder.log.path)
		return;
	localtime_r(&now, &tm);
	strftime(when, sizeof(when), "%Y%m%d-%H%M%S", &tm);
	snprintf(o->path, sizeof(o->path), "spoor-%d-%s.spoor", o->recorder.pid, when);
	o->recorder.log.path = o->path;
}

static void print_status(const struct recorder *r, struct recorder_stats *last)
{
	struct recorder_stats s;
	char elapsed[UNITS_TEXT_MAX], bytes[UNITS_TEXT_MAX];
	uint64_t interval;

	recorder_stats(r, &s);
	interval = s.elapsed_ns - last->elapsed_ns;
	print_text(stderr, "\r\033[K%s  %llu events  %llu/s  %llu lost  %s",
		   duration_format(s.elapsed_ns, elapsed), (unsigned long long)s.log.events,
		   (unsigned long long)(interval ? (s.log.events - last->log.events) * NS_PER_S /
							   interval
						 : 0),
		   (unsigned long long)s.lost, size_format(s.log.bytes, bytes));
	fflush(stderr);
	*last = s;
}

static void print_summary(const struct options *o, const struct recorder_stats *s)
{
	const struct log_writer_options *log = &o->recorder.log;

	if (log->keep_ns)
		record_flight_summary(s);
	else
		record_output_summary(log, s);
	if (s->lost)
		msg_warning("events were lost: totals are lower bounds%s",
			    s->lost_ring ? "; a larger --buffer helps" : "");
	if (s->objects)
		record_output_objects(s);
	record_memory_summary(&o->recorder, s);
	if (s->flag.found_off)
		msg_warning(MONITOR_FLAG_FOUND_OFF, s->flag.found_off);
	if (s->flag.others)
		msg_info(MONITOR_FLAG_OTHERS);
	if (!log->keep_ns)
		record_output_read_it(log);
}

/* What a signal means for the recording: RECORDER_INTERRUPTED for Ctrl-C and kill, nothing for
 * SIGCHLD; SIGUSR1 wants the flight recorder's memory. */
static bool signal_read(int fd, bool *ret_dump)
{
	struct signalfd_siginfo info;
	bool stop = false;

	while (read(fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGUSR1)
			*ret_dump = true;
		else
			stop |= info.ssi_signo != SIGCHLD;
	}
	return stop;
}

static const int signals_read[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD, SIGUSR1, 0};

static void on_before_write(void *ctx)
{
	(void)ctx;
	signals_deadly(false);
}

/* Records until something ends it; that something. why is filled when it is RECORDER_FAILED. */
static enum recorder_end record_until_end(struct recorder *r, const struct options *o, int signals,
					  bool status, char why[RECORDER_WHY_MAX])
{
	struct recorder_stats last = {0};
	bool dump = false;
	uint64_t end = o->duration_ns ? clock_mono_ns() + o->duration_ns : UINT64_MAX;

	for (;;) {
		uint64_t now = clock_mono_ns();
		int slice = STATUS_MS, err;

		if (now >= end)
			return RECORDER_DONE;
		if (end - now < (uint64_t)slice * NS_PER_MS)
			slice = (int)((end - now + NS_PER_MS - 1) / NS_PER_MS);
		err = recorder_run(r, slice, signals, why);
		if (err < 0)
			return RECORDER_FAILED;
		if (err == 2)
			return RECORDER_JVM_EXITED;
		if (err == 1 && signal_read(signals, &dump))
			return RECORDER_INTERRUPTED;
		if (dump && o->recorder.flight.keep_ns && recorder_dump(r, "SIGUSR1", why))
			return RECORDER_FAILED;
		dump = false;
		if (status)
			print_status(r, &last);
	}
}

/* The status that the command's end means for our own. */
static int wait_status(pid_t child, bool *ret_killed)
{
	int status;

	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return CMD_FAILED;
	*ret_killed = WIFSIGNALED(status);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Waits until the command, or a child of it, is a JVM. 0: it ended before, or we were asked to
 * stop.
 */
static bool wait_for_jvm(pid_t child, int signals, pid_t *ret)
{
	struct pollfd fd = {.fd = signals, .events = POLLIN};
	bool dump; /* there is nothing yet */
	siginfo_t info;

	for (;;) {
		if (launch_find_jvm(child, ret) == 1)
			return true;
		memset(&info, 0, sizeof(info));
		if (!waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid)
			return false;
		poll(&fd, 1, FIND_MS);
		if (signal_read(signals, &dump)) {
			kill(child, SIGTERM);
			return false;
		}
	}
}

/* What is wrong is said with --quiet, too. */
static void report_begin(const struct options *o, const struct recorder *r)
{
	struct jvm_support support;
	char missing[1024];

	if (!o->quiet && o->recorder.flight.keep_ns)
		record_flight_intro(&o->recorder);
	else if (!o->quiet)
		msg_info("recording %d to %s", o->recorder.pid,
			 record_output_name(&o->recorder.log));
	if (recorder_probes_missing(r, missing, sizeof(missing))[0])
		msg_warning("this JVM lacks some probes, their events are missing: %s", missing);
	if (recorder_hooks_unused(r))
		msg_warning("this JVM is patched, but its hooks are not used: %s",
			    recorder_hooks_unused(r));
	recorder_support(r, &support);
	for (int i = 0; i < JVM_LIMIT_COUNT; i++)
		if (*support.text[i])
			msg_warning("%s", support.text[i]);
	if (recorder_kernel_limits(r))
		msg_warning("%s", recorder_kernel_limits(r));
	if (recorder_monitor_missing(r))
		msg_warning("monitor events are missing: %s", recorder_monitor_why(r));
	if (recorder_parks_missing(r))
		msg_warning("--virtual-parks has no effect: %s", recorder_parks_missing(r));
	if (recorder_owners_unseen(r))
		msg_warning("owners of locks that keep their CPU are not looked at meanwhile: "
			    "perf_event_open() is refused (by a seccomp profile, or "
			    "for want of CAP_PERFMON; where kernel.perf_event_paranoid is more "
			    "than 2, of CAP_SYS_ADMIN)");
	if (recorder_flag_left(r) && !o->quiet)
		msg_info(MONITOR_FLAG_LEFT);
}

static int record(struct options *o, int signals, bool own_child)
{
	bool status = !o->quiet && !o->recorder.relay && isatty(STDERR_FILENO);
	struct flight_report report = {.quiet = o->quiet};
	char why[RECORDER_WHY_MAX] = "", close_why[RECORDER_WHY_MAX] = "";
	struct recorder_stats stats;
	struct recorder *r;
	enum recorder_end end;
	int err;

	name_log(o);
	o->recorder.starting |= own_child;
	o->recorder.dumped = record_flight_report;
	o->recorder.dumped_ctx = &report;
	o->recorder.before_write = on_before_write;
	if (o->recorder.sample.symbols)
		o->recorder.kernel_symbols = native_symbols_kernel();
	err = rights_attach();
	if (err)
		return CMD_FAILED;
	/* A command that was started is to be ended, too: it is when it is recorded. */
	if (!own_child)
		signals_deadly(true);
	err = recorder_open(&o->recorder, &r, why);
	if (err) {
		msg_error("%s", why);
		return CMD_FAILED;
	}
	err = rights_record(&o->recorder.log,
			    o->recorder.log.max_bytes || o->recorder.flight.keep_ns,
			    o->kill_foreign);
	if (err) {
		recorder_close(r, RECORDER_FAILED, NULL, close_why);
		return CMD_FAILED;
	}
	report_begin(o, r);
	end = record_until_end(r, o, signals, status, why);
	if (status)
		fputs("\r\033[K", stderr);
	if (end == RECORDER_INTERRUPTED && own_child)
		kill(o->recorder.pid, SIGTERM);
	err = recorder_close(r, end, &stats, close_why);
	if (end == RECORDER_FAILED)
		msg_error("%s: %s", record_output_name(&o->recorder.log), why);
	else if (err)
		msg_error("%s: %s", record_output_name(&o->recorder.log), close_why);
	if (!o->quiet)
		print_summary(o, &stats);
	if (end == RECORDER_JVM_EXITED && !own_child && !o->quiet)
		msg_info("the JVM has ended meanwhile%s%s%s", why[0] ? " (" : "", why,
			 why[0] ? ")" : "");
	return err || report.failed || end == RECORDER_FAILED ? CMD_FAILED : CMD_OK;
}

static int record_command(struct options *o, int signals)
{
	bool killed = false;
	struct launch_user *user = NULL;
	int err, status = CMD_FAILED, command_status;
	pid_t child;

	if (o->user && launch_user_find(o->user, &user)) {
		msg_error("there is no user '%s'", o->user);
		return CMD_FAILED;
	}
	o->kill_foreign = user && launch_user_id(user) != getuid();
	err = launch_start(o->command, user, &child);
	free(user);
	if (err) {
		msg_error("%s cannot be started%s%s: %s", o->command[0], o->user ? " as " : "",
			  o->user ? o->user : "", strerror(-err));
		return err == -ENOENT ? 127 : 126;
	}
	if (wait_for_jvm(child, signals, &o->recorder.pid))
		status = record(o, signals, true);
	else
		msg_error("%s has ended without starting a JVM: nothing was recorded",
			  o->command[0]);
	command_status = wait_status(child, &killed);
	return command_status ? command_status : status;
}

/* The JVM that -p names. */
static int find_jvm(struct options *o)
{
	char why[JVM_FIND_WHY_MAX];

	if (o->recorder.pid || !jvm_find(o->jvm, &o->recorder.pid, why))
		return 0;
	msg_error("%s", why);
	return -ESRCH;
}

static void options_init(struct options *o)
{
	*o = (struct options){.recorder = {.window_ns = NS_PER_S,
					   .off_cpu_ns = NS_PER_MS,
					   .single_ns = NS_PER_MS,
					   .log.compression.codec = BLOCK_CODEC_ZSTD}};
}

/* All but the parsing of the options. */
static int run(struct options *o, int argc, char **argv)
{
	int signals, status;

	/* First, while this process is small. Without it there are no monitor events, and why. */
	if (!o->recorder.no_write && o->recorder.probes != PROBES_NONE)
		flag_guard_start(&o->recorder.guard);
	signals = signals_open(signals_read);
	if (signals < 0) {
		msg_error("signalfd: %s", strerror(errno));
		flag_guard_free(o->recorder.guard);
		return CMD_FAILED;
	}
	o->recorder.command = record_command_json(&o->recorder, argc - 1, argv + 1);
	if (o->command)
		status = record_command(o, signals);
	else
		status = find_jvm(o) ? CMD_FAILED : record(o, signals, false);
	flag_guard_free(o->recorder.guard);
	json_decref(o->recorder.command);
	close(signals);
	return status;
}

int cmd_record(int argc, char **argv)
{
	struct options o;

	options_init(&o);
	if (parse_arguments(&argp, argc, argv, ARGP_IN_ORDER, &o))
		return CMD_FAILED;
	return run(&o, argc, argv);
}

const char *record_watched_check(int argc, char **argv)
{
	struct options o;

	options_init(&o);
	if (parse_arguments(&argp, argc, argv, ARGP_IN_ORDER, &o))
		return "there is not enough memory";
	if (o.command || o.recorder.pid != RECORD_WATCHED_ANY || o.user)
		return "which JVMs are recorded is what the rules say: no -p, -u or COMMAND";
	if (o.recorder.log.path || o.recorder.log.overwrite)
		return "logs get their names in --directory: no -o or -f";
	if (o.recorder.objects)
		return "--objects is for spoor record";
	if (o.recorder.flight.keep_ns)
		return "what --flight-recorder writes has no bound: it is for spoor record";
	return NULL;
}

int record_watched(const struct record_watched *w, int argc, char **argv)
{
	struct options o;

	options_init(&o);
	if (parse_arguments(&argp, argc, argv, ARGP_IN_ORDER, &o))
		return CMD_FAILED;
	o.recorder.pid = w->pid;
	o.recorder.log.path = w->path;
	o.recorder.log.max_bytes = w->max_bytes;
	o.recorder.relay = w->relay;
	o.recorder.relay_slot = w->relay_slot;
	o.recorder.starting = w->starting;
	return run(&o, argc, argv);
}
