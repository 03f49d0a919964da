#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text/msg.h"
#include "base/text/print.h"
#include "base/text/units.h"
#include "cmd/cmd.h"
#include "cmd/parse.h"
#include "cmd/record/record_watched.h"
#include "cmd/rights.h"
#include "cmd/signals.h"
#include "log/write/writer.h"
#include "record/watch/rules.h"
#include "record/watch/watcher.h"

#define MAX_JVMS 32
#define MAX_BYTES (128ull << 20)
#define MAX_TOTAL (4ull << 30)

enum { OPT_CGROUP = 1500, OPT_MAX_JVMS, OPT_MAX_SIZE, OPT_MAX_TOTAL, OPT_JSON, OPT_LIST };

struct options {
	struct watch_options watch;
	struct rules rules;
	bool quiet, json, list;
	char **record; /* arguments of spoor record: the first is its name */
	int record_count;
};

static const struct argp_option option_table[] = {
	{"output", 'o', "DIR", 0, "write the logs to this folder (default: spoor-watch)", 0},
	{"name", 'n', "TEXT", 0, "follow JVMs with TEXT in their command line", 0},
	{"label", 'l', "LABEL=PATTERN", 0,
	 "follow JVMs whose pod, container, runtime or unit (of systemd) is like PATTERN, with * "
	 "and ?; --list shows which JVM has which",
	 0},
	{"cgroup", OPT_CGROUP, "PATTERN", 0,
	 "follow JVMs whose cgroup's path is like PATTERN: '*/kubepods*'", 0},
	{"list", OPT_LIST, NULL, 0,
	 "only list the JVMs that there are now, with their labels, and say which are followed", 0},
	{"max-jvms", OPT_MAX_JVMS, "N", 0,
	 "record so many at a time (default: 32; at most 255): the others wait", 0},
	{"max-size", OPT_MAX_SIZE, "SIZE", 0,
	 "keep the newest SIZE of each JVM's log (default: 128M), in parts", 0},
	{"max-total", OPT_MAX_TOTAL, "SIZE", 0,
	 "all logs in DIR together (default: 4G): the oldest of JVMs that have ended are deleted",
	 0},
	{"json", OPT_JSON, NULL, 0, "write what happens to standard output, an object per line", 0},
	{"quiet", 'q', NULL, 0, "say nothing unless something is wrong", 0},
	{0},
};

static const char doc[] =
	"Follows the JVMs of this machine (or of what spoor can see of it) as they begin and end, "
	"and records each into a log of its own, within bounds for each and for all.\v"
	"Rules may be given several times. Of each kind (--name, --label, --cgroup) one must fit; "
	"with a ! in front, none may. Without rules all JVMs are followed.\n\n"
	"What follows -- are options of spoor record for each JVM. Its defaults here are --probes "
	"none (nothing is written to the JVMs), --buffer 4M and --max-threads 4096.\n\n"
	"Examples:\n"
	"  spoor watch --list\n"
	"  spoor watch -o /var/log/spoor --name orders.jar --name billing.jar\n"
	"  spoor watch -l 'pod=*' -l '!unit=elasticsearch*' --max-total 20G\n"
	"  spoor watch -n tomcat -- --probes usdt --off-cpu 10ms\n\n"
	"Exit status: 0 it was told to end; 1 it could not be done; 2 wrong usage.";

static uint64_t parse_size(struct argp_state *state, const char *arg)
{
	uint64_t size;

	if (size_parse(arg, &size) || !size)
		argp_error(state, "'%s' is not a size such as 128M", arg);
	return size;
}

static void parse_jvms(struct argp_state *state, const char *arg, unsigned *ret)
{
	char *end;
	long n = strtol(arg, &end, 10);

	if (end == arg || *end || n < 1 || n > WATCH_JVMS_MAX)
		argp_error(state, "--max-jvms is from 1 to %d, not '%s'", WATCH_JVMS_MAX, arg);
	*ret = (unsigned)n;
}

static void parse_rule(struct argp_state *state, const char *arg, enum rule_kind kind,
		       struct rules *rules)
{
	switch (rules_add(rules, kind, arg)) {
	case -E2BIG:
		argp_error(state, "there are more than %d rules", RULES_MAX);
		break;
	case -ENOENT:
		argp_error(state, "--label is pod=, container=, runtime= or unit=, not '%s'", arg);
		break;
	case -EINVAL:
		argp_error(state, "'%s' is no %s", arg,
			   kind == RULE_LABEL ? "label with a pattern, such as pod=*" : "rule");
		break;
	}
}

