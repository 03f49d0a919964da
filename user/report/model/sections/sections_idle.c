/* Locks whose waiters lose nothing: they queue to wait for new work. */
#include <stdlib.h>

#include "report/model/label.h"
#include "report/model/sections/sections.h"

#define WORK_LEAST 20 /* a lock is listed apart if work lost less than one part in so many */

bool section_idle_apart(const struct section_input *in, const struct group *lock)
{
	return in->in->order == GROUP_BY_WORK && lock->idle_ns &&
	       group_work_ns(lock) < lock->blocked_ns / WORK_LEAST;
}

static int compare_idle(const void *a, const void *b)
{
	const struct group *x = *(const struct group *const *)a,
			   *y = *(const struct group *const *)b;

	if (x->idle_ns != y->idle_ns)
		return x->idle_ns > y->idle_ns ? -1 : 1;
	return x < y ? -1 : 1;
}

/* Where most of the lock's idle time is. */
static const struct group *most_idle(const struct group *lock)
{
	const struct group *most = &lock->groups[0];

	for (uint32_t i = 1; i < lock->group_count; i++)
		if (lock->groups[i].idle_ns > most->idle_ns)
			most = &lock->groups[i];
	return most;
}

static void add_lock(const struct section_input *in, const struct group *lock, struct findings *f)
{
	char label[LABEL_MAX];

	findings_row(f, FINDINGS_ALL);
	findings_text(f, label_lock(in->labels, lock->cell->lock, label), NULL);
	FINDINGS_NUMBERS(f, lock->count, lock->idle_ns, lock->blocked_ns);
	findings_text(f, label_group(in->labels, in->stacks, most_idle(lock), label), NULL);
}

struct findings *section_idle_turns(const struct section_input *in, const struct group *root)
{
	static const struct findings_column columns[] = {
		{.key = "lock", .title = "idle turn-taking", .least = 34, .most = 60},
		{.key = "count", .title = "count", .unit = FINDINGS_COUNT, .least = 9},
		{.key = "idle_ns", .title = "time", .unit = FINDINGS_NS},
		{.title = "of all on it",
		 .unit = FINDINGS_NS,
		 .show = FINDINGS_SHARE,
		 .of = -1,
		 .per = 1},
		{.key = "blocked_ns", .unit = FINDINGS_NS},
		{.key = "method", .title = "to wait for work in"},
	};
	const struct group **idle = malloc((root->group_count + 1) * sizeof(*idle));
	struct findings *f = idle ? FINDINGS_NEW(columns) : NULL;
	uint32_t count = 0;

	for (uint32_t i = 0; f && i < root->group_count; i++)
		if (root->groups[i].idle_ns && root->groups[i].group_count)
			idle[count++] = &root->groups[i];
	if (f)
		qsort(idle, count, sizeof(*idle), compare_idle);
	for (uint32_t i = 0; i < count; i++)
		add_lock(in, idle[i], f);
	free(idle);
	return f;
}
