#include "cmd/cmd.h"
#include "cmd/rights.h"

#include "base/text/msg.h"
#include "base/text/print.h"
#include "cmd/parse.h"
#include "cmd/record/doctor_repair.h"
#include "jvm/find.h"
#include "record/doctor/doctor_check.h"

#include <argp.h>
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
	pid_t pid;       /* 0: the machine only */
	const char *jvm; /* instead: a part of its command line */
	bool json;
	bool repair;
};

enum { OPT_REPAIR = 1000 };

static const struct argp_option option_table[] = {
	{"pid", 'p', "PID|NAME", 0,
	 "Also look at the JVM in this process, or the only one with NAME in its command line", 0},
	{"format", 'F', "text|json", 0, "How to print (default: text)", 0},
	{"repair", OPT_REPAIR, NULL, 0,
	 "Turn DTraceMonitorProbes off in PID if a killed recorder has left it on; no checks", 0},
	{NULL, 0, NULL, 0, NULL, 0},
};

static const char doc[] =
	"Says whether this machine, and with -p this JVM, can be recorded, and what is missing.\v"
	"One line for each thing that a recording needs: ok; warning, if a recording works but "
	"lacks something; missing, if none works; and what to do about it. Nothing is changed "
	"without --repair: where a right or a feature of the kernel is in question it is tried, "
	"with a program that does nothing.\n"
	"\n"
	"  spoor doctor -p $(pgrep -n java)\n"
	"  spoor doctor --repair -p 4711\n"
	"\n"
	"Exit status: 0 a recording works; 1 it does not; 2 wrong usage. With --repair: 0 the flag "
	"is off, or the user's own; 1 it could not be turned off, or somebody is recording.";

static const char *const state_names[CHECK_STATE_COUNT] = {
	[CHECK_OK] = "ok",
	[CHECK_WARNING] = "warning",
	[CHECK_MISSING] = "missing",
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	char *end;
	long pid;

	switch (key) {
	case 'p':
		errno = 0;
		pid = strtol(arg, &end, 10);
		o->jvm = *end || end == arg ? arg : NULL;
		if (!*arg || (!o->jvm && (errno || pid <= 0 || pid > INT_MAX)))
			argp_error(state, "'%s' is not a process id", arg);
		o->pid = o->jvm ? 0 : (pid_t)pid;
		return 0;
	case 'F':
		o->json = parse_is_json(arg, state);
		return 0;
	case OPT_REPAIR:
		o->repair = true;
		return 0;
	case ARGP_KEY_END:
		if (o->repair && !o->pid && !o->jvm)
			argp_error(state, "--repair needs a process (-p PID)");
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "'%s' is too much (a process is given with -p)", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* One sentence. */
static void verdict_write(const struct options *o, const struct checks *c, char *ret, size_t size)
{
	const char *what = o->pid ? "this JVM on this machine" : "a JVM on this machine";
	size_t missing = checks_count(c, CHECK_MISSING), warnings = checks_count(c, CHECK_WARNING);
	const char *first = "";

	for (size_t i = c->count; i-- > 0;)
		if (c->v[i].state == CHECK_MISSING)
			first = c->v[i].name;
	if (missing > 1)
		snprintf(ret, size,
			 "A recording of %s cannot work: %zu things are missing, the first is "
			 "\"%s\".",
			 what, missing, first);
	else if (missing)
		snprintf(ret, size, "A recording of %s cannot work: see \"%s\".", what, first);
	else if (warnings)
		snprintf(ret, size,
			 "A recording of %s works, with the limits named in %zu warning%s.", what,
			 warnings, warnings == 1 ? "" : "s");
	else
		snprintf(ret, size, "A recording of %s works.", what);
}

static void print_table(const struct checks *c, const char *verdict)
{
	for (size_t i = 0; i < c->count; i++) {
		const struct check *k = &c->v[i];

		print_text(stdout, "%-8s %-14s %s%s%s\n", state_names[k->state], k->name, k->found,
			   *k->advice ? "; to do: " : "", k->advice);
	}
	print_text(stdout, "\n%s\n", verdict);
}

static int print_checks(const struct checks *c, const char *verdict)
{
	json_t *list = json_array(), *all;
	int err = 0;

	for (size_t i = 0; i < c->count; i++) {
		const struct check *k = &c->v[i];

		err |= json_array_append_new(list,
					     json_pack("{s:s, s:s, s:s, s:s}", "name", k->name,
						       "state", state_names[k->state], "found",
						       k->found, "advice", k->advice));
	}
	all = json_pack("{s:b, s:s, s:o}", "can_record", !checks_count(c, CHECK_MISSING), "verdict",
			verdict, "checks", list);
	if (!err && all)
		err = print_json_value(stdout, all, JSON_INDENT(2));
	else
		err = -ENOMEM;
	json_decref(all);
	putchar('\n');
	return err;
}

static int run(const struct options *o)
{
	struct checks c = {0};
	char verdict[256];
	int err = check_kernel(&c);

	if (!err && o->pid)
		err = check_jvm(&c, o->pid);
	if (!err) {
		verdict_write(o, &c, verdict, sizeof(verdict));
		if (o->json)
			err = print_checks(&c, verdict);
		else
			print_table(&c, verdict);
	}
	if (err)
		msg_error("the checks could not be finished: %s", strerror(-err));
	else if (fflush(stdout) || ferror(stdout))
		err = -EIO;
	if (!err && checks_count(&c, CHECK_MISSING))
		err = -ENOTSUP;
	checks_free(&c);
	return err;
}

int cmd_doctor(int argc, char **argv)
{
	static const struct argp argp = {option_table, parse_option, NULL, doc, NULL, NULL, NULL};
	char why[JVM_FIND_WHY_MAX];
	struct options o = {0};

	if (parse_arguments(&argp, argc, argv, 0, &o))
		return CMD_FAILED;
	if (rights_attach())
		return CMD_FAILED;
	if (o.jvm && jvm_find(o.jvm, &o.pid, why)) {
		msg_error("%s", why);
		return CMD_FAILED;
	}
	if (o.repair)
		return doctor_repair(o.pid);
	return run(&o) ? CMD_FAILED : CMD_OK;
}
