#include "report/csv/event_table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text/print.h"
#include "base/text/units.h"
#include "log/format/event.h"
#include "log/read/names.h"

enum cell {
	CELL_TIME_NS,
	CELL_TIME,
	CELL_NUMBER,
	CELL_BOOL,
	CELL_TEXT,
	CELL_ENUM,
	CELL_THREAD_NAME,
	CELL_THREAD_TID,
	CELL_CLASS_NAME,
	CELL_LOCK_CLASS,
	CELL_LOCK_GROUP,
	CELL_STRING_TEXT,
	CELL_METHOD_NAME,
	CELL_FRAMES,
};

#define OF_EVENT (-1) /* the event's own thread */

struct column {
	char *name;
	enum cell cell;
	int field;
};

#define COLUMNS_MAX (5 + 3 * EVENT_FIELDS_MAX)

struct event_table {
	const struct event_desc *desc;
	const struct event_table_options *options;
	const struct log_names *names;
	unsigned how; /* enum print_csv */
	bool has_wall;
	uint64_t mono_ns, wall_ns; /* one moment in both clocks */
	time_t second;             /* that second_text is of */
	char second_text[32];
	unsigned count;
	struct column columns[COLUMNS_MAX];
};

static bool ends_in(const char *name, const char *unit)
{
	size_t n = strlen(name), u = strlen(unit);

	return n > u && name[n - u - 1] == '_' && !strcmp(name + n - u, unit);
}

static int add(struct event_table *t, enum cell cell, int field, const char *name, const char *more)
{
	struct column *c = &t->columns[t->count];

	if (asprintf(&c->name, "%s%s%s", name, *more ? "_" : "", more) < 0) {
		c->name = NULL;
		return -ENOMEM;
	}
	for (char *p = c->name; *p; p++)
		if (*p == ' ') /* of a unit such as "ns or ms" */
			*p = '_';
	c->cell = cell;
	c->field = field;
	t->count++;
	return 0;
}

/* What an event defines is a number only: what it stands for is in its other fields. */
static bool defines(const struct event_desc *desc, const struct field_desc *field)
{
	static const struct {
		unsigned event;
		enum field_type type;
	} own[] = {
		{EVENT_CLASS, FIELD_CLASS},   {EVENT_LOCK, FIELD_LOCK},
		{EVENT_STRING, FIELD_STRING}, {EVENT_METHOD, FIELD_METHOD},
		{EVENT_STACK, FIELD_STACK},
	};

	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		if (own[i].event == desc->id && own[i].type == field->type)
			return true;
	return false;
}

static int add_field(struct event_table *t, int n)
{
	static const struct {
		enum cell cell;
		const char *name;
	} more[FIELD_TYPE_COUNT][2] = {
		[FIELD_THREAD] = {{CELL_THREAD_NAME, "name"}, {CELL_THREAD_TID, "tid"}},
		[FIELD_CLASS] = {{CELL_CLASS_NAME, "name"}},
		[FIELD_LOCK] = {{CELL_LOCK_CLASS, "class"}, {CELL_LOCK_GROUP, "group"}},
		[FIELD_STRING] = {{CELL_STRING_TEXT, "text"}},
		[FIELD_METHOD] = {{CELL_METHOD_NAME, "name"}},
		[FIELD_STACK] = {{CELL_FRAMES, "frames"}},
	};
	const struct field_desc *field = &t->desc->fields[n];
	bool unit = field->unit && !ends_in(field->name, field->unit);
	enum cell cell = field->type == FIELD_STR    ? CELL_TEXT
			 : field->type == FIELD_BOOL ? CELL_BOOL
			 : field->type == FIELD_ENUM ? CELL_ENUM
						     : CELL_NUMBER;
	int err = add(t, cell, n, field->name, unit ? field->unit : "");

	for (int i = 0; i < 2 && !err && !defines(t->desc, field); i++)
		if (more[field->type][i].name)
			err = add(t, more[field->type][i].cell, n, field->name,
				  more[field->type][i].name);
	return err;
}

static void set_clock(struct event_table *t, const json_t *header)
{
	const json_t *mono = json_object_get(header, "start_mono_ns");
	const json_t *wall = json_object_get(header, "start_wall_ns");

	t->has_wall = json_is_integer(mono) && json_is_integer(wall);
	t->mono_ns = (uint64_t)json_integer_value(mono);
	t->wall_ns = (uint64_t)json_integer_value(wall);
}

