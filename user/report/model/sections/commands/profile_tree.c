/* Chains with the same frames become one branch of a tree. */
#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/contention/contention.h"
#include "analyze/registry/analysis.h"
#include "analyze/stacks/cell_kinds.h"
#include "base/tables/array.h"
#include "base/text/print.h"
#include "log/format/text.h"
#include "log/read/names.h"
#include "report/model/label.h"
#include "report/model/report.h"
#include "report/model/sections/commands/profile_report.h"
#include "session/session_log.h"

/* The first number of a frame's key; that of a method is the address of its class's name. */
enum {
	KEY_TEXT,
	KEY_THREAD,
	KEY_LOCK,
	KEY_SYMBOL,
	KEY_OPERATION,
	KEY_PHASE,
	KEY_COMPILING,
	KEY_POOL,
	KEY_PACKAGE,
	KEY_SPAN,
};

struct maker {
	const struct profile_input *in;
	const struct log_names *names;
	struct labels *labels;
	struct cell_kinds *kinds; /* pools of threads, if they are wanted */
	const struct contention *contention;
	bool park_is_numbered;
	struct profile_tree *t;
	uint32_t *path; /* of the cell at work, from the innermost frame */
	uint32_t path_count, path_capacity;
	uint64_t *seen; /* by frame: the cell that had it last, plus 1 */
	uint32_t seen_capacity;
};

bool profile_thread_is_selected(const struct profile_input *in, uint64_t thread)
{
	const struct log_thread *t =
		log_names_thread(analysis_names(in->in->log->analysis), thread);

	return !in->threads || (t && !fnmatch(in->threads, t->name, 0));
}

static void time_add(struct profile_time *to, const struct profile_cell *c)
{
	to->ns += c->ns;
	if (c->state != STATE_RUNNING || c->rest)
		return;
	to->sampled_ns += c->ns;
	to->samples += c->samples;
}

static int frame_get(struct maker *m, struct keymap_key key, const char *outer, const char *name,
		     uint32_t *ret)
{
	struct profile_tree *t = m->t;
	uint32_t known = t->frame_map.count;
	char text[LABEL_MAX];
	int length, err = keymap_add_row(&t->frame_map, key, &t->frames, &t->frames_capacity,
					 sizeof(*t->frames), ret);

	if (err || *ret < known)
		return err;
	length = snprintf(text, sizeof(text), "%s%s%s", outer, *outer ? "." : "", name);
	t->frames[*ret].file = "";
	t->frames[*ret].name = text_set_add(
		&t->texts, text, length < (int)sizeof(text) ? (size_t)length : sizeof(text) - 1);
	return t->frames[*ret].name ? 0 : -ENOMEM;
}

static int path_push(struct maker *m, uint32_t frame)
{
	int err = array_grow(&m->path, &m->path_capacity, m->path_count, sizeof(*m->path));

	if (!err)
		m->path[m->path_count++] = frame;
	return err;
}

/* Something in the place of a method. */
static int push_text(struct maker *m, const char *text)
{
	uint32_t frame;
	int err = frame_get(m, (struct keymap_key){.a = KEY_TEXT, .b = (uintptr_t)text}, "", text,
			    &frame);

	return err ? err : path_push(m, frame);
}

static int push_stack(struct maker *m, const struct log_stack *s)
{
	uint64_t line = m->in->lines && s ? s->line : 0;
	const struct log_method *method = s ? log_names_method(m->names, s->method) : NULL;
	uint32_t frame;
	int err;

	if (!s || s->frame == FRAME_TYPE_BROKEN)
		return push_text(m, "(frames missing)");
	if (s->frame == FRAME_TYPE_CUT)
		return push_text(m, "(more than 512 frames)");
	if (s->frame == FRAME_TYPE_IN_HEAP)
		return push_text(m, "(frames in the heap)");
	if (s->frame == FRAME_TYPE_UNRESOLVED)
		return push_text(m, "(unloaded code)");
	if (!method)
		return push_text(m, "(unknown method)");
	if (method->hidden)
		return 0;
	err = frame_get(m,
			(struct keymap_key){.a = (uintptr_t)method->class_name,
					    .b = (uintptr_t)method->name,
					    .c = line},
			method->class_name, method->name, &frame);
	if (err)
		return err;
	m->t->frames[frame].file = method->source;
	m->t->frames[frame].line = line;
	return path_push(m, frame);
}

