#include "analyze/cells/groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cells/idle.h"
#include "analyze/cells/stacks.h"
#include "log/format/event.h"
#include "log/read/names.h"

struct sort_context {
	const struct stacks *stacks;
	const struct log_names *names;
	const struct aspect *aspect;
	enum group_order order;
};

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static const char no_name[] = "";

static const char *class_of(const struct log_names *names, uint64_t number)
{
	const struct log_lock *lock = log_names_lock(names, number);
	const char *name = lock ? log_names_class(names, lock->class) : NULL;

	return name && *name ? name : no_name;
}

/* Classes of the same name from several loaders, or loaded again, are one. */
static int compare_lock_class(const struct log_names *names, const struct cell *a,
			      const struct cell *b)
{
	if (a->lock == b->lock)
		return 0; /* most of them: cells of one lock are many */
	return strcmp(class_of(names, a->lock), class_of(names, b->lock));
}

static int compare_lock(const struct log_names *names, const struct cell *a, const struct cell *b)
{
	int order = compare_lock_class(names, a, b);

	return order ? order : compare_u64(a->lock, b->lock);
}

static int compare_blocked_on(const struct log_names *names, const struct cell *a,
			      const struct cell *b)
{
	if (a->blocked_on == b->blocked_on)
		return 0;
	return strcmp(class_of(names, a->blocked_on), class_of(names, b->blocked_on))
		       ?: compare_u64(a->blocked_on, b->blocked_on);
}

static int compare_threads(const struct log_names *names, uint64_t a, uint64_t b)
{
	const struct log_thread *thread_a = holder_is_thread(a) ? log_names_thread(names, a) : NULL;
	const struct log_thread *thread_b = holder_is_thread(b) ? log_names_thread(names, b) : NULL;

	if (a == b)
		return 0;
	return strcmp(thread_a ? thread_a->name : "", thread_b ? thread_b->name : "")
		       ?: compare_u64(a, b);
}

static int compare_waiter(const struct log_names *names, const struct cell *a, const struct cell *b)
{
	return compare_threads(names, a->waiter, b->waiter);
}

static int compare_holder(const struct log_names *names, const struct cell *a, const struct cell *b)
{
	return compare_threads(names, a->holder, b->holder);
}

static uint64_t group_of(const struct stacks *stacks, const struct cell *cell)
{
	const struct log_lock *lock = log_names_lock(stacks_names(stacks), cell->lock);

	return cell->monitor ? LOCK_GROUP_MONITOR : lock ? lock->group : LOCK_GROUP_OTHER;
}

static uint64_t waiter_stack_of(const struct stacks *stacks, const struct cell *cell)
{
	return stacks_chain(stacks, cell->waiter_stack);
}

static uint64_t waiter_method_of(const struct stacks *stacks, const struct cell *cell)
{
	return stacks_waiter_method(stacks, cell->waiter_stack);
}

/* Hand-over has no call site; an unknown holder has the unknown one. */
static uint64_t owner_stack_of(const struct stacks *stacks, const struct cell *cell)
{
	return cell->holder == HOLDER_HAND_OVER ? HOLDER_HAND_OVER
						: stacks_chain(stacks, cell->holder_stack);
}

static uint64_t owner_method_of(const struct stacks *stacks, const struct cell *cell)
{
	return cell->holder == HOLDER_HAND_OVER ? HOLDER_HAND_OVER
						: stacks_holder_method(stacks, cell->holder_stack);
}

/* Equal texts have one address in log_names. */
static uint64_t lock_class_of(const struct stacks *stacks, const struct cell *cell)
{
	return (uintptr_t)class_of(stacks_names(stacks), cell->lock);
}

static uint64_t lock_of(const struct stacks *stacks, const struct cell *cell)
{
	(void)stacks;
	return cell->lock;
}

static uint64_t blocked_on_of(const struct stacks *stacks, const struct cell *cell)
{
	(void)stacks;
	return cell->blocked_on;
}

static uint64_t waiter_of(const struct stacks *stacks, const struct cell *cell)
{
	(void)stacks;
	return cell->waiter;
}

static uint64_t holder_of(const struct stacks *stacks, const struct cell *cell)
{
	(void)stacks;
	return cell->holder;
}