static void check(struct options *o, struct argp_state *state)
{
	uint64_t least = log_writer_least_bytes(0);
	char text[UNITS_TEXT_MAX];

	if (o->watch.max_bytes < least)
		argp_error(state, "--max-size is %s or more", size_format(least, text));
	if (o->watch.max_total < o->watch.max_bytes)
		argp_error(state, "--max-total is --max-size or more");
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case 'o':
		o->watch.folder = arg;
		return 0;
	case 'n':
		parse_rule(state, arg, RULE_NAME, &o->rules);
		return 0;
	case 'l':
		parse_rule(state, arg, RULE_LABEL, &o->rules);
		return 0;
	case OPT_CGROUP:
		parse_rule(state, arg, RULE_CGROUP, &o->rules);
		return 0;
	case OPT_LIST:
		o->list = true;
		return 0;
	case OPT_MAX_JVMS:
		parse_jvms(state, arg, &o->watch.max_jvms);
		return 0;
	case OPT_MAX_SIZE:
		o->watch.max_bytes = parse_size(state, arg);
		return 0;
	case OPT_MAX_TOTAL:
		o->watch.max_total = parse_size(state, arg);
		return 0;
	case OPT_JSON:
		o->json = true;
		return 0;
	case 'q':
		o->quiet = true;
		return 0;
	case ARGP_KEY_ARG:
		/* Only behind "--" there is anything. */
		if (strcmp(state->argv[state->next - 2], "--"))
			argp_error(state,
				   "'%s' is no option; options of spoor record come behind --",
				   arg);
		o->record = state->argv + state->next - 1;
		o->record_count = state->argc - state->next + 1;
		state->next = state->argc;
		return 0;
	case ARGP_KEY_END:
		check(o, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {option_table, parse_option, "[-- RECORD-OPTION...]", doc, NULL,
				 NULL,         NULL};

/* The arguments of record for one JVM: the defaults first, so that the user's count. */
static char **record_arguments(const struct options *o, const char *pid, int *ret_count)
{
	char *const own[] = {"spoor record", "-p",   (char *)pid, "--max-size", "",
			     "--probes",     "none", "--buffer",  "4M",         "--max-threads",
			     "4096"};
	size_t n = sizeof(own) / sizeof(*own);
	static char bytes[32];
	char **argv = calloc(n + 2 + (size_t)o->record_count, sizeof(*argv));

	if (!argv)
		return NULL;
	memcpy(argv, own, sizeof(own));
	snprintf(bytes, sizeof(bytes), "%llu", (unsigned long long)o->watch.max_bytes);
	argv[4] = bytes;
	if (o->quiet)
		argv[n++] = "-q";
	for (int i = 0; i < o->record_count; i++)
		argv[n++] = o->record[i];
	*ret_count = (int)n;
	return argv;
}

static int on_record(void *ctx, const struct watch_jvm *jvm, struct relay *relay, unsigned slot)
{
	const struct options *o = ctx;
	const struct record_watched w = {.pid = jvm->pid,
					 .path = jvm->path,
					 .max_bytes = o->watch.max_bytes,
					 .relay = relay,
					 .relay_slot = slot,
					 .starting = jvm->starting};
	char pid[16], **argv;
	int argc, status;

	snprintf(pid, sizeof(pid), "%d", jvm->pid);
	argv = record_arguments(o, pid, &argc);
	if (!argv) {
		msg_error("out of memory");
		return CMD_FAILED;
	}
	status = record_watched(&w, argc, argv);
	free(argv);
	return status;
}

static const char *const event_names[] = {
	[WATCH_FOUND] = "found",   [WATCH_NO_PLACE] = "no_place", [WATCH_NO_ROOM] = "no_room",
	[WATCH_FAILED] = "failed", [WATCH_ENDED] = "ended",
};

static void put_jvm(const struct watch_jvm *j)
{
	print_json(stdout, "\"pid\":%d,\"name\":%s,\"labels\":{\"cgroup\":%s", (int)j->pid, j->name,
		   j->labels.cgroup);
	for (enum label l = 0; l < LABEL_COUNT; l++)
		if (*j->labels.value[l])
			print_json(stdout, ",%s:%s", label_name(l), j->labels.value[l]);
	print_json(stdout, "}");
}

static void report_as_json(const struct watch_report *t)
{
	print_json(stdout, "{\"wall_ns\":%llu,\"event\":%s,", (unsigned long long)clock_wall_ns(),
		   event_names[t->event]);
	put_jvm(t->jvm);
	if (*t->jvm->path)
		print_json(stdout, ",\"log\":%s", t->jvm->path);
	if (t->event == WATCH_FOUND)
		print_json(stdout, ",\"age_ms\":%llu,\"deleted_files\":%u,\"deleted_bytes\":%llu",
			   (unsigned long long)t->jvm->age_ms, t->freed.files,
			   (unsigned long long)t->freed.bytes);
	if (t->event == WATCH_ENDED)
		print_json(stdout, ",\"status\":%d",
			   WIFEXITED(t->status) ? WEXITSTATUS(t->status)
						: 128 + WTERMSIG(t->status));
	print_json(stdout, "}\n");
	fflush(stdout);
}

/* A recorder reports when it is attached, and at its end. */
static void report_as_text(const struct options *o, const struct watch_report *t)
{
	const struct watch_jvm *j = t->jvm;
	char bytes[UNITS_TEXT_MAX];

	switch (t->event) {
	case WATCH_FOUND:
		if (t->freed.files && !o->quiet)
			msg_info("%u older file%s, %s, deleted for the log of %d %s",
				 t->freed.files, t->freed.files == 1 ? "" : "s",
				 size_format(t->freed.bytes, bytes), j->pid, j->name);
		return;
	case WATCH_NO_PLACE:
		msg_warning("%d %s is not recorded yet: %u JVMs are (--max-jvms)", j->pid, j->name,
			    o->watch.max_jvms);
		return;
	case WATCH_NO_ROOM:
		msg_warning("%d %s is not recorded yet: the logs of those that are may need all of "
			    "--max-total",
			    j->pid, j->name);
		return;
	case WATCH_FAILED:
		msg_error("%d %s is not recorded: %s", j->pid, j->name, strerror(-t->err));
		return;
	case WATCH_ENDED:
		if (WIFSIGNALED(t->status))
			msg_error("the recorder of %d %s was killed by signal %d: its log is read "
				  "as far as it goes",
				  j->pid, j->name, WTERMSIG(t->status));
		return;
	}
}

static void on_report(void *ctx, const struct watch_report *t)
{
	const struct options *o = ctx;

	if (o->json)
		report_as_json(t);
	report_as_text(o, t);
}

static void on_ready(void *ctx)
{
	const struct options *o = ctx;
	char each[UNITS_TEXT_MAX], all[UNITS_TEXT_MAX];

	if (!o->quiet)
		msg_info("watching: %u JVMs at a time, %s of each and %s of all in %s",
			 o->watch.max_jvms, size_format(o->watch.max_bytes, each),
			 size_format(o->watch.max_total, all), o->watch.folder);
}

struct listing {
	const struct options *o;
	unsigned count, fitting;
};

static void on_listed(void *ctx, const struct watch_jvm *j, bool fits)
{
	struct listing *list = ctx;

	list->count++;
	list->fitting += fits;
	if (list->o->json) {
		print_json(stdout, "{");
		put_jvm(j);
		print_json(stdout, fits ? ",\"followed\":true}\n" : ",\"followed\":false}\n");
		return;
	}
	print_text(stdout, "%8d  %s  %s\n", (int)j->pid, fits ? "yes" : "no ", j->name);
	for (enum label l = 0; l < LABEL_COUNT; l++)
		if (*j->labels.value[l])
			print_text(stdout, "%15s%s=%s\n", "", label_name(l), j->labels.value[l]);
	print_text(stdout, "%15scgroup %s\n", "", j->labels.cgroup);
}

static int list(const struct options *o)
{
	struct listing l = {.o = o};
	int err;

	if (rights_attach())
		return CMD_FAILED;
	if (!o->json)
		puts("     pid  followed, labels");
	err = watch_list(&o->rules, on_listed, &l);
	if (err) {
		msg_error("/proc cannot be read: %s", strerror(-err));
		return CMD_FAILED;
	}
	if (!o->quiet)
		msg_info("%u JVM%s, of which %u would be followed", l.count,
			 l.count == 1 ? "" : "s", l.fitting);
	return CMD_OK;
}

static int watch(struct options *o)
{
	static const int which[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD, 0};
	int signals = signals_open(which), err;
	char why[WATCH_WHY_MAX];

	if (signals < 0) {
		msg_error("signalfd: %s", strerror(errno));
		return CMD_FAILED;
	}
	/* The recorders begin with what this process has. */
	err = rights_attach();
	if (err)
		return CMD_FAILED;
	err = watch_run(&o->watch, signals, on_ready, why);
	close(signals);
	if (!err)
		return CMD_OK;
	msg_error("%s", why);
	return CMD_FAILED;
}

int cmd_watch(int argc, char **argv)
{
	struct options o = {.watch = {.folder = "spoor-watch",
				      .max_jvms = MAX_JVMS,
				      .max_bytes = MAX_BYTES,
				      .max_total = MAX_TOTAL,
				      .record = on_record,
				      .report = on_report}};
	const char *why;
	char **record;
	int count;

	if (parse_arguments(&argp, argc, argv, ARGP_IN_ORDER, &o))
		return CMD_FAILED;
	o.watch.ctx = &o;
	o.watch.rules = &o.rules;
	record = record_arguments(&o, "1", &count);
	if (!record) {
		msg_error("out of memory");
		return CMD_FAILED;
	}
	why = record_watched_check(count, record);
	free(record);
	if (why) {
		msg_error("%s", why);
		return CMD_USAGE;
	}
	return o.list ? list(&o) : watch(&o);
}
