#include "log/read/names.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/tables/array.h"
#include "base/tables/hash.h"
#include "base/tables/slots.h"
#include "log/format/text.h"

/* What is known of one kind, in order of arrival: each item's number and the item. */
struct table {
	size_t item_bytes;
	uint32_t count, capacity;
	char *items;
	struct slots slots; /* by number */
};

struct log_names {
	struct table tables[LOG_NAMES_KIND_COUNT];
	struct table undefined; /* callers that were named before they were defined */
	unsigned late;          /* chains that were defined after one on top of them */
	struct text_set *texts;
};

#define LATE_MAX 1024
#define LATE_DEPTH_MAX 64

struct log_names *log_names_new(void)
{
	static const size_t item_bytes[] = {
		[LOG_NAMES_THREAD] = sizeof(struct log_thread),
		[LOG_NAMES_CLASS] = sizeof(const char *),
		[LOG_NAMES_LOCK] = sizeof(struct log_lock),
		[LOG_NAMES_STRING] = sizeof(const char *),
		[LOG_NAMES_METHOD] = sizeof(struct log_method),
		[LOG_NAMES_STACK] = sizeof(struct log_stack),
	};
	struct log_names *n = calloc(1, sizeof(*n));
	unsigned i;

	_Static_assert(sizeof(item_bytes) / sizeof(*item_bytes) == LOG_NAMES_KIND_COUNT,
		       "all kinds");
	if (!n)
		return NULL;
	for (i = 0; i < LOG_NAMES_KIND_COUNT; i++)
		n->tables[i].item_bytes = item_bytes[i];
	return n;
}

static void table_free(struct table *t)
{
	free(t->items);
	slots_free(&t->slots);
}

void log_names_free(struct log_names *n)
{
	unsigned i;

	if (!n)
		return;
	for (i = 0; i < LOG_NAMES_KIND_COUNT; i++)
		table_free(&n->tables[i]);
	table_free(&n->undefined);
	text_set_free(&n->texts);
	free(n);
}

static char *item_at(const struct table *t, uint32_t index)
{
	return t->items + index * (sizeof(uint64_t) + t->item_bytes);
}

static uint64_t number_at(const struct table *t, uint32_t index)
{
	return *(const uint64_t *)item_at(t, index);
}

/* The number's slot, or the free one where it belongs. */
static struct slot *slot_of(const struct table *t, uint64_t id, uint32_t hash)
{
	struct slot *slot = slots_first(&t->slots, hash);

	while (slot->index && number_at(t, slot->index - 1) != id)
		slot = slots_next(&t->slots, slot);
	return slot;
}

static void *table_get(const struct table *t, uint64_t id)
{
	const struct slot *slot = t->count ? slot_of(t, id, hash_number(id)) : NULL;

	return slot && slot->index ? item_at(t, slot->index - 1) + sizeof(id) : NULL;
}

static const void *get(const struct log_names *n, enum log_names_kind kind, uint64_t id)
{
	return table_get(&n->tables[kind], id);
}

static int table_add(struct table *t, uint64_t id, const void *item)
{
	uint32_t hash = hash_number(id);
	char *new;
	int err = slots_reserve(&t->slots, t->count);

	if (!err)
		err = array_grow(&t->items, &t->capacity, t->count, sizeof(id) + t->item_bytes);
	if (err)
		return err;
	new = item_at(t, t->count);
	memcpy(new, &id, sizeof(id));
	memcpy(new + sizeof(id), item, t->item_bytes);
	*slot_of(t, id, hash) = (struct slot){hash, t->count + 1};
	t->count++;
	return 0;
}

static int table_put(struct table *t, uint64_t id, const void *item)
{
	void *known;

	if (!id)
		return 0;
	known = table_get(t, id);
	if (!known)
		return table_add(t, id, item);
	memcpy(known, item, t->item_bytes);
	return 0;
}

static int put(struct log_names *n, enum log_names_kind kind, uint64_t id, const void *item)
{
	return table_put(&n->tables[kind], id, item);
}

static int add_text(struct log_names *n, enum log_names_kind kind, uint64_t id, const char *text)
{
	const char *copy = text_set_add(&n->texts, text, strlen(text));

	return copy ? put(n, kind, id, &copy) : -ENOMEM;
}

static int add_thread(struct log_names *n, const struct event *e)
{
	struct log_thread thread = {
		.tid = e->v[THREAD_TID].u,
		.ns_tid = e->v[THREAD_NS_TID].u,
		.start_ns = e->v[THREAD_START_NS].u,
		.java_id = e->v[THREAD_JAVA_ID].u,
		.daemon = e->v[THREAD_DAEMON].u,
		.existed = e->v[THREAD_EXISTED].u,
		.is_virtual = e->v[THREAD_VIRTUAL].u,
	};

	thread.name = text_set_add(&n->texts, e->v[THREAD_NAME].s, strlen(e->v[THREAD_NAME].s));
	return thread.name ? put(n, LOG_NAMES_THREAD, e->thread, &thread) : -ENOMEM;
}

