#include "analyze/groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log/event.h"
#include "log/names.h"

struct sort_context {
	const struct log_names *names;
	const struct aspect *aspect;
};

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static const char *class_of(const struct log_names *names, const struct cell *cell)
{
	const struct log_lock *lock = log_names_lock(names, cell->lock);
	const char *name = lock ? log_names_class(names, lock->class) : NULL;

	return name ? name : "";
}

/* Classes of the same name from several loaders, or loaded again, are one. */
static int compare_lock_class(const struct log_names *names, const struct cell *a,
			      const struct cell *b)
{
	return strcmp(class_of(names, a), class_of(names, b));
}

static int compare_lock(const struct log_names *names, const struct cell *a, const struct cell *b)
{
	int order = compare_lock_class(names, a, b);

	return order ? order : compare_u64(a->lock, b->lock);
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

static uint64_t group_of(const struct log_names *names, const struct cell *cell)
{
	const struct log_lock *lock = log_names_lock(names, cell->lock);

	return cell->monitor ? LOCK_GROUP_MONITOR : lock ? lock->group : LOCK_GROUP_OTHER;
}

static int compare_group(const struct log_names *names, const struct cell *a, const struct cell *b)
{
	return compare_u64(group_of(names, a), group_of(names, b));
}

static const struct aspect aspects[] = {
	[ASPECT_LOCK_CLASS] = {"lock_class", "class of the lock object", false, compare_lock_class},
	[ASPECT_LOCK] = {"lock", "the lock object", false, compare_lock},
	[ASPECT_WAITER_THREAD] = {"waiter_thread", "the thread that was blocked", false,
				  compare_waiter},
	[ASPECT_OWNER_THREAD] = {"owner_thread", "the thread that held the lock meanwhile", true,
				 compare_holder},
	[ASPECT_GROUP] = {"group", "monitor, or juc: java.util.concurrent", false, compare_group},
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

bool lock_is_contended(const struct log_names *names, uint64_t lock, bool monitor)
{
	const struct log_lock *l = log_names_lock(names, lock);

	return monitor || (l && (l->group == LOCK_GROUP_MONITOR || l->group == LOCK_GROUP_JUC));
}

static int compare_cells(const void *a, const void *b, void *context)
{
	const struct sort_context *s = context;

	return s->aspect->compare(s->names, *(const struct cell *const *)a,
				  *(const struct cell *const *)b);
}

static int compare_groups(const void *a, const void *b, void *context)
{
	const struct sort_context *s = context;
	const struct group *group_a = a, *group_b = b;

	return -compare_u64(group_a->blocked_ns, group_b->blocked_ns)
		       ?: s->aspect->compare(s->names, group_a->cell, group_b->cell);
}

static void sum(struct group *g, const struct cell *const *cells, uint32_t count, bool of_holder)
{
	for (uint32_t i = 0; i < count; i++) {
		uint64_t max = of_holder ? cells[i]->max_held_ns : cells[i]->max_ns;

		g->count += cells[i]->count;
		g->blocked_ns += cells[i]->blocked_ns;
		g->first_reader_ns += cells[i]->first_reader_ns;
		g->max_ns = max > g->max_ns ? max : g->max_ns;
		split_add(&g->split, &cells[i]->split);
	}
}

static int nest(const struct log_names *names, const struct cell **cells, uint32_t count,
		const enum aspect_id *by, unsigned depth, bool of_holder, struct group *parent)
{
	struct sort_context s = {names, depth ? &aspects[*by] : NULL};
	uint32_t first = 0, groups = 1, end;
	int err = 0;

	sum(parent, cells, count, of_holder);
	if (!depth || !count)
		return 0;
	qsort_r(cells, count, sizeof(*cells), compare_cells, &s);
	for (uint32_t i = 1; i < count; i++)
		groups += compare_cells(&cells[i - 1], &cells[i], &s) != 0;
	parent->groups = calloc(groups, sizeof(*parent->groups));
	if (!parent->groups)
		return -ENOMEM;
	for (; first < count && !err; first = end) {
		struct group *g = &parent->groups[parent->group_count++];

		end = first + 1;
		while (end < count && !compare_cells(&cells[first], &cells[end], &s))
			end++;
		g->aspect = *by;
		g->cell = cells[first];
		err = nest(names, cells + first, end - first, by + 1, depth - 1,
			   of_holder || s.aspect->of_holder, g);
	}
	if (!err)
		qsort_r(parent->groups, parent->group_count, sizeof(*parent->groups),
			compare_groups, &s);
	return err;
}

int groups_make(const struct log_names *names, const struct cell *cells, uint32_t cell_count,
		const enum aspect_id *by, unsigned depth, struct group *ret)
{
	const struct cell **used = malloc((cell_count + 1) * sizeof(*used));
	struct group root = {0};
	uint32_t count = 0;
	int err;

	if (!used)
		return -ENOMEM;
	for (uint32_t i = 0; i < cell_count; i++) {
		if ((cells[i].count || cells[i].blocked_ns) &&
		    lock_is_contended(names, cells[i].lock, cells[i].monitor))
			used[count++] = &cells[i];
	}
	err = nest(names, used, count, by, depth, false, &root);
	free(used);
	if (err)
		groups_free(&root);
	else
		*ret = root;
	return err;
}

void groups_free(struct group *root)
{
	for (uint32_t i = 0; i < root->group_count; i++)
		groups_free(&root->groups[i]);
	free(root->groups);
	*root = (struct group){0};
}
