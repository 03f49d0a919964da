#include "analyze/groups/aspects.h"

#include <string.h>

#include "analyze/groups/facets.h"
#include "analyze/stacks/cell_kinds.h"
#include "analyze/stacks/stacks.h"
#include "log/format/event.h"
#include "log/read/names.h"

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

/* Pools have small numbers; whoever is in none, and is no thread, has its own. */
static uint64_t pool_of(const struct stacks *stacks, uint64_t thread)
{
	uint32_t pool =
		holder_is_thread(thread) ? cell_kinds_pool(stacks_kinds(stacks), thread) : 0;

	return pool ? pool | 1ull << 62 : thread;
}

static uint64_t waiter_pool_of(const struct stacks *stacks, const struct cell *cell)
{
	return pool_of(stacks, cell->waiter);
}

static uint64_t owner_pool_of(const struct stacks *stacks, const struct cell *cell)
{
	return pool_of(stacks, cell->holder);
}

/* What stands for no method has its own number. */
static uint64_t class_of_method(const struct stacks *stacks, uint64_t method)
{
	uint32_t class = method == HOLDER_HAND_OVER
				 ? 0
				 : cell_kinds_class(stacks_kinds(stacks), (uint32_t)method);

	return class ? class | 1ull << 62 : method;
}

static uint64_t waiter_class_of(const struct stacks *stacks, const struct cell *cell)
{
	return class_of_method(stacks, waiter_method_of(stacks, cell));
}

static uint64_t owner_class_of(const struct stacks *stacks, const struct cell *cell)
{
	return class_of_method(stacks, owner_method_of(stacks, cell));
}

static uint64_t package_of_method(const struct stacks *stacks, uint64_t method)
{
	uint32_t package = method == HOLDER_HAND_OVER
				   ? 0
				   : cell_kinds_package(stacks_kinds(stacks), (uint32_t)method);

	return package ? package | 1ull << 62 : method;
}

static uint64_t waiter_package_of(const struct stacks *stacks, const struct cell *cell)
{
	return package_of_method(stacks, waiter_method_of(stacks, cell));
}

static uint64_t owner_package_of(const struct stacks *stacks, const struct cell *cell)
{
	return package_of_method(stacks, owner_method_of(stacks, cell));
}

static uint64_t owner_state_of(const struct stacks *stacks, const struct cell *cell)
{
	(void)stacks;
	return facets_unpack(cell->facets).state * 2u + (cell->holder == HOLDER_HAND_OVER);
}

enum owner_sure cell_owner_sure(const struct cell *cell)
{
	if (cell->holder == HOLDER_UNKNOWN || cell->holder == THREAD_OTHERS)
		return OWNER_NOT_KNOWN;
	return cell->numbered ? OWNER_FACT : OWNER_INFERRED;
}

static uint64_t owner_source_of(const struct stacks *stacks, const struct cell *cell)
{
	(void)stacks;
	return cell_owner_sure(cell);
}

static uint64_t after_wait_of(const struct stacks *stacks, const struct cell *cell)
{
	(void)stacks;
	return cell->after_wait;
}

static uint64_t duration_of(const struct stacks *stacks, const struct cell *cell)
{
	(void)stacks;
	return facets_unpack(cell->facets).duration;
}

static uint64_t window_of(const struct stacks *stacks, const struct cell *cell)
{
	(void)stacks;
	return facets_unpack(cell->facets).window;
}

static uint64_t in_gc_of(const struct stacks *stacks, const struct cell *cell)
{
	(void)stacks;
	return facets_unpack(cell->facets).gc;
}

static uint64_t span_of(const struct stacks *stacks, const struct cell *cell)
{
	(void)stacks;
	return facets_unpack(cell->facets).span;
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
				 .method = true,
				 .key = waiter_stack_of},
	[ASPECT_WAITER_METHOD] = {.name = "waiter_method",
				  .doc = "the method that was blocked",
				  .method = true,
				  .key = waiter_method_of},
	[ASPECT_OWNER_STACK] = {.name = "owner_stack",
				.doc = "the holder's call chain",
				.max = GROUP_MAX_PART,
				.method = true,
				.key = owner_stack_of},
	[ASPECT_OWNER_METHOD] = {.name = "owner_method",
				 .doc = "the method that the holder was in",
				 .max = GROUP_MAX_PART,
				 .method = true,
				 .key = owner_method_of},
	[ASPECT_WAITER_POOL] = {.name = "waiter_pool",
				.doc = "threads that were blocked, by the pattern of their names",
				.kinds = true,
				.key = waiter_pool_of},
	[ASPECT_OWNER_POOL] = {.name = "owner_pool",
			       .doc = "holders, likewise",
			       .max = GROUP_MAX_HELD,
			       .kinds = true,
			       .key = owner_pool_of},
	[ASPECT_WAITER_CLASS] = {.name = "waiter_class",
				 .doc = "the class of waiter_method",
				 .kinds = true,
				 .key = waiter_class_of},
	[ASPECT_OWNER_CLASS] = {.name = "owner_class",
				.doc = "the class of owner_method",
				.max = GROUP_MAX_PART,
				.kinds = true,
				.key = owner_class_of},
	[ASPECT_WAITER_PACKAGE] = {.name = "waiter_package",
				   .doc = "the package of waiter_method",
				   .kinds = true,
				   .key = waiter_package_of},
	[ASPECT_OWNER_PACKAGE] = {.name = "owner_package",
				  .doc = "the package of owner_method",
				  .max = GROUP_MAX_PART,
				  .kinds = true,
				  .key = owner_package_of},
	[ASPECT_OWNER_STATE] = {.name = "owner_state",
				.doc = "what the holder did: running, stolen, runnable, throttled, "
				       "lock, wait, park, sleep, io, pause, other",
				.max = GROUP_MAX_PART,
				.facets = FACET_STATE,
				.key = owner_state_of},
	[ASPECT_OWNER_SOURCE] = {.name = "owner_source",
				 .doc = "whether who held it is fact or inferred",
				 .max = GROUP_MAX_PART,
				 .key = owner_source_of},
	[ASPECT_AFTER_WAIT] = {.name = "after_wait",
			       .doc = "yes: to get the monitor back after Object.wait()",
			       .key = after_wait_of},
	[ASPECT_DURATION] = {.name = "duration",
			     .doc = "how long the contention took, by powers of ten",
			     .facets = FACET_DURATION,
			     .key = duration_of},
	[ASPECT_WINDOW] = {.name = "window",
			   .doc = "when it was, by windows of time",
			   .max = GROUP_MAX_PART,
			   .facets = FACET_WINDOW,
			   .key = window_of},
	[ASPECT_IN_GC] = {.name = "in_gc",
			  .doc = "yes: while a collection was under way",
			  .max = GROUP_MAX_PART,
			  .facets = FACET_GC,
			  .key = in_gc_of},
	[ASPECT_SPAN] = {.name = "span",
			 .doc = "the innermost span that the waiter was in",
			 .facets = FACET_SPAN,
			 .key = span_of},
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

unsigned aspects_facets(const enum aspect_id *by, unsigned depth)
{
	unsigned facets = 0;

	while (depth--)
		facets |= aspects[by[depth]].facets;
	return facets;
}

int aspects_prepare(const struct stacks *stacks, const enum aspect_id *by, unsigned depth)
{
	bool kinds = false;

	while (depth--)
		kinds |= aspects[by[depth]].kinds;
	return kinds ? stacks_fill_kinds(stacks) : 0;
}