static bool has_failed(const struct maker *m, const struct profile_cell *c)
{
	const struct profile_thread *t = profile_thread_find(m->in->profile, c->thread);

	return c->failed && t && profile_thread_is_java(t);
}

/* What the thread did in the innermost frame, where that may be several things. */
static const char *const doing[STATE_COUNT] = {
	[STATE_STOLEN] = "[stolen]",       [STATE_RUNNABLE] = "[runnable]",
	[STATE_THROTTLED] = "[throttled]", [STATE_LOCK] = "[lock]",
	[STATE_WAIT] = "[wait]",           [STATE_PARK] = "[park]",
	[STATE_SLEEP] = "[sleep]",         [STATE_IO] = "[I/O]",
	[STATE_PAUSE] = "[pause]",         [STATE_OTHER] = "[blocked]",
};

static const char *const by_state[STATE_COUNT] = {
	[STATE_RUNNING] = "running",     [STATE_STOLEN] = "stolen", [STATE_RUNNABLE] = "runnable",
	[STATE_THROTTLED] = "throttled", [STATE_LOCK] = "lock",     [STATE_WAIT] = "wait",
	[STATE_PARK] = "park",           [STATE_SLEEP] = "sleep",   [STATE_IO] = "I/O",
	[STATE_PAUSE] = "pause",         [STATE_OTHER] = "blocked",
};

static const char *const rests[STATE_COUNT] = {
	[STATE_RUNNING] = "(ran, not sampled)",
	[STATE_STOLEN] = "(stolen, place not known)",
	[STATE_RUNNABLE] = "(runnable, place not known)",
	[STATE_THROTTLED] = "(throttled, place not known)",
	[STATE_LOCK] = "(lock, place not known)",
	[STATE_WAIT] = "(wait, place not known)",
	[STATE_PARK] = "(park, place not known)",
	[STATE_SLEEP] = "(sleep, place not known)",
	[STATE_IO] = "(I/O, place not known)",
	[STATE_PAUSE] = "(pause, place not known)",
	[STATE_OTHER] = "(blocked, place not known)",
};

static int push_without_chain(struct maker *m, const struct profile_cell *c)
{
	static const char *const modes[SAMPLE_MODE_COUNT] = {
		[SAMPLE_MODE_UNKNOWN] = "(before chains were recorded)",
		[SAMPLE_MODE_JAVA] = "(Java code without a chain)",
		[SAMPLE_MODE_NATIVE] = "(native code)",
		[SAMPLE_MODE_VM] = "(libjvm)",
		[SAMPLE_MODE_KERNEL] = "(kernel)",
		[SAMPLE_MODE_SPIN] = "(libjvm: spins for a monitor)",
	};

	return push_text(m, c->rest            ? rests[c->state]
			    : has_failed(m, c) ? "(walk failed)"
					       : modes[c->mode]);
}

/* Nothing but observations says who held the lock. */
static bool is_inferred(const struct maker *m, uint64_t lock)
{
	const struct contention_lock *l = contention_lock_find(m->contention, lock);

	if (l && l->monitor)
		return !l->numbers.numbers;
	return !m->park_is_numbered;
}

/* "[before text]", in the place of a method. */
static int push_named(struct maker *m, struct keymap_key key, const char *before, const char *text)
{
	char name[LABEL_MAX];
	uint32_t frame;
	int err;

	snprintf(name, sizeof(name), "[%s %s]", before, text);
	err = frame_get(m, key, "", name, &frame);
	return err ? err : path_push(m, frame);
}