int event_table_new(const struct event_desc *desc, const struct event_table_options *options,
		    const struct log_names *names, const json_t *header, struct event_table **ret)
{
	struct event_table *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return -ENOMEM;
	t->desc = desc;
	t->options = options;
	t->names = names;
	t->second = -1;
	t->how = options->raw ? PRINT_CSV_RAW : 0;
	set_clock(t, header);
	err = add(t, CELL_TIME_NS, OF_EVENT, "time_ns", "");
	err = err ? err : add(t, CELL_TIME, OF_EVENT, "time", "");
	err = err ? err : add(t, CELL_NUMBER, OF_EVENT, "thread", "");
	err = err ? err : add(t, CELL_THREAD_NAME, OF_EVENT, "thread", "name");
	err = err ? err : add(t, CELL_THREAD_TID, OF_EVENT, "thread", "tid");
	for (unsigned i = 0; i < desc->field_count && !err; i++)
		err = add_field(t, (int)i);
	if (err)
		event_table_free(t);
	else
		*ret = t;
	return err;
}

void event_table_free(struct event_table *t)
{
	if (!t)
		return;
	for (unsigned i = 0; i < COLUMNS_MAX; i++)
		free(t->columns[i].name);
	free(t);
}

unsigned event_table_columns(const struct event_table *t)
{
	return t->count;
}

const char *event_table_column(const struct event_table *t, unsigned n)
{
	return t->columns[n].name;
}

static void put_piece(const struct event_table *t, const char *text, FILE *out)
{
	if (t->options->csv)
		print_csv_piece(out, text, t->how);
	else
		print_json_piece(out, text);
}

/* Text in quotes, in pieces. */
static void put_open(const struct event_table *t, const char *first, FILE *out)
{
	if (t->options->csv)
		print_csv_open(out, first, t->how);
	else
		putc_unlocked('"', out);
}

static void put_text(const struct event_table *t, const char *text, FILE *out)
{
	if (t->options->csv)
		print_csv_field(out, text, t->how);
	else
		print_json_string(out, text);
}

static void put_null(const struct event_table *t, FILE *out)
{
	if (!t->options->csv)
		fputs("null", out);
}

static void put_maybe(const struct event_table *t, const char *text, FILE *out)
{
	if (text)
		put_text(t, text, out);
	else
		put_null(t, out);
}

static void put_number(uint64_t number, FILE *out)
{
	char digits[24], *p = digits + sizeof(digits);

	*--p = '\0';
	do
		*--p = (char)('0' + number % 10);
	while (number /= 10);
	print_own(out, p);
}

/* In years of four digits, as ISO 8601 has them. */
static void put_time(struct event_table *t, uint64_t time_ns, FILE *out)
{
	uint64_t ns = t->wall_ns + (time_ns - t->mono_ns);
	time_t second = (time_t)(ns / NS_PER_S);
	struct tm tm;

	if (!t->has_wall || ns > INT64_MAX) {
		put_null(t, out);
		return;
	}
	if (second != t->second) {
		gmtime_r(&second, &tm);
		strftime(t->second_text, sizeof(t->second_text), "%Y-%m-%dT%H:%M:%S", &tm);
		t->second = second;
	}
	print_own(out, t->options->csv ? "" : "\"");
	print_own(out, t->second_text);
	fprintf(out, t->options->csv ? ".%09uZ" : ".%09uZ\"", (unsigned)(ns % NS_PER_S));
}

static void put_enum(const struct event_table *t, const struct field_desc *field, uint64_t value,
		     FILE *out)
{
	if (value < field->enum_count)
		put_text(t, field->enum_names[value], out);
	else
		put_number(value, out);
}

static void put_lock(const struct event_table *t, enum cell cell, uint64_t id, FILE *out)
{
	const struct log_lock *lock = log_names_lock(t->names, id);
	const struct field_desc *group = &schema_event(EVENT_LOCK)->fields[LOCK_GROUP];

	if (!lock)
		put_null(t, out);
	else if (cell == CELL_LOCK_GROUP)
		put_enum(t, group, lock->group, out);
	else
		put_maybe(t, log_names_class(t->names, lock->class), out);
}

static void put_method(const struct event_table *t, uint64_t id, FILE *out)
{
	const struct log_method *m = log_names_method(t->names, id);

	if (!m) {
		put_null(t, out);
		return;
	}
	put_open(t, m->class_name, out);
	put_piece(t, m->class_name, out);
	put_piece(t, ".", out);
	put_piece(t, m->name, out);
	putc_unlocked('"', out);
}