static const struct aspect aspects[] = {
	[ASPECT_BEHIND] = {.name = "behind",
			   .doc = "the lock that its holder was itself blocked or parked on",
			   .max = GROUP_MAX_PART,
			   .key = blocked_on_of,
			   .compare = compare_blocked_on},
	[ASPECT_LOCK_CLASS] = {.name = "lock_class",
			       .doc = "class of the lock object",
			       .key = lock_class_of,
			       .compare = compare_lock_class},
	[ASPECT_LOCK] = {.name = "lock",
			 .doc = "the lock object",
			 .key = lock_of,
			 .compare = compare_lock},
	[ASPECT_WAITER_THREAD] = {.name = "waiter_thread",
				  .doc = "the thread that was blocked",
				  .key = waiter_of,
				  .compare = compare_waiter},
	[ASPECT_OWNER_THREAD] = {.name = "owner_thread",
				 .doc = "the thread that held the lock meanwhile",
				 .max = GROUP_MAX_HELD,
				 .key = holder_of,
				 .compare = compare_holder},
	[ASPECT_GROUP] = {.name = "group",
			  .doc = "monitor, or juc: java.util.concurrent",
			  .key = group_of},
	[ASPECT_WAITER_STACK] = {.name = "waiter_stack",
				 .doc = "the call chain that was blocked",
				 .key = waiter_stack_of},
	[ASPECT_WAITER_METHOD] = {.name = "waiter_method",
				  .doc = "the method that was blocked",
				  .key = waiter_method_of},
	[ASPECT_OWNER_STACK] = {.name = "owner_stack",
				.doc = "the holder's call chain",
				.max = GROUP_MAX_PART,
				.key = owner_stack_of},
	[ASPECT_OWNER_METHOD] = {.name = "owner_method",
				 .doc = "the method that the holder was in",
				 .max = GROUP_MAX_PART,
				 .key = owner_method_of},
};
_Static_assert(sizeof(aspects) / sizeof(*aspects) == ASPECT_COUNT, "every aspect has a row");

const struct aspect *aspect_get(enum aspect_id id)
{
	return &aspects[id];
}

int aspect_by_name(const char *name, size_t length)
{
	for (int i = 0; i < ASPECT_COUNT; i++) {
		if (strlen(aspects[i].name) == length && !memcmp(aspects[i].name, name, length))
			return i;
	}
	return -1;
}

/* A cell on its way into groups. */
struct entry {
	const struct cell *cell;
	uint64_t idle_ns;
	uint32_t group; /* its index */
};

static uint64_t rank(const struct group *g, enum group_order order)
{
	switch (order) {
	case GROUP_BY_COUNT:
		return g->count;
	case GROUP_BY_MAX:
		return g->max_ns;
	case GROUP_BY_TIME:
		return g->blocked_ns;
	default:
		return group_work_ns(g);
	}
}

static int compare_groups(const void *a, const void *b, void *context)
{
	const struct sort_context *s = context;
	const struct group *x = a, *y = b;

	if (rank(x, s->order) != rank(y, s->order))
		return -compare_u64(rank(x, s->order), rank(y, s->order));
	if (x->blocked_ns != y->blocked_ns)
		return -compare_u64(x->blocked_ns, y->blocked_ns);
	if (s->aspect->compare)
		return s->aspect->compare(s->names, x->cell, y->cell);
	return compare_u64(s->aspect->key(s->stacks, x->cell), s->aspect->key(s->stacks, y->cell));
}

static void sum(struct group *g, const struct entry *entries, uint32_t count, enum group_max which)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct cell *cell = entries[i].cell;
		uint64_t max = which == GROUP_MAX_PART   ? cell->max_part_ns
			       : which == GROUP_MAX_HELD ? cell->max_held_ns
							 : cell->max_ns;

		if (!g->cell || cell->blocked_ns > g->cell->blocked_ns)
			g->cell = cell;
		g->count += cell->count;
		g->blocked_ns += cell->blocked_ns;
		g->idle_ns += entries[i].idle_ns;
		g->first_reader_ns += cell->first_reader_ns;
		g->after_wait_count += cell->after_wait ? cell->count : 0;
		g->after_wait_ns += cell->after_wait ? cell->blocked_ns : 0;
		g->max_ns = max > g->max_ns ? max : g->max_ns;
		split_add(&g->split, &cell->split);
		for (int k = 0; k < HOLDER_STACK_FROM_COUNT; k++)
			g->stack_from_ns[k] += cell->stack_from_ns[k];
	}
}

/* What all levels work with. */
struct nest {
	const struct stacks *stacks;
	struct entry *spare; /* as many as there are entries */
	struct keymap keys;  /* of the groups of one parent; empty in between */
	enum group_order order;
};