static int push_lock(struct maker *m, uint64_t lock)
{
	char label[LABEL_MAX];

	if (!lock)
		return push_text(m, "(no contended lock)");
	return push_named(m, (struct keymap_key){.a = KEY_LOCK, .b = lock},
			  is_inferred(m, lock) ? "~lock" : "lock",
			  label_lock(m->labels, lock, label));
}

static int push_string(struct maker *m, uint64_t key, uint64_t string, const char *before)
{
	const char *text = log_names_string(m->names, string);

	return push_named(m, (struct keymap_key){.a = key, .b = string}, before,
			  text ? text : "(unknown)");
}

/* A function is the same one wherever it is in a chain, so that its name is its key. */
static int push_function(struct maker *m, const char *name, size_t length)
{
	const char *text = text_set_add(&m->t->texts, name, length);
	uint32_t frame;
	int err = text ? frame_get(m, (struct keymap_key){.a = KEY_SYMBOL, .b = (uintptr_t)text},
				   "", text, &frame)
		       : -ENOMEM;

	return err ? err : path_push(m, frame);
}

/* What was interrupted in native code or in the kernel, and its native callers. */
static int push_symbol(struct maker *m, const struct profile_aspect *a)
{
	const char *text = log_names_string(m->names, a->symbol);
	const char *callers = a->callers ? log_names_string(m->names, a->callers) : NULL;
	int err;

	if (!text)
		text = "(unknown function)";
	err = push_function(m, text, strlen(text));
	while (callers && *callers && !err) {
		size_t length = strcspn(callers, "\n");

		err = push_function(m, callers, length);
		callers += length + (callers[length] == '\n');
	}
	return err;
}

static int push_compiling(struct maker *m, uint64_t number)
{
	const struct log_method *method = log_names_method(m->names, number);
	char name[LABEL_MAX];

	return push_named(m, (struct keymap_key){.a = KEY_COMPILING, .b = number}, "compiles",
			  method ? label_method_name(method, name) : "(unknown method)");
}

/* What a thread of the VM's works at, from the inside out. */
static int push_work(struct maker *m, const struct profile_aspect *a)
{
	const struct phases *phases = &m->in->profile->work.phases;
	uint32_t row = (uint32_t)a->work_id;
	int err = 0;

	if (a->work == VM_WORK_COMPILING)
		return push_compiling(m, a->work_id);
	if (a->work == VM_WORK_OPERATION)
		return push_string(m, KEY_OPERATION, a->work_id, "VM operation");
	for (; a->work == VM_WORK_PHASE && row != INDEX_NONE && !err;
	     row = phases->rows[row].parent)
		err = push_string(m, KEY_PHASE, phases->rows[row].phase, "GC");
	return err;
}

static int push_pool(struct maker *m, uint64_t thread)
{
	const struct keymap_key key = {.a = KEY_POOL, .b = cell_kinds_pool(m->kinds, thread)};
	const char *name = cell_kinds_pool_name(m->kinds, thread);

	return name ? push_named(m, key, "pool", name) : push_text(m, "(no pool)");
}

/* Of the innermost method that is not hidden. */
static int push_package(struct maker *m, uint64_t stack)
{
	const struct log_stack *s = log_names_stack(m->names, stack);
	const struct log_method *method = s ? log_names_method(m->names, s->method) : NULL;
	const char *dot, *name;

	while (s && (!method || method->hidden)) {
		s = log_names_stack(m->names, s->caller);
		method = s ? log_names_method(m->names, s->method) : NULL;
	}
	if (!method)
		return push_text(m, "(no Java method)");
	dot = strrchr(method->class_name, '.');
	if (!dot)
		return push_text(m, "[default package]");
	name = text_set_add(&m->t->texts, method->class_name, (size_t)(dot - method->class_name));
	if (!name)
		return -ENOMEM;
	return push_named(m, (struct keymap_key){.a = KEY_PACKAGE, .b = (uintptr_t)name}, "package",
			  name);
}

