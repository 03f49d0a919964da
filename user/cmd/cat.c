#include "cmd/cmd.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/msg.h"
#include "log/event.h"
#include "log/names.h"
#include "log/reader.h"

struct options {
	const char *path;
	bool resolve;
	bool header;
	bool filter;
	bool wanted[SCHEMA_ID_MAX + 1]; /* if filter is set */
};

static const struct argp_option option_table[] = {
	{"resolve", 'r', NULL, 0,
	 "Put names in the place of numbers: threads, classes, locks, strings", 0},
	{"event", 'e', "NAME[,NAME...]", 0,
	 "Only events of these kinds; can be given several times", 0},
	{"header", 'H', NULL, 0, "Only the header: host, JVM, clocks, sources; one JSON object", 0},
	{NULL, 0, NULL, 0, NULL, 0},
};

static const char doc[] =
	"Prints a log, one JSON object per event and line, in the order of the file.\v"
	"Each line has time_ns (CLOCK_MONOTONIC), event, thread, and the fields of the event by "
	"name; "
	"the events and their fields are listed in schemas/event-log.md.\n"
	"\n"
	"  spoor cat -r -e monitor_contended_enter app.spoor | jq .lock.class\n"
	"\n"
	"Exit status: 0 all was intact; 1 the log cannot be read, or a part of it is missing, and "
	"what "
	"could be read has been printed; 2 wrong usage.";

/* NULL, or the first name that is no event. */
static const char *parse_events(struct options *o, char *names)
{
	const struct event_desc *desc;
	char *save, *name;

	o->filter = true;
	for (name = strtok_r(names, ",", &save); name; name = strtok_r(NULL, ",", &save)) {
		desc = schema_event_by_name(name);
		if (!desc)
			return name;
		o->wanted[desc->id] = true;
	}
	return NULL;
}

