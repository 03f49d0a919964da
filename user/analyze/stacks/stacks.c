#include "analyze/stacks/stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/stacks/cell_kinds.h"
#include "analyze/stacks/idle_methods.h"
#include "base/tables/keymap.h"
#include "log/format/event.h"
#include "log/read/names.h"

/* Chains that have no call site of their own. */
#define CHAIN_UNKNOWN 0
#define CHAIN_EMPTY 1 /* what is below the outermost frame */
#define CHAIN_OTHERS 2
#define CHAIN_FIRST 3

#define METHOD_NONE UINT32_MAX
#define METHOD_FIRST 3

struct row {
	uint64_t stack;
	uint32_t chain;
	uint32_t waiter_method;
	uint32_t own_method; /* outside the JDK; METHOD_NONE: there is none */
	uint32_t method;     /* of the frame itself */
	bool waits;          /* the frame's method, or that of a caller, is an idle_method() */
};

struct method_row {
	const struct log_method *method;
	bool waits; /* it is an idle_method() */
};

struct stacks {
	const struct log_names *names;
	struct row *rows; /* by stack */
	uint32_t count;
	struct keymap chains;
	struct keymap methods;
	struct method_row *of_method; /* methods.count of them */
	uint32_t methods_capacity;
	struct cell_kinds *kinds;
};

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static bool is_internal(const struct log_method *m)
{
	return m->hidden || begins(m->class_name, "java.util.concurrent.") ||
	       begins(m->class_name, "java.lang.invoke.") ||
	       begins(m->class_name, "jdk.internal.misc.Blocker") ||
	       !strcmp(m->class_name, "jdk.internal.misc.Unsafe") ||
	       !strcmp(m->class_name, "sun.misc.Unsafe") ||
	       (!strcmp(m->class_name, "java.lang.Object") && begins(m->name, "wait"));
}

static bool is_jdk(const struct log_method *m)
{
	return begins(m->class_name, "java.") || begins(m->class_name, "javax.") ||
	       begins(m->class_name, "jdk.") || begins(m->class_name, "sun.") ||
	       begins(m->class_name, "com.sun.");
}

bool stacks_next(const struct stacks *s, uint64_t *stack, struct stacks_frame *ret)
{
	const struct log_stack *frame = log_names_stack(s->names, *stack);
	const struct log_method *m = frame ? log_names_method(s->names, frame->method) : NULL;

	if (!*stack)
		return false;
	if (*stack == STACK_OTHERS) {
		*stack = 0;
		*ret = (struct stacks_frame){.kind = STACKS_OTHERS};
		return true;
	}
	*ret = (struct stacks_frame){.kind = STACKS_UNKNOWN_METHOD, .frame = frame};
	if (!frame || frame->frame == FRAME_TYPE_BROKEN)
		ret->kind = STACKS_MISSING;
	else if (frame->frame == FRAME_TYPE_CUT)
		ret->kind = STACKS_CUT;
	else if (frame->frame == FRAME_TYPE_IN_HEAP)
		ret->kind = STACKS_IN_HEAP;
	else if (frame->frame == FRAME_TYPE_UNRESOLVED)
		ret->kind = STACKS_UNLOADED;
	else if (m) {
		ret->kind = STACKS_METHOD;
		ret->method = m;
		ret->internal = is_internal(m);
		ret->jdk = is_jdk(m);
	}
	*stack = frame ? frame->caller : 0;
	return true;
}

static const struct row *row_find(const struct stacks *s, uint64_t stack)
{
	uint32_t low = 0, high = s->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (s->rows[middle].stack < stack)
			low = middle + 1;
		else
			high = middle;
	}
	return low < s->count && s->rows[low].stack == stack ? &s->rows[low] : NULL;
}

/* Equal texts have one address in log_names: it is as good as the text. */
static int chain_add(struct stacks *s, uint32_t caller, const struct stacks_frame *f, uint32_t *ret)
{
	struct keymap_key key = {.a = caller, .c = f->kind};
	uint32_t index;
	int err;

	if (f->method)
		key = (struct keymap_key){.a = caller,
					  .b = (uintptr_t)f->method->class_name,
					  .c = (uintptr_t)f->method->name,
					  .d = (uintptr_t)f->method->signature,
					  .e = f->frame->line};
	err = keymap_add(&s->chains, key, &index);
	if (!err)
		*ret = index + CHAIN_FIRST;
	return err;
}

static int method_add(struct stacks *s, const struct log_method *m, uint32_t *ret)
{
	struct keymap_key key = {.a = (uintptr_t)m->class_name, .b = (uintptr_t)m->name};
	uint32_t index;
	int err = keymap_add_row(&s->methods, key, &s->of_method, &s->methods_capacity,
				 sizeof(*s->of_method), &index);

	if (err)
		return err;
	*ret = index + METHOD_FIRST;
	if (!s->of_method[index].method)
		s->of_method[index] = (struct method_row){m, idle_method(m)};
	return 0;
}