/* span: of the aspect. */
static int push_span(struct maker *m, uint64_t span)
{
	return span > 1 ? push_string(m, KEY_SPAN, span - 1, "span") : push_text(m, "[span]");
}

/* What the chain begins with, in the place of its outermost method. */
static int push_by(struct maker *m, const struct profile_cell *c, const struct profile_aspect *a)
{
	char label[LABEL_MAX];
	uint32_t frame;
	int err;

	switch (m->in->by) {
	case PROFILE_BY_STATE:
		return push_text(m, by_state[c->state]);
	case PROFILE_BY_LOCK:
		return push_lock(m, a->lock);
	case PROFILE_BY_POOL:
		return push_pool(m, c->thread);
	case PROFILE_BY_PACKAGE:
		return push_package(m, c->stack);
	case PROFILE_BY_SPAN:
		return push_span(m, a->span);
	case PROFILE_BY_THREAD:
		label_thread(m->labels, c->thread, label);
		err = frame_get(m, (struct keymap_key){.a = KEY_THREAD, .b = c->thread}, "", label,
				&frame);
		return err ? err : path_push(m, frame);
	default:
		return 0;
	}
}

static int path_make(struct maker *m, const struct profile_cell *c)
{
	const struct profile_aspect aspect = profile_aspect_of(m->in->profile, c);
	const struct log_stack *s;
	int err;

	m->path_count = 0;
	err = aspect.symbol ? push_symbol(m, &aspect) : 0;
	if (!err && c->stack && c->state != STATE_RUNNING && m->in->by != PROFILE_BY_STATE &&
	    (m->in->states & ~(1u << c->state)))
		err = push_text(m, doing[c->state]);
	for (uint64_t stack = c->stack; stack && !err; stack = s ? s->caller : 0) {
		s = log_names_stack(m->names, stack);
		if (stack == c->stack && s && s->inferred)
			m->t->inferred += c->samples;
		err = push_stack(m, s);
	}
	if (!err && !c->stack)
		err = push_without_chain(m, c);
	else if (!err && !m->path_count)
		err = push_text(m, "(hidden frames)");
	if (!err)
		err = push_work(m, &aspect);
	return err ? err : push_by(m, c, &aspect);
}

/* "lookUp", "Table.lookUp", "demo.Table.lookUp", or a pattern of all of the name. */
static bool is_method(const struct maker *m, uint32_t frame)
{
	const char *name = m->t->frames[frame].name, *method = m->in->method;
	size_t length = strlen(name), part = strlen(method);

	if (!fnmatch(method, name, 0))
		return true;
	return part < length && name[length - part - 1] == '.' &&
	       !strcmp(name + length - part, method);
}

static int node_child(struct maker *m, uint32_t parent, uint32_t frame, uint32_t *ret)
{
	struct profile_tree *t = m->t;
	int err = keymap_add_row(&t->node_map,
				 (struct keymap_key){.a = (uint64_t)parent << 32 | frame, .b = 1},
				 &t->nodes, &t->nodes_capacity, sizeof(*t->nodes), ret);

	if (err)
		return err;
	t->nodes[*ret].parent = parent;
	t->nodes[*ret].frame = frame;
	t->nodes[*ret].depth = t->nodes[parent].depth + 1;
	return 0;
}

/* Frames from one index of the path to another, outwards or inwards. */
static int branch_add(struct maker *m, const struct profile_cell *c, int from, int to)
{
	uint32_t node = 0;
	int err = 0;

	for (int i = from; !err; i += from < to ? 1 : -1) {
		err = node_child(m, node, m->path[i], &node);
		if (i == to)
			break;
	}
	if (err)
		return err;
	time_add(&m->t->nodes[node].self, c);
	m->t->cell_nodes[c - m->in->profile->cells] = node;
	return 0;
}

