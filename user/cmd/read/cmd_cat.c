#include "cmd/cmd.h"
#include "cmd/read/log_options.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text/msg.h"
#include "base/text/print.h"
#include "cmd/parse.h"
#include "log/format/event.h"
#include "log/read/names.h"
#include "log/read/reader.h"
#include "session/analyze_log.h"
#include "session/log_source.h"
#include "session/max_memory.h"

struct options {
	struct log_source source;
	unsigned frames; /* of each call chain, at most */
	bool resolve;
	bool header;
	bool filter;
	bool selected[SCHEMA_ID_MAX + 1]; /* if filter is set */
};

static const struct argp_option option_table[] = {
	{"resolve", 'r', NULL, 0,
	 "Put names in the place of numbers: threads, classes, locks, strings, methods, call "
	 "chains",
	 0},
	{"frames", 'n', "N", 0,
	 "With --resolve: at most the N innermost frames of each call chain; 0: none", 0},
	{"event", 'e', "NAME[,NAME...]", 0,
	 "Only events of these kinds; can be given several times", 0},
	{"header", 'H', NULL, 0, "Only the header: host, JVM, clocks, sources; one JSON object", 0},
	RANGE_OPTIONS,
	LOG_SOURCE_OPTIONS,
	{NULL, 0, NULL, 0, NULL, 0},
};

static const char doc[] =
	"Prints a log, one JSON object per event and line, in the order of the file.\v"
	"Each line has time_ns (CLOCK_MONOTONIC), event, thread, and the fields of the event by "
	"name; the events and their fields are listed in schemas/event-log.md.\n"
	"\n"
	"  spoor cat -r -e monitor_contended_enter app.spoor | jq .lock.class\n"
	"  spoor cat -r -n 1 app.spoor | jq -r '.stack.frames[0].method // empty'\n"
	"\n"
	"Exit status: 0 all was intact; 1 the log cannot be read, or a part of it is missing, and "
	"what could be read has been printed; 2 wrong usage.";