/* The caller's row, or what stands for it: there is none, or the log has lost it. */
static int caller_find(struct stacks *s, uint64_t caller, struct row *ret)
{
	const struct stacks_frame lost = {.kind = STACKS_MISSING};
	const struct row *known = caller ? row_find(s, caller) : NULL;

	*ret = (struct row){.chain = CHAIN_EMPTY, .own_method = METHOD_NONE};
	if (known)
		*ret = *known;
	return known || !caller ? 0 : chain_add(s, CHAIN_EMPTY, &lost, &ret->chain);
}

/* Callers have smaller numbers: theirs are done already. */
static int row_make(struct stacks *s, struct row *r)
{
	struct stacks_frame f = {.kind = STACKS_MISSING};
	uint64_t stack = r->stack;
	uint32_t method = STACKS_METHOD_UNKNOWN;
	struct row caller;
	int err;

	stacks_next(s, &stack, &f);
	err = caller_find(s, stack, &caller);
	if (!err && f.method)
		err = method_add(s, f.method, &method);
	if (err)
		return err;
	if (f.kind == STACKS_UNLOADED)
		method = STACKS_METHOD_UNLOADED;
	r->method = method;
	r->waits = caller.waits || (f.method && s->of_method[method - METHOD_FIRST].waits);
	r->waiter_method = f.internal && stack ? caller.waiter_method : method;
	r->own_method = caller.own_method;
	if (f.kind == STACKS_UNLOADED || f.kind == STACKS_UNKNOWN_METHOD ||
	    (f.method && !f.method->hidden && !is_jdk(f.method)))
		r->own_method = method;
	r->chain = caller.chain;
	return f.method && f.method->hidden ? 0 : chain_add(s, caller.chain, &f, &r->chain);
}

static int compare_rows(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return (x->stack > y->stack) - (x->stack < y->stack);
}

struct stacks *stacks_new(const struct log_names *names)
{
	uint32_t count = log_names_count(names, LOG_NAMES_STACK);
	struct stacks *s = calloc(1, sizeof(*s));
	struct row *rows = calloc(count + 1, sizeof(*rows));
	int err = 0;

	if (!s || !rows)
		goto fail;
	s->kinds = cell_kinds_new();
	if (!s->kinds)
		goto fail;
	s->names = names;
	s->rows = rows;
	for (uint32_t i = 0; i < count; i++)
		rows[i].stack = log_names_id(names, LOG_NAMES_STACK, i);
	qsort(rows, count, sizeof(*rows), compare_rows);
	for (; s->count < count && !err; s->count++)
		err = row_make(s, &rows[s->count]);
	if (!err)
		return s;
	stacks_free(s);
	return NULL;
fail:
	free(rows);
	free(s);
	return NULL;
}

void stacks_free(struct stacks *s)
{
	if (!s)
		return;
	keymap_free(&s->chains);
	keymap_free(&s->methods);
	cell_kinds_free(s->kinds);
	free(s->of_method);
	free(s->rows);
	free(s);
}

const struct cell_kinds *stacks_kinds(const struct stacks *s)
{
	return s->kinds;
}

int stacks_fill_kinds(const struct stacks *s)
{
	const struct log_method **methods = malloc((s->methods.count + 1ul) * sizeof(*methods));
	int err = methods ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < s->methods.count && !err; i++)
		methods[i] = s->of_method[i].method;
	if (!err)
		err = cell_kinds_fill(s->kinds, s->names, methods, METHOD_FIRST, s->methods.count);
	free(methods);
	return err;
}

const struct log_names *stacks_names(const struct stacks *s)
{
	return s->names;
}

uint32_t stacks_chain(const struct stacks *s, uint64_t stack)
{
	const struct row *r = row_find(s, stack);

	if (stack == STACK_OTHERS)
		return CHAIN_OTHERS;
	return r ? r->chain : CHAIN_UNKNOWN;
}

bool stacks_waits(const struct stacks *s, uint64_t stack)
{
	const struct row *r = row_find(s, stack);

	return r && r->waits;
}

uint32_t stacks_waiter_method(const struct stacks *s, uint64_t stack)
{
	const struct row *r = row_find(s, stack);

	if (stack == STACK_OTHERS)
		return STACKS_METHOD_OTHERS;
	return r ? r->waiter_method : STACKS_METHOD_UNKNOWN;
}

uint32_t stacks_frame_method(const struct stacks *s, uint64_t stack)
{
	const struct row *r = row_find(s, stack);

	return r ? r->method : STACKS_METHOD_UNKNOWN;
}

uint32_t stacks_holder_method(const struct stacks *s, uint64_t stack)
{
	const struct row *r = row_find(s, stack);

	if (!r)
		return stack == STACK_OTHERS ? STACKS_METHOD_OTHERS : STACKS_METHOD_UNKNOWN;
	return r->own_method == METHOD_NONE ? r->waiter_method : r->own_method;
}

const struct log_method *stacks_method(const struct stacks *s, uint32_t number)
{
	return number < METHOD_FIRST ? NULL : s->of_method[number - METHOD_FIRST].method;
}