static int view_add(struct maker *m, const struct profile_cell *c)
{
	int last = (int)m->path_count - 1, at = -1;

	if (m->in->view == PROFILE_CALLERS)
		for (int i = last; i >= 0; i--)
			at = is_method(m, m->path[i]) ? i : at;
	if (m->in->view == PROFILE_CALLEES)
		for (int i = 0; i <= last; i++)
			at = is_method(m, m->path[i]) ? i : at;
	if (m->in->view == PROFILE_CALLERS)
		return at < 0 ? 0 : branch_add(m, c, at, last);
	if (m->in->view == PROFILE_CALLEES)
		return at < 0 ? 0 : branch_add(m, c, at, 0);
	return branch_add(m, c, last, 0);
}

static int frames_add(struct maker *m, const struct profile_cell *c, uint32_t cell)
{
	struct profile_frame *frames = m->t->frames;
	int err = 0;

	while (!err && m->seen_capacity < m->t->frame_map.count) {
		uint32_t was = m->seen_capacity;

		err = array_grow(&m->seen, &m->seen_capacity, was, sizeof(*m->seen));
		if (!err)
			memset(m->seen + was, 0, (m->seen_capacity - was) * sizeof(*m->seen));
	}
	for (uint32_t i = 0; i < m->path_count && !err; i++) {
		uint32_t frame = m->path[i];

		if (!i)
			time_add(&frames[frame].self, c);
		if (m->seen[frame] == cell + 1)
			continue;
		m->seen[frame] = cell + 1;
		time_add(&frames[frame].total, c);
	}
	return err;
}

static int all_cells_add(struct maker *m)
{
	const struct profile *p = m->in->profile;
	double squares = 0, sum;
	uint64_t lock;
	int err = 0;

	for (uint32_t i = 0; i < p->cell_map.count && !err; i++) {
		const struct profile_cell *c = &p->cells[i];

		if (!(m->in->states >> c->state & 1) ||
		    !profile_thread_is_selected(m->in, c->thread))
			continue;
		err = path_make(m, c);
		if (!err)
			err = view_add(m, c);
		if (!err)
			err = frames_add(m, c, i);
		time_add(&m->t->all, c);
		m->t->states.ns[c->state] += c->ns;
		m->t->no_chain.ns[c->state] += c->rest ? c->ns : 0;
		m->t->failed += has_failed(m, c) ? c->samples : 0;
		lock = profile_aspect_of(p, c).lock;
		m->t->lock_ns += lock ? c->ns : 0;
		m->t->lock_inferred_ns += lock && is_inferred(m, lock) ? c->ns : 0;
		squares += (double)c->squares;
	}
	sum = (double)m->t->all.sampled_ns / PROFILE_UNIT_NS;
	m->t->effective = squares > 0 ? sum * sum / squares : 0;
	return err;
}

static void threads_add(struct maker *m)
{
	const struct profile *p = m->in->profile;

	for (uint32_t i = 0; i < p->thread_map.count && m->in->states & PROFILE_RUNNING; i++) {
		const struct profile_thread *t = &p->threads[i];

		if (!profile_thread_is_selected(m->in, t->thread))
			continue;
		m->t->run_ns += t->run_ns;
		for (int mode = 0; mode < SAMPLE_MODE_COUNT; mode++)
			m->t->mode_ns[mode] += t->mode_ns[mode];
		if (!profile_thread_is_java(t))
			continue;
		for (int via = 0; via < WALK_BEGIN_COUNT; via++)
			m->t->via[via] += t->via[via];
		for (int result = 0; result < WALK_RESULT_COUNT; result++)
			m->t->result[result] += t->result[result];
	}
}

static int compare_nodes(const void *a, const void *b, void *context)
{
	const struct profile_node *nodes = context, *x = &nodes[*(const uint32_t *)a],
				  *y = &nodes[*(const uint32_t *)b];

	if (x->total.ns != y->total.ns)
		return x->total.ns < y->total.ns ? -1 : 1;
	return x > y ? -1 : x < y;
}