static void print_event_names(struct argp_state *state)
{
	unsigned count, i;
	const struct event_desc *events = schema_events(&count);

	fprintf(state->err_stream, "spoor: the events are:");
	for (i = 0; i < count; i++)
		fprintf(state->err_stream, " %s", events[i].name);
	fputc('\n', state->err_stream);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	const char *wrong;

	switch (key) {
	case 'r':
		o->resolve = true;
		return 0;
	case 'H':
		o->header = true;
		return 0;
	case 'e':
		wrong = parse_events(o, arg);
		if (wrong) {
			print_event_names(state);
			argp_error(state, "there is no event '%s'", wrong);
		}
		return 0;
	case ARGP_KEY_ARG:
		if (o->path)
			argp_error(state, "one FILE at a time, not also '%s'", arg);
		o->path = arg;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which FILE? It is what 'spoor record -o FILE' wrote");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* The texts of a log are UTF-8 without NUL: its reader sees to that. */
static void print_text(const char *text)
{
	static const char short_forms[] = "\"\"\\\\\bb\ff\nn\rr\tt";
	const char *form;

	putchar_unlocked('"');
	for (; *text; text++) {
		for (form = short_forms; *form && *form != *text; form += 2)
			;
		if (*form)
			printf("\\%c", form[1]);
		else if ((unsigned char)*text < 0x20)
			printf("\\u%04x", (unsigned)*text);
		else
			putchar_unlocked(*text);
	}
	putchar_unlocked('"');
}

static void print_thread(const struct log_names *names, uint64_t id)
{
	const struct log_thread *thread = log_names_thread(names, id);

	if (!id) {
		fputs("null", stdout);
		return;
	}
	printf("{\"id\":%" PRIu64, id);
	if (thread) {
		fputs(",\"name\":", stdout);
		print_text(thread->name);
		printf(",\"tid\":%" PRIu64, thread->tid);
	}
	putchar_unlocked('}');
}

/* Numbers that nothing defines stay numbers; 0 is nothing. */
static void print_name(const char *name, uint64_t id)
{
	if (name)
		print_text(name);
	else if (id)
		printf("%" PRIu64, id);
	else
		fputs("null", stdout);
}

static void print_enum(const struct field_desc *field, uint64_t value)
{
	if (value < field->enum_count)
		printf("\"%s\"", field->enum_names[value]);
	else
		printf("%" PRIu64, value);
}

static void print_lock(const struct log_names *names, uint64_t id)
{
	const struct log_lock *lock = log_names_lock(names, id);
	const struct event_desc *desc = schema_event(EVENT_LOCK);

	if (!id) {
		fputs("null", stdout);
		return;
	}
	printf("{\"id\":%" PRIu64, id);
	if (lock) {
		fputs(",\"class\":", stdout);
		print_name(log_names_class(names, lock->class), lock->class);
		fputs(",\"group\":", stdout);
		print_enum(&desc->fields[LOCK_GROUP], lock->group);
	}
	putchar_unlocked('}');
}

/* names: NULL if numbers are wanted. */
static void print_field(const struct log_names *names, const struct field_desc *field,
			union field_value value)
{
	if (field->type == FIELD_STR)
		print_text(value.s);
	else if (field->type == FIELD_BOOL)
		fputs(value.u ? "true" : "false", stdout);
	else if (field->type == FIELD_ENUM)
		print_enum(field, value.u);
	else if (names && field->type == FIELD_THREAD)
		print_thread(names, value.u);
	else if (names && field->type == FIELD_LOCK)
		print_lock(names, value.u);
	else if (names && field->type == FIELD_CLASS)
		print_name(log_names_class(names, value.u), value.u);
	else if (names && field->type == FIELD_STRING)
		print_name(log_names_string(names, value.u), value.u);
	else
		printf("%" PRIu64, value.u);
}

static void print_event(const struct log_names *names, const struct event *e)
{
	const struct event_desc *desc = schema_event(e->id);
	const struct log_names *field_names = names;
	unsigned i;

	/* What an event defines stays a number: its name is the next field. */
	if (e->id == EVENT_CLASS || e->id == EVENT_STRING)
		field_names = NULL;
	printf("{\"time_ns\":%" PRIu64 ",\"event\":\"%s\",\"thread\":", e->time_ns, desc->name);
	if (names)
		print_thread(names, e->thread);
	else
		printf("%" PRIu32, e->thread);
	for (i = 0; i < e->field_count; i++) {
		printf(",\"%s\":", desc->fields[i].name);
		print_field(field_names, &desc->fields[i], e->v[i]);
	}
	fputs("}\n", stdout);
}

static int open_log(const char *path, struct log_reader **ret)
{
	int err = log_reader_open(path, ret);

	if (err == -EPROTO)
		msg_error("%s: this is not a spoor log; 'spoor record -o FILE' writes one", path);
	else if (err == -ENOTSUP)
		msg_error("%s: a newer spoor wrote this log (this is %s); read it with that one",
			  path, SPOOR_VERSION);
	else if (err == -EBADMSG)
		msg_error("%s: the log is damaged at its beginning, in the header, and cannot be "
			  "read",
			  path);
	else if (err)
		msg_error("%s: cannot read it: %s", path, strerror(-err));
	return err;
}

/* The definition of a number may come behind its first use, so names are a pass of their own. */
static int read_names(const char *path, struct log_names **ret)
{
	struct log_names *names = NULL;
	struct log_reader *r = NULL;
	const struct event *e;
	int err;

	err = open_log(path, &r);
	if (err)
		return err;
	names = log_names_new();
	err = names ? 0 : -ENOMEM;
	while (!err && (err = log_reader_next(r, &e)) == 1)
		err = log_names_add(names, e);
	log_reader_close(r);
	if (err && err != -EBADMSG) {
		msg_error("%s: cannot read its names: %s", path, strerror(-err));
		log_names_free(names);
		return err;
	}
	*ret = names;
	return 0;
}

static void tell_damage(const char *path, const struct log_reader *r)
{
	struct log_reader_stats stats;

	log_reader_stats(r, &stats);
	msg_error("%s: a part of the log is missing: %" PRIu64 " damaged and %" PRIu64
		  " lost blocks, %" PRIu64 " bytes skipped; the other %" PRIu64
		  " events have been printed",
		  path, stats.blocks_damaged, stats.blocks_missing, stats.bytes_skipped,
		  stats.events);
}

static void tell_unknown(const char *path, const struct log_reader *r)
{
	struct log_reader_stats stats;

	log_reader_stats(r, &stats);
	if (stats.events_unknown)
		msg_warning("%s: %" PRIu64 " events are of kinds that this spoor does not know",
			    path, stats.events_unknown);
}

static int print_events(const struct options *o, const struct log_names *names,
			struct log_reader *r)
{
	const struct event *e;
	int err;

	while ((err = log_reader_next(r, &e)) == 1) {
		if (!o->filter || o->wanted[e->id])
			print_event(names, e);
		if (ferror_unlocked(stdout))
			return 0;
	}
	if (err == -EBADMSG)
		tell_damage(o->path, r);
	else if (err)
		msg_error("%s: cannot read on: %s", o->path, strerror(-err));
	tell_unknown(o->path, r);
	return err;
}

/* A reader of a pipe that has seen enough is no failure. */
static int finish_output(int err)
{
	if (!fflush(stdout) && !ferror(stdout))
		return err;
	if (errno == EPIPE)
		return err;
	msg_error("cannot write the output: %s", strerror(errno));
	return -EIO;
}

static int print_log(const struct options *o)
{
	struct log_names *names = NULL;
	struct log_reader *r = NULL;
	int err;

	if (o->resolve && !o->header) {
		err = read_names(o->path, &names);
		if (err)
			return err;
	}
	err = open_log(o->path, &r);
	if (err)
		goto out;
	if (o->header) {
		json_dumpf(log_reader_header(r), stdout, JSON_COMPACT);
		putchar('\n');
	} else {
		err = print_events(o, names, r);
	}
	err = finish_output(err);
out:
	log_reader_close(r);
	log_names_free(names);
	return err;
}

int cmd_cat(int argc, char **argv)
{
	static const struct argp argp = {option_table, parse_option, "FILE", doc, NULL, NULL, NULL};
	static char name[] = "spoor cat";
	struct options o = {0};

	argp_err_exit_status = CMD_USAGE;
	argv[0] = name; /* what argp calls it in its messages */
	if (argp_parse(&argp, argc, argv, 0, NULL, &o))
		return CMD_USAGE;
	signal(SIGPIPE, SIG_IGN);
	return print_log(&o) ? CMD_FAILED : CMD_OK;
}