static unsigned parse_frames(const char *arg, struct argp_state *state)
{
	char *end;
	unsigned long n;

	errno = 0;
	n = strtoul(arg, &end, 10);
	if (errno || end == arg || *end || *arg == '-' || n > UINT_MAX)
		argp_error(state, "--frames wants a number, not '%s'", arg);
	return (unsigned)n;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	if (log_files_option(&o->source, key, arg, state))
		return 0;
	switch (key) {
	case 'r':
		o->resolve = true;
		return 0;
	case 'n':
		o->frames = parse_frames(arg, state);
		return 0;
	case 'H':
		o->header = true;
		return 0;
	case 'e':
		o->filter = true;
		parse_events(arg, o->selected, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* key: of spoor itself. */
static void print_key(const char *key)
{
	fputs(",\"", stdout);
	print_own(stdout, key);
	fputs("\":", stdout);
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
		print_json_string(stdout, thread->name);
		if (thread->is_virtual)
			printf(",\"java_id\":%" PRIu64, thread->java_id);
		else
			printf(",\"tid\":%" PRIu64, thread->tid);
	}
	putchar_unlocked('}');
}

/* Numbers that nothing defines stay numbers; 0 is nothing. */
static void print_name(const char *name, uint64_t id)
{
	if (name)
		print_json_string(stdout, name);
	else if (id)
		printf("%" PRIu64, id);
	else
		fputs("null", stdout);
}

static void print_enum(const struct field_desc *field, uint64_t value)
{
	if (value < field->enum_count)
		print_json_string(stdout, field->enum_names[value]);
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

/* What is put in the place of numbers, and how much of it. */
struct resolve {
	const struct log_names *names;
	unsigned frames;
};

static void print_member(const char *key, const char *text)
{
	print_key(key);
	print_json_string(stdout, text);
}

static void print_method(const struct log_names *names, uint64_t id)
{
	const struct log_method *m = log_names_method(names, id);

	if (!id) {
		fputs("null", stdout);
		return;
	}
	printf("{\"id\":%" PRIu64, id);
	if (m) {
		print_member("class", m->class_name);
		print_member("method", m->name);
		print_member("signature", m->signature);
		print_member("source", m->source);
		fputs(m->hidden ? ",\"hidden\":true" : ",\"hidden\":false", stdout);
	}
	putchar_unlocked('}');
}

/* stack: NULL where the log lacks the definition of the callers. */
static void print_frame(const struct log_names *names, const struct log_stack *stack)
{
	static const struct log_method none = {"", "", "", "", false};
	const struct event_desc *desc = schema_event(EVENT_STACK);
	const struct log_method *m = stack ? log_names_method(names, stack->method) : NULL;

	m = m ? m : &none;
	fputs("{\"class\":", stdout);
	print_json_string(stdout, m->class_name);
	print_member("method", m->name);
	print_member("signature", m->signature);
	printf(",\"line\":%" PRIu64 ",\"bci\":%" PRIu64 ",\"type\":", stack ? stack->line : 0,
	       stack ? stack->bci : 0);
	if (stack)
		print_enum(&desc->fields[STACK_FRAME], stack->frame);
	else
		print_json_string(stdout, "missing");
	fputs(m->hidden ? ",\"hidden\":true" : ",\"hidden\":false", stdout);
	fputs(stack && stack->inferred ? ",\"inferred\":true}" : ",\"inferred\":false}", stdout);
}

/* A chain ends, as a caller's number is always smaller than the one that names it. */
static void print_stack(const struct resolve *resolve, uint64_t id)
{
	const struct log_stack *stack = log_names_stack(resolve->names, id);
	uint64_t printed = 0, all = 0;

	if (!id) {
		fputs("null", stdout);
		return;
	}
	printf("{\"id\":%" PRIu64, id);
	if (stack) {
		fputs(",\"frames\":[", stdout);
		for (; id; id = stack ? stack->caller : 0, all++) {
			stack = log_names_stack(resolve->names, id);
			if (all >= resolve->frames)
				continue;
			if (printed++)
				putchar_unlocked(',');
			print_frame(resolve->names, stack);
		}
		putchar_unlocked(']');
		if (all > printed)
			printf(",\"more\":%" PRIu64, all - printed);
	}
	putchar_unlocked('}');
}

/* resolve: NULL if numbers are wanted. */
static void print_field(const struct resolve *resolve, const struct field_desc *field,
			union field_value value)
{
	const struct log_names *names = resolve ? resolve->names : NULL;

	if (field->type == FIELD_STR)
		print_json_string(stdout, value.s);
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
	else if (names && field->type == FIELD_METHOD)
		print_method(names, value.u);
	else if (names && field->type == FIELD_STACK)
		print_stack(resolve, value.u);
	else
		printf("%" PRIu64, value.u);
}

/*
 * What an event defines stays a number: its name is the next field. The caller of a chain stays
 * one, too: else the text of a log would grow with the square of the depth of its chains.
 */
static bool stays_number(const struct event *e, const struct field_desc *field)
{
	return e->id == EVENT_CLASS || e->id == EVENT_STRING || e->id == EVENT_METHOD ||
	       (e->id == EVENT_STACK && field->type == FIELD_STACK);
}

static void print_event(const struct resolve *resolve, const struct event *e)
{
	const struct event_desc *desc = schema_event(e->id);
	unsigned i;

	printf("{\"time_ns\":%" PRIu64 ",\"event\":", e->time_ns);
	print_json_string(stdout, desc->name);
	fputs(",\"thread\":", stdout);
	if (resolve)
		print_thread(resolve->names, e->thread);
	else
		printf("%" PRIu32, e->thread);
	for (i = 0; i < desc->field_count; i++) {
		const struct field_desc *field = &desc->fields[i];

		print_key(field->name);
		print_field(stays_number(e, field) ? NULL : resolve, field, e->v[i]);
	}
	fputs("}\n", stdout);
}

/* The definition of a number may come after its first use, so names are a pass of their own. */
static int read_names(struct log_source *source, struct log_names **ret)
{
	struct log_names *names = NULL;
	struct log_reader *r = NULL;
	const struct event *e;
	int err;

	err = log_source_open_again(source, &r);
	if (err)
		return err;
	log_reader_definitions(r);
	names = log_names_new();
	err = names ? 0 : -ENOMEM;
	while (!err && (err = log_reader_next(r, &e)) == 1)
		err = log_names_add(names, e);
	log_reader_close(r);
	if (err && err != -EBADMSG) {
		msg_error("%s: cannot read its names: %s", source->name, max_memory_error(err));
		log_names_free(names);
		return err;
	}
	*ret = names;
	return 0;
}

static void report_damage(const char *path, const struct log_reader *r)
{
	struct log_reader_stats stats;

	log_reader_stats(r, &stats);
	msg_error("%s: a part of the log is missing: %" PRIu64 " damaged and %" PRIu64
		  " lost blocks, %" PRIu64 " bytes skipped; the other %" PRIu64
		  " events have been printed",
		  path, stats.blocks_damaged, stats.blocks_missing, stats.bytes_skipped,
		  stats.events);
}

static void report_unknown(const char *path, const struct log_reader *r)
{
	struct log_reader_stats stats;

	log_reader_stats(r, &stats);
	if (stats.events_unknown)
		msg_warning("%s: %" PRIu64 " events are of kinds that this spoor does not know",
			    path, stats.events_unknown);
}

/* names: NULL if numbers are wanted. */
static int print_events(const struct options *o, const struct log_names *names,
			struct log_reader *r, bool *ret_ended)
{
	const struct resolve resolve = {names, o->frames};
	const struct event *e;
	int err;

	while ((err = log_reader_next(r, &e)) == 1) {
		*ret_ended |= e->id == EVENT_END;
		if ((!o->filter || o->selected[e->id]) && range_has(&o->source.range, e->time_ns))
			print_event(names ? &resolve : NULL, e);
		if (ferror_unlocked(stdout))
			return 0;
	}
	if (err == -EBADMSG)
		report_damage(o->source.name, r);
	else if (err)
		msg_error("%s: cannot read on: %s", o->source.name, max_memory_error(err));
	report_unknown(o->source.name, r);
	return err;
}

/* A reader of a pipe that has seen enough is no failure. */
static int finish(int err)
{
	if (!fflush(stdout) && !ferror(stdout))
		return err;
	if (errno == EPIPE)
		return err;
	msg_error("cannot write the output: %s", strerror(errno));
	return -EIO;
}

static int print_log(struct options *o)
{
	struct log_names *names = NULL;
	struct log_reader *r = NULL;
	bool ended = false;
	int err;

	if (o->resolve && !o->header) {
		err = read_names(&o->source, &names);
		if (err)
			return err;
	}
	err = log_source_open(&o->source, &r);
	if (err)
		goto out;
	if (o->header) {
		print_json_value(stdout, log_reader_header(r), JSON_COMPACT);
		putchar('\n');
	} else {
		err = print_events(o, names, r, &ended);
	}
	err = finish(err);
	log_report_holes(log_reader_header(r), o->source.set, ended || o->header);
out:
	log_reader_close(r);
	log_names_free(names);
	return err;
}

/*
 * The C library's own 4 KiB wake up who reads a pipe 200,000 times for 900 MB of text; what comes
 * out of a recording that goes on must not wait for that much.
 */
static void widen_output(const struct log_source *source)
{
	static char bytes[64 * 1024];

	if (!isatty(STDOUT_FILENO) && strcmp(source->args[0], "-"))
		setvbuf(stdout, bytes, _IOFBF, sizeof(bytes));
}

int cmd_cat(int argc, char **argv)
{
	static const struct argp argp = {option_table, parse_option, "FILE...", doc,
					 NULL,         NULL,         NULL};
	struct options o = {.frames = UINT_MAX};
	int err;

	if (parse_arguments(&argp, argc, argv, 0, &o))
		return CMD_FAILED;
	widen_output(&o.source);
	err = print_log(&o);
	log_source_free(&o.source);
	return err ? CMD_FAILED : CMD_OK;
}