static void time_sum(struct profile_time *to, const struct profile_time *more)
{
	to->ns += more->ns;
	to->sampled_ns += more->sampled_ns;
	to->samples += more->samples;
}

/* Backwards, a node's sum is complete when it is reached; the lightest is put before its siblings
 * first. */
static int link_children(struct profile_tree *t)
{
	uint32_t count = t->node_map.count, *order = calloc(count, sizeof(*order));

	if (!order)
		return -ENOMEM;
	for (uint32_t i = count; i-- > 0;) {
		struct profile_node *n = &t->nodes[i];

		order[i] = i;
		time_sum(&n->total, &n->self);
		if (i)
			time_sum(&t->nodes[n->parent].total, &n->total);
	}
	qsort_r(order, count, sizeof(*order), compare_nodes, t->nodes);
	for (uint32_t i = 0; i < count; i++) {
		struct profile_node *n = &t->nodes[order[i]];

		if (!order[i])
			continue;
		n->next = t->nodes[n->parent].first;
		t->nodes[n->parent].first = order[i];
	}
	free(order);
	return 0;
}

int profile_tree_make(const struct profile_input *in, struct profile_tree *ret)
{
	struct maker m = {.in = in, .names = analysis_names(in->in->log->analysis), .t = ret};
	uint32_t root;
	int err;

	m.contention = analysis_contention(in->in->log->analysis);
	m.park_is_numbered = contention_facts(m.contention).park.numbers;
	*ret = (struct profile_tree){0};
	m.labels = labels_new(m.names);
	err = m.labels ? keymap_add_row(&ret->node_map, (struct keymap_key){0}, &ret->nodes,
					&ret->nodes_capacity, sizeof(*ret->nodes), &root)
		       : -ENOMEM;
	if (!err && in->by == PROFILE_BY_POOL) {
		m.kinds = cell_kinds_new();
		err = m.kinds ? cell_kinds_fill(m.kinds, m.names, NULL, 0, 0) : -ENOMEM;
	}
	ret->cell_nodes = calloc(in->profile->cell_map.count + 1ul, sizeof(*ret->cell_nodes));
	if (!err)
		err = ret->cell_nodes ? all_cells_add(&m) : -ENOMEM;
	if (!err) {
		threads_add(&m);
		err = link_children(ret);
	}
	labels_free(m.labels);
	cell_kinds_free(m.kinds);
	free(m.path);
	free(m.seen);
	return err;
}

void profile_tree_free(struct profile_tree *t)
{
	text_set_free(&t->texts);
	keymap_free(&t->frame_map);
	keymap_free(&t->node_map);
	free(t->frames);
	free(t->nodes);
	free(t->cell_nodes);
	*t = (struct profile_tree){0};
}

uint32_t profile_tree_next(const struct profile_tree *t, uint32_t node, bool deeper)
{
	if (deeper && t->nodes[node].first)
		return t->nodes[node].first;
	while (node && !t->nodes[node].next)
		node = t->nodes[node].parent;
	return node ? t->nodes[node].next : 0;
}

double profile_deviation(const struct profile_tree *t, const struct profile_time *part)
{
	double sampled = (double)t->all.sampled_ns;
	double share = sampled > 0 ? (double)part->sampled_ns / sampled : 0;

	if (t->effective <= 0)
		return 0;
	return sqrt(share * (1 - share) / t->effective) * sampled / (double)t->all.ns;
}

bool profile_only_running(const struct profile_input *in)
{
	return in->states == PROFILE_RUNNING;
}

uint32_t profile_chain_of(const struct profile_tree *t, uint32_t node, uint32_t *ret)
{
	uint32_t count = 0;

	for (; node; node = t->nodes[node].parent)
		ret[count++] = t->nodes[node].frame;
	return count;
}

uint32_t *profile_chain_new(const struct profile_tree *t)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < t->node_map.count; i++)
		most = t->nodes[i].depth > most ? t->nodes[i].depth : most;
	return calloc((size_t)most + 1, sizeof(uint32_t));
}