/* Gives each entry its group's index, in the order of the first ones. 0 or -ENOMEM. */
static int groups_number(struct nest *n, const struct aspect *aspect, struct entry *entries,
			 uint32_t count, uint32_t *ret)
{
	int err = 0;

	for (uint32_t i = 0; i < count && !err; i++)
		err = keymap_add_number(&n->keys, aspect->key(n->stacks, entries[i].cell),
					&entries[i].group);
	*ret = n->keys.count;
	keymap_clear(&n->keys);
	return err;
}

/* Entries of one group side by side, in the order that they had; ends by group, all zero. */
static void entries_part(struct nest *n, struct entry *entries, uint32_t count, uint32_t *ends,
			 uint32_t groups)
{
	uint32_t begin = 0, size;

	memcpy(n->spare, entries, count * sizeof(*entries));
	for (uint32_t i = 0; i < count; i++)
		ends[entries[i].group]++;
	for (uint32_t i = 0; i < groups; i++) {
		size = ends[i];
		ends[i] = begin;
		begin += size;
	}
	for (uint32_t i = 0; i < count; i++)
		entries[ends[n->spare[i].group]++] = n->spare[i];
}

static int nest(struct nest *n, struct entry *entries, uint32_t count, const enum aspect_id *by,
		unsigned depth, enum group_max max, struct group *parent)
{
	struct sort_context s = {n->stacks, stacks_names(n->stacks), depth ? &aspects[*by] : NULL,
				 n->order};
	uint32_t groups, *ends;
	int err;

	sum(parent, entries, count, max);
	if (!depth || !count)
		return 0;
	err = groups_number(n, s.aspect, entries, count, &groups);
	if (err)
		return err;
	parent->groups = calloc(groups, sizeof(*parent->groups));
	ends = calloc(groups, sizeof(*ends));
	if (parent->groups && ends)
		entries_part(n, entries, count, ends, groups);
	else
		err = -ENOMEM;
	for (uint32_t first = 0; !err && parent->group_count < groups;) {
		struct group *g = &parent->groups[parent->group_count];
		uint32_t end = ends[parent->group_count++];

		g->aspect = *by;
		err = nest(n, entries + first, end - first, by + 1, depth - 1,
			   max > s.aspect->max ? max : s.aspect->max, g);
		first = end;
	}
	free(ends);
	if (!err)
		qsort_r(parent->groups, parent->group_count, sizeof(*parent->groups),
			compare_groups, &s);
	return err;
}

static int make(const struct stacks *stacks, const struct cell *cells, uint32_t cell_count,
		bool contended, const enum aspect_id *by, unsigned depth, enum group_order order,
		struct group *ret)
{
	struct entry *used = malloc((cell_count + 1) * sizeof(*used));
	struct nest n = {.stacks = stacks, .order = order};
	struct group root = {0};
	uint32_t count = 0;
	int err = used ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < cell_count && !err; i++) {
		if ((cells[i].count || cells[i].blocked_ns) &&
		    lock_is_contended(stacks_names(stacks), cells[i].lock, cells[i].monitor) ==
			    contended)
			used[count++] = (struct entry){
				.cell = &cells[i],
				.idle_ns = contended ? idle_turn_ns(stacks, &cells[i]) : 0};
	}
	n.spare = depth ? malloc((count + 1) * sizeof(*n.spare)) : NULL;
	if (depth && !n.spare)
		err = -ENOMEM;
	if (!err)
		err = nest(&n, used, count, by, depth, GROUP_MAX_WHOLE, &root);
	free(used);
	free(n.spare);
	keymap_free(&n.keys);
	if (err)
		groups_free(&root);
	else
		*ret = root;
	return err;
}

int groups_make(const struct stacks *stacks, const struct cell *cells, uint32_t cell_count,
		const enum aspect_id *by, unsigned depth, enum group_order order, struct group *ret)
{
	return make(stacks, cells, cell_count, true, by, depth, order, ret);
}

int groups_make_parked(const struct stacks *stacks, const struct cell *cells, uint32_t cell_count,
		       const enum aspect_id *by, unsigned depth, struct group *ret)
{
	return make(stacks, cells, cell_count, false, by, depth, GROUP_BY_TIME, ret);
}

void groups_free(struct group *root)
{
	for (uint32_t i = 0; i < root->group_count; i++)
		groups_free(&root->groups[i]);
	free(root->groups);
	*root = (struct group){0};
}

uint32_t group_method(const struct stacks *stacks, const struct group *g)
{
	if (g->aspect == ASPECT_WAITER_METHOD)
		return stacks_waiter_method(stacks, g->cell->waiter_stack);
	return stacks_holder_method(stacks, g->cell->holder_stack);
}
