#include "record/identity/ids_internal.h"

#include <errno.h>
#include <linux/types.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/wire/wire.h"
#include "bpf/wire/wire_lock.h"
#include "log/format/event.h"
#include "log/write/writer.h"

struct string_id {
	uint64_t digest[2];
	uint32_t number;
	uint32_t bytes; /* of its text, which the log's writer keeps */
};

static bool forget_class(void *ctx, void *entry)
{
	struct class_id *c = entry;
	struct ids *ids = ctx;

	log_forget(ids->w, EVENT_CLASS, c->number);
	ids_text_drop(ids, MEMORY_NAMES, c->name);
	ids_count_forgotten(ids, MEMORY_CLASS);
	return true;
}

static bool forget_string(void *ctx, void *entry)
{
	struct string_id *s = entry;
	struct ids *ids = ctx;

	if (!s->number) /* being made */
		return false;
	log_forget(ids->w, EVENT_STRING, s->number);
	budget_give(ids_budget(ids, MEMORY_NAMES), s->bytes);
	ids_count_forgotten(ids, MEMORY_STRING);
	return true;
}

int ids_new(struct log_writer *w, struct memory *memory, struct ids **ret)
{
	struct ids *ids = calloc(1, sizeof(*ids));
	struct store_options o = {.key_bytes = sizeof(uint64_t),
				  .entry_bytes = sizeof(struct class_id),
				  .forget = forget_class,
				  .ctx = ids};
	int err;

	if (!ids)
		return -ENOMEM;
	ids->w = w;
	ids->memory = memory;
	o.budget = ids_budget(ids, MEMORY_NAMES);
	err = store_new(&o, &ids->classes);
	o.key_bytes = 2 * sizeof(uint64_t);
	o.entry_bytes = sizeof(struct string_id);
	o.forget = forget_string;
	if (!err)
		err = store_new(&o, &ids->strings);
	if (!err)
		err = ids_threads_new(ids);
	if (!err)
		err = ids_locks_new(ids);
	if (err) {
		ids_free(ids);
		return err;
	}
	*ret = ids;
	return 0;
}

void ids_free(struct ids *ids)
{
	struct class_id *c = NULL;
	struct string_id *s = NULL;

	if (!ids)
		return;
	while (ids->strings && (s = store_next(ids->strings, s)))
		budget_give(ids_budget(ids, MEMORY_NAMES), s->bytes);
	while (ids->classes && (c = store_next(ids->classes, c)))
		ids_text_drop(ids, MEMORY_NAMES, c->name);
	store_free(ids->classes);
	store_free(ids->strings);
	ids_threads_free(ids);
	ids_locks_free(ids);
	free(ids);
}

int ids_error(const struct ids *ids)
{
	return ids->err;
}

/* --- classes ----------------------------------------------------------------------------- */

static void class_write(struct ids *ids, const struct class_id *c, const struct wire_class *r)
{
	struct event e = {.id = EVENT_CLASS, .time_ns = r->head.time_ns};

	e.thread = ids_thread(ids, r->head.tid, r->head.time_ns);
	e.v[CLASS_CLASS].u = c->number;
	e.v[CLASS_NAME].s = c->name;
	log_write(ids->w, &e);
}

bool ids_class(struct ids *ids, const struct wire_class *r)
{
	char name[WIRE_CLASS_NAME_MAX + 4], *kept;
	struct class_id *c = store_find(ids->classes, &r->klass);

	ids_text_clean(name, sizeof(name) - 4, r->name,
		       r->name_length < WIRE_CLASS_NAME_MAX ? r->name_length : WIRE_CLASS_NAME_MAX,
		       true);
	if (r->head.flags & WIRE_NAME_CUT)
		strcat(name, "...");
	if (c && c->name && !strcmp(c->name, name)) {
		c->flags = r->head.flags;
		return false;
	}
	kept = ids_text_keep(ids, ids->classes, MEMORY_NAMES, name);
	c = kept ? store_find(ids->classes, &r->klass) : NULL; /* it may have gone to make room */
	if (kept && !c)
		c = ids_add(ids, ids->classes, &r->klass, MEMORY_CLASS);
	if (!c) {
		if (!kept)
			ids_count_shared(ids, MEMORY_CLASS);
		ids_text_drop(ids, MEMORY_NAMES, kept);
		return false;
	}
	if (c->name)
		log_forget(ids->w, EVENT_CLASS, c->number);
	ids_text_drop(ids, MEMORY_NAMES, c->name);
	c->name = kept;
	c->flags = r->head.flags;
	c->number = ++ids->class_count;
	c->blockers = 0;
	class_write(ids, c, r);
	return !strncmp(name, "java.util.concurrent.", 21);
}

/* --- strings ----------------------------------------------------------------------------- */

static void string_write(struct ids *ids, uint32_t number, const char *text, uint64_t time_ns)
{
	struct event e = {.id = EVENT_STRING, .time_ns = time_ns};

	e.v[STRING_STRING].u = number;
	e.v[STRING_TEXT].s = text;
	log_write(ids->w, &e);
}

static uint32_t string_shared(struct ids *ids, uint64_t time_ns)
{
	if (ids->err)
		return 0;
	if (!ids->string_shared) {
		ids->string_shared = ++ids->string_count;
		string_write(ids, ids->string_shared, "(further names)", time_ns);
	}
	return ids->string_shared;
}

static uint32_t string_add(struct ids *ids, const char *text, uint32_t length, uint64_t time_ns)
{
	char clean[IDS_TEXT_MAX + 1];
	struct string_id *s;
	uint64_t digest[2];

	if (!length)
		return 0;
	ids_text_clean(clean, sizeof(clean), text, length, false);
	store_digest(ids->strings, clean, strlen(clean), digest);
	s = store_find(ids->strings, digest);
	if (s)
		return s->number;
	s = ids_add(ids, ids->strings, digest, MEMORY_STRING);
	if (!s)
		return string_shared(ids, time_ns);
	s->bytes = (uint32_t)strlen(clean) + 1 + IDS_TEXT_OVERHEAD;
	if (!ids_take(ids, ids->strings, MEMORY_NAMES, s->bytes)) {
		store_remove(ids->strings, s);
		ids_count_shared(ids, MEMORY_STRING);
		return string_shared(ids, time_ns);
	}
	s->number = ++ids->string_count;
	string_write(ids, s->number, clean, time_ns);
	return s->number;
}

uint32_t ids_string(struct ids *ids, const char *text, uint32_t length, uint64_t time_ns)
{
	return string_add(ids, text, length < WIRE_NAME_MAX ? length : WIRE_NAME_MAX, time_ns);
}

uint32_t ids_text(struct ids *ids, const char *text, uint32_t length, uint64_t time_ns)
{
	return string_add(ids, text, length < IDS_TEXT_MAX ? length : IDS_TEXT_MAX, time_ns);
}