static int add_lock(struct log_names *n, const struct event *e)
{
	struct log_lock lock = {
		.group = e->v[LOCK_GROUP].u,
		.class = e->v[LOCK_CLASS].u,
		.identity = e->v[LOCK_IDENTITY].u,
		.address = e->v[LOCK_ADDRESS].u,
		.hash = e->v[LOCK_HASH].u,
	};

	return put(n, LOG_NAMES_LOCK, e->v[LOCK_LOCK].u, &lock);
}

static int add_method(struct log_names *n, const struct event *e)
{
	const struct {
		unsigned field;
		size_t at;
	} texts[] = {{METHOD_CLASS_NAME, offsetof(struct log_method, class_name)},
		     {METHOD_NAME, offsetof(struct log_method, name)},
		     {METHOD_SIGNATURE, offsetof(struct log_method, signature)},
		     {METHOD_SOURCE, offsetof(struct log_method, source)}};
	struct log_method method = {.hidden = e->v[METHOD_HIDDEN].u};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		const char *text = e->v[texts[i].field].s;
		const char *copy = text_set_add(&n->texts, text, strlen(text));

		if (!copy)
			return -ENOMEM;
		*(const char **)((char *)&method + texts[i].at) = copy;
	}
	return put(n, LOG_NAMES_METHOD, e->v[METHOD_METHOD].u, &method);
}

/*
 * A chain that others have been put on already, at a depth that did not count this one's. There may
 * be a few such chains: a log's definitions can be in any order. But their number and depths are
 * bounded, so that LOG_STACK_DEPTH_MAX and what they add is the most that a chain can have.
 */
static bool is_late(struct log_names *n, uint64_t id, const struct log_stack *new)
{
	const struct log_stack *before = log_names_stack(n, id);

	if (!new->caller ||
	    (before ? before->caller == new->caller : !table_get(&n->undefined, id)))
		return false;
	return new->depth > LATE_DEPTH_MAX || ++n->late > LATE_MAX;
}

/* A chain whose caller is not an earlier one could be a circle: it ends there. */
static int add_stack(struct log_names *n, const struct event *e)
{
	struct log_stack stack = {
		.caller = e->v[STACK_CALLER].u,
		.frame = e->v[STACK_FRAME].u,
		.method = e->v[STACK_METHOD].u,
		.bci = e->v[STACK_BCI].u,
		.line = e->v[STACK_LINE].u,
		.inferred = e->v[STACK_INFERRED].u,
	};
	uint64_t id = e->v[STACK_STACK].u;
	const struct log_stack *caller;
	int err = 0;

	if (stack.caller >= id)
		stack.caller = 0;
	caller = stack.caller ? log_names_stack(n, stack.caller) : NULL;
	if (stack.caller && !caller)
		err = table_put(&n->undefined, stack.caller, "");
	stack.depth = caller ? caller->depth + 1 : 1;
	if (stack.depth > LOG_STACK_DEPTH_MAX || is_late(n, id, &stack))
		stack = (struct log_stack){.frame = FRAME_TYPE_CUT, .depth = 1};
	return err ? err : put(n, LOG_NAMES_STACK, id, &stack);
}

int log_names_add(struct log_names *n, const struct event *e)
{
	switch (e->id) {
	case EVENT_THREAD:
		return add_thread(n, e);
	case EVENT_CLASS:
		return add_text(n, LOG_NAMES_CLASS, e->v[CLASS_CLASS].u, e->v[CLASS_NAME].s);
	case EVENT_LOCK:
		return add_lock(n, e);
	case EVENT_STRING:
		return add_text(n, LOG_NAMES_STRING, e->v[STRING_STRING].u, e->v[STRING_TEXT].s);
	case EVENT_METHOD:
		return add_method(n, e);
	case EVENT_STACK:
		return add_stack(n, e);
	default:
		return 0;
	}
}

const struct log_thread *log_names_thread(const struct log_names *n, uint64_t id)
{
	return get(n, LOG_NAMES_THREAD, id);
}

const struct log_lock *log_names_lock(const struct log_names *n, uint64_t id)
{
	return get(n, LOG_NAMES_LOCK, id);
}

const struct log_method *log_names_method(const struct log_names *n, uint64_t id)
{
	return get(n, LOG_NAMES_METHOD, id);
}

const struct log_stack *log_names_stack(const struct log_names *n, uint64_t id)
{
	return get(n, LOG_NAMES_STACK, id);
}

const char *log_names_class(const struct log_names *n, uint64_t id)
{
	const char *const *text = get(n, LOG_NAMES_CLASS, id);

	return text ? *text : NULL;
}

const char *log_names_string(const struct log_names *n, uint64_t id)
{
	const char *const *text = get(n, LOG_NAMES_STRING, id);

	return text ? *text : NULL;
}

unsigned log_names_count(const struct log_names *n, enum log_names_kind kind)
{
	return n->tables[kind].count;
}

uint64_t log_names_id(const struct log_names *n, enum log_names_kind kind, unsigned index)
{
	return number_at(&n->tables[kind], index);
}