/* stack: NULL where the log lacks the definition of the callers. */
static void put_frame(const struct event_table *t, const struct log_stack *stack, FILE *out)
{
	const struct log_method *m = stack ? log_names_method(t->names, stack->method) : NULL;
	const char *mark = !stack                                  ? "(missing)"
			   : stack->frame == FRAME_TYPE_BROKEN     ? "(broken)"
			   : stack->frame == FRAME_TYPE_CUT        ? "(cut)"
			   : stack->frame == FRAME_TYPE_IN_HEAP    ? "(in_heap)"
			   : stack->frame == FRAME_TYPE_UNRESOLVED ? "(unresolved)"
								   : "(unknown)";

	put_piece(t, m ? m->class_name : mark, out);
	if (!m)
		return;
	put_piece(t, ".", out);
	put_piece(t, m->name, out);
	if (stack->line)
		fprintf(out, ":%" PRIu64, stack->line);
}

/* The text that the innermost frame begins with. */
static const char *first_text(const struct event_table *t, const struct log_stack *stack)
{
	const struct log_method *m = log_names_method(t->names, stack->method);

	return m ? m->class_name : "(";
}

/* Innermost first. A chain ends, as a caller's number is smaller than the one that names it. */
static void put_frames(const struct event_table *t, uint64_t id, FILE *out)
{
	const struct log_stack *stack = log_names_stack(t->names, id);
	bool csv = t->options->csv;
	uint64_t all = 0, put = 0;

	if (!stack) {
		put_null(t, out);
		return;
	}
	if (csv)
		put_open(t, first_text(t, stack), out);
	else
		putc_unlocked('[', out);
	for (; id; id = stack ? stack->caller : 0, all++) {
		stack = log_names_stack(t->names, id);
		if (all >= t->options->frames)
			continue;
		print_own(out, csv ? put ? " < " : "" : put ? ",\"" : "\"");
		put++;
		put_frame(t, stack, out);
		if (!csv)
			putc_unlocked('"', out);
	}
	if (all > put) {
		print_own(out, csv ? put ? " < " : "" : put ? ",\"" : "\"");
		fprintf(out, csv ? "(%" PRIu64 " more)" : "(%" PRIu64 " more)\"", all - put);
	}
	putc_unlocked(csv ? '"' : ']', out);
}

static void put_name(const struct event_table *t, enum cell cell, uint64_t id, FILE *out)
{
	const struct log_thread *thread;

	switch (cell) {
	case CELL_THREAD_NAME:
	case CELL_THREAD_TID:
		thread = log_names_thread(t->names, id);
		if (!thread || (thread->is_virtual && cell == CELL_THREAD_TID))
			put_null(t, out);
		else if (cell == CELL_THREAD_NAME)
			put_text(t, thread->name, out);
		else
			put_number(thread->tid, out);
		break;
	case CELL_CLASS_NAME:
		put_maybe(t, log_names_class(t->names, id), out);
		break;
	case CELL_STRING_TEXT:
		put_maybe(t, log_names_string(t->names, id), out);
		break;
	case CELL_METHOD_NAME:
		put_method(t, id, out);
		break;
	case CELL_FRAMES:
		put_frames(t, id, out);
		break;
	default:
		put_lock(t, cell, id, out);
	}
}

static void put_cell(struct event_table *t, const struct column *c, const struct event *e,
		     FILE *out)
{
	uint64_t value = c->field == OF_EVENT ? e->thread : e->v[c->field].u;

	switch (c->cell) {
	case CELL_TIME_NS:
		put_number(e->time_ns, out);
		break;
	case CELL_TIME:
		put_time(t, e->time_ns, out);
		break;
	case CELL_NUMBER:
		put_number(value, out);
		break;
	case CELL_BOOL:
		fputs(value ? "true" : "false", out);
		break;
	case CELL_TEXT:
		put_text(t, e->v[c->field].s, out);
		break;
	case CELL_ENUM:
		put_enum(t, &t->desc->fields[c->field], value, out);
		break;
	default:
		put_name(t, c->cell, value, out);
	}
}

void event_table_head(struct event_table *t, FILE *out)
{
	t->how |= print_csv_of(out);
	if (!t->options->csv)
		return;
	for (unsigned i = 0; i < t->count; i++) {
		if (i)
			putc_unlocked(',', out);
		print_own(out, t->columns[i].name);
	}
	putc_unlocked('\n', out);
}

void event_table_row(struct event_table *t, const struct event *e, FILE *out)
{
	bool csv = t->options->csv;

	if (!csv) {
		fputs("{\"event\":", out);
		print_json_string(out, t->desc->name);
	}
	for (unsigned i = 0; i < t->count; i++) {
		if (!csv) {
			fputs(",\"", out);
			print_own(out, t->columns[i].name);
			fputs("\":", out);
		} else if (i)
			putc_unlocked(',', out);
		put_cell(t, &t->columns[i], e, out);
	}
	fputs(csv ? "\n" : "}\n", out);
}
