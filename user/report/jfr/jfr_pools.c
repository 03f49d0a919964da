#include "report/jfr/jfr_pools.h"

#include <errno.h>
#include <string.h>

#include "analyze/cells/cells.h"
#include "analyze/stacks/stacks.h"
#include "log/read/names.h"
#include "report/jfr/jfr_bytes.h"
#include "report/model/contention_events.h"
#include "report/model/label.h"

void jfr_pools_free(struct jfr_pools *p)
{
	for (int i = 0; i < JFR_TYPE_COUNT; i++) {
		keymap_free(&p->pools[i].map);
		strbuf_free(&p->pools[i].values);
	}
	strbuf_free(&p->value);
	strbuf_free(&p->name);
}

/* The key of a constant; *ret_new: its value is to be put after this. */
static uint64_t key_of(struct jfr_pools *p, enum jfr_type type, struct keymap_key key,
		       struct strbuf **ret_new)
{
	struct jfr_pool *pool = &p->pools[type];
	uint32_t known = pool->map.count, index = 0;
	int err = p->err ? p->err : keymap_add(&pool->map, key, &index);

	*ret_new = NULL;
	p->err = err;
	if (err)
		return 0;
	if (index == known) {
		*ret_new = &pool->values;
		jfr_number(&pool->values, index + 1ull);
	}
	return index + 1ull;
}

/* Inside of class files, and in recordings, the words of a name have slashes between them. */
static uint64_t class_key(struct jfr_pools *p, const char *class)
{
	struct strbuf *value;
	uint64_t key;

	if (!class)
		return 0;
	key = key_of(p, JFR_CLASS, (struct keymap_key){.a = (uintptr_t) class}, &value);
	if (!value)
		return key;
	strbuf_clear(&p->name);
	for (; *class; class ++)
		strbuf_put(&p->name, *class == '.' ? "/" : class, 1);
	p->err = p->err ? p->err : p->name.err;
	jfr_text(value, strbuf_text(&p->name));
	return key;
}

uint64_t jfr_lock_class(struct jfr_pools *p, uint64_t lock)
{
	const struct log_lock *l = log_names_lock(p->in->names, lock);

	return class_key(p, l ? log_names_class(p->in->names, l->class) : NULL);
}

uint64_t jfr_thread(struct jfr_pools *p, uint64_t thread)
{
	const struct log_thread *t;
	struct strbuf *value;
	uint64_t key;

	if (!holder_is_thread(thread))
		return 0;
	key = key_of(p, JFR_THREAD, (struct keymap_key){.a = thread}, &value);
	if (!value)
		return key;
	t = log_names_thread(p->in->names, thread);
	jfr_text(value, name_thread(p->in->names, thread, ""));
	jfr_number(value, t ? t->tid : 0);
	jfr_text(value, name_thread(p->in->names, thread, ""));
	jfr_number(value, t ? t->java_id : 0);
	return key;
}

static uint64_t frame_type(struct jfr_pools *p, uint64_t frame)
{
	static const char *const names[] = {
		[FRAME_TYPE_INTERPRETED] = "Interpreted", [FRAME_TYPE_C1] = "JIT compiled",
		[FRAME_TYPE_C2] = "JIT compiled",         [FRAME_TYPE_INLINED] = "Inlined",
		[FRAME_TYPE_NATIVE] = "Native",
	};
	const char *name = frame < sizeof(names) / sizeof(*names) ? names[frame] : NULL;
	struct strbuf *value;
	uint64_t key;

	name = name ? name : "Unknown";
	key = key_of(p, JFR_FRAME_TYPE, (struct keymap_key){.a = (uintptr_t)name}, &value);
	if (value)
		jfr_text(value, name);
	return key;
}

static uint64_t method_key(struct jfr_pools *p, const char *class, const char *name,
			   const char *descriptor, bool hidden)
{
	const struct keymap_key by = {
		.a = (uintptr_t) class, .b = (uintptr_t)name, .c = (uintptr_t)descriptor};
	uint64_t type = class_key(p, class), key;
	struct strbuf *value;

	key = key_of(p, JFR_METHOD, by, &value);
	if (!value)
		return key;
	jfr_number(value, type);
	jfr_text(value, name);
	jfr_text(value, descriptor);
	jfr_number(value, 0); /* modifiers: not known */
	jfr_number(value, hidden);
	return key;
}

/* Frames that have no method's name are none of which a reader could make something. */
static uint64_t frame_method(struct jfr_pools *p, const struct stacks_frame *f)
{
	static const char class[] = "spoor.Frame", descriptor[] = "()V";
	static const char *const names[] = {
		[STACKS_UNKNOWN_METHOD] = "unknownMethod",
		[STACKS_UNLOADED] = "unloadedCode",
		[STACKS_CUT] = "moreFrames",
		[STACKS_IN_HEAP] = "framesInTheHeap",
		[STACKS_MISSING] = "framesMissing",
		[STACKS_OTHERS] = "otherChains",
	};

	if (f->method)
		return method_key(p, f->method->class_name, f->method->name, f->method->signature,
				  f->method->hidden);
	return method_key(p, class, names[f->kind], descriptor, false);
}

static bool frames_are_missing(enum stacks_kind kind)
{
	return kind == STACKS_CUT || kind == STACKS_IN_HEAP || kind == STACKS_MISSING;
}

uint64_t jfr_stack_trace(struct jfr_pools *p, uint64_t stack)
{
	bool truncated = false;
	struct stacks_frame f;
	uint64_t count = 0, key;
	struct strbuf *value;

	if (!stack)
		return 0;
	key = key_of(p, JFR_STACK_TRACE, (struct keymap_key){.a = stack}, &value);
	if (!value)
		return key;
	strbuf_clear(&p->value);
	for (; stacks_next(p->in->stacks, &stack, &f); count++) {
		truncated |= frames_are_missing(f.kind);
		jfr_number(&p->value, frame_method(p, &f));
		jfr_number(&p->value, f.frame ? (uint32_t)f.frame->line : 0);
		jfr_number(&p->value, f.frame ? (uint32_t)f.frame->bci : 0);
		jfr_number(&p->value, frame_type(p, f.frame ? f.frame->frame : UINT64_MAX));
	}
	p->err = p->err ? p->err : p->value.err;
	jfr_number(value, truncated);
	jfr_number(value, count);
	strbuf_put(value, p->value.text, p->value.used);
	return key;
}

void jfr_pools_put(struct jfr_pools *p, struct strbuf *b, uint64_t ticks)
{
	struct strbuf event = {0};
	unsigned count = 0;

	for (int i = 0; i < JFR_TYPE_COUNT; i++)
		count += p->pools[i].map.count > 0;
	jfr_number(&event, JFR_CONSTANTS);
	jfr_number(&event, ticks);
	jfr_number(&event, 0); /* duration */
	jfr_number(&event, 0); /* no event of constants is before this one */
	jfr_number(&event, 1); /* all constants */
	jfr_number(&event, count);
	for (int i = 0; i < JFR_TYPE_COUNT; i++) {
		const struct jfr_pool *pool = &p->pools[i];

		if (!pool->map.count)
			continue;
		if (pool->values.err)
			p->err = pool->values.err;
		jfr_number(&event, (uint64_t)i);
		jfr_number(&event, pool->map.count);
		strbuf_put(&event, pool->values.text, pool->values.used);
	}
	jfr_event(b, &event);
	strbuf_free(&event);
}
