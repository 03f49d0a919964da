#include "report/json/event_json.h"

#include <inttypes.h>
#include <stdbool.h>

#include "base/text/print.h"
#include "log/format/event.h"
#include "log/read/names.h"

/* key: of spoor itself. */
static void print_key(FILE *out, const char *key)
{
	fputs(",\"", out);
	print_own(out, key);
	fputs("\":", out);
}

static void print_thread(FILE *out, const struct log_names *names, uint64_t id)
{
	const struct log_thread *thread = log_names_thread(names, id);

	if (!id) {
		fputs("null", out);
		return;
	}
	fprintf(out, "{\"id\":%" PRIu64, id);
	if (thread) {
		fputs(",\"name\":", out);
		print_json_string(out, thread->name);
		if (thread->is_virtual)
			fprintf(out, ",\"java_id\":%" PRIu64, thread->java_id);
		else
			fprintf(out, ",\"tid\":%" PRIu64, thread->tid);
	}
	putc_unlocked('}', out);
}

/* Numbers that nothing defines stay numbers; 0 is nothing. */
static void print_name(FILE *out, const char *name, uint64_t id)
{
	if (name)
		print_json_string(out, name);
	else if (id)
		fprintf(out, "%" PRIu64, id);
	else
		fputs("null", out);
}

static void print_enum(FILE *out, const struct field_desc *field, uint64_t value)
{
	if (value < field->enum_count)
		print_json_string(out, field->enum_names[value]);
	else
		fprintf(out, "%" PRIu64, value);
}

static void print_lock(FILE *out, const struct log_names *names, uint64_t id)
{
	const struct log_lock *lock = log_names_lock(names, id);
	const struct event_desc *desc = schema_event(EVENT_LOCK);

	if (!id) {
		fputs("null", out);
		return;
	}
	fprintf(out, "{\"id\":%" PRIu64, id);
	if (lock) {
		fputs(",\"class\":", out);
		print_name(out, log_names_class(names, lock->class), lock->class);
		fputs(",\"group\":", out);
		print_enum(out, &desc->fields[LOCK_GROUP], lock->group);
	}
	putc_unlocked('}', out);
}

static void print_member(FILE *out, const char *key, const char *text)
{
	print_key(out, key);
	print_json_string(out, text);
}

static void print_method(FILE *out, const struct log_names *names, uint64_t id)
{
	const struct log_method *m = log_names_method(names, id);

	if (!id) {
		fputs("null", out);
		return;
	}
	fprintf(out, "{\"id\":%" PRIu64, id);
	if (m) {
		print_member(out, "class", m->class_name);
		print_member(out, "method", m->name);
		print_member(out, "signature", m->signature);
		print_member(out, "source", m->source);
		fputs(m->hidden ? ",\"hidden\":true" : ",\"hidden\":false", out);
	}
	putc_unlocked('}', out);
}

/* stack: NULL where the log lacks the definition of the callers. */
static void print_frame(FILE *out, const struct log_names *names, const struct log_stack *stack)
{
	static const struct log_method none = {"", "", "", "", false};
	const struct event_desc *desc = schema_event(EVENT_STACK);
	const struct log_method *m = stack ? log_names_method(names, stack->method) : NULL;

	m = m ? m : &none;
	fputs("{\"class\":", out);
	print_json_string(out, m->class_name);
	print_member(out, "method", m->name);
	print_member(out, "signature", m->signature);
	fprintf(out, ",\"line\":%" PRIu64 ",\"bci\":%" PRIu64 ",\"type\":", stack ? stack->line : 0,
		stack ? stack->bci : 0);
	if (stack)
		print_enum(out, &desc->fields[STACK_FRAME], stack->frame);
	else
		print_json_string(out, "missing");
	fputs(m->hidden ? ",\"hidden\":true" : ",\"hidden\":false", out);
	fputs(stack && stack->inferred ? ",\"inferred\":true}" : ",\"inferred\":false}", out);
}

/* A chain ends, as a caller's number is always smaller than the one that names it. */
static void print_stack(FILE *out, const struct event_json *resolve, uint64_t id)
{
	const struct log_stack *stack = log_names_stack(resolve->names, id);
	uint64_t printed = 0, all = 0;

	if (!id) {
		fputs("null", out);
		return;
	}
	fprintf(out, "{\"id\":%" PRIu64, id);
	if (stack) {
		fputs(",\"frames\":[", out);
		for (; id; id = stack ? stack->caller : 0, all++) {
			stack = log_names_stack(resolve->names, id);
			if (all >= resolve->frames)
				continue;
			if (printed++)
				putc_unlocked(',', out);
			print_frame(out, resolve->names, stack);
		}
		putc_unlocked(']', out);
		if (all > printed)
			fprintf(out, ",\"more\":%" PRIu64, all - printed);
	}
	putc_unlocked('}', out);
}

/* resolve: NULL if the number is to stay one. */
static void print_field(FILE *out, const struct event_json *resolve, const struct field_desc *field,
			union field_value value)
{
	const struct log_names *names = resolve ? resolve->names : NULL;

	if (field->type == FIELD_STR)
		print_json_string(out, value.s);
	else if (field->type == FIELD_BOOL)
		fputs(value.u ? "true" : "false", out);
	else if (field->type == FIELD_ENUM)
		print_enum(out, field, value.u);
	else if (names && field->type == FIELD_THREAD)
		print_thread(out, names, value.u);
	else if (names && field->type == FIELD_LOCK)
		print_lock(out, names, value.u);
	else if (names && field->type == FIELD_CLASS)
		print_name(out, log_names_class(names, value.u), value.u);
	else if (names && field->type == FIELD_STRING)
		print_name(out, log_names_string(names, value.u), value.u);
	else if (names && field->type == FIELD_METHOD)
		print_method(out, names, value.u);
	else if (names && field->type == FIELD_STACK)
		print_stack(out, resolve, value.u);
	else
		fprintf(out, "%" PRIu64, value.u);
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

void event_json_print(const struct event_json *how, const struct event *e, FILE *out)
{
	const struct event_desc *desc = schema_event(e->id);
	const struct event_json *resolve = how->names ? how : NULL;
	unsigned i;

	fprintf(out, "{\"time_ns\":%" PRIu64 ",\"event\":", e->time_ns);
	print_json_string(out, desc->name);
	fputs(",\"thread\":", out);
	if (resolve)
		print_thread(out, resolve->names, e->thread);
	else
		fprintf(out, "%" PRIu32, e->thread);
	for (i = 0; i < desc->field_count; i++) {
		const struct field_desc *field = &desc->fields[i];

		print_key(out, field->name);
		print_field(out, stays_number(e, field) ? NULL : resolve, field, e->v[i]);
	}
	fputs("}\n", out);
}
