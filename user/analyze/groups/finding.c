#include "analyze/groups/finding.h"

#include <string.h>

#include "analyze/stacks/stacks.h"

static void pair_add(struct finding *f, struct finding_pair pair)
{
	unsigned at = f->pair_count;

	while (at && f->pairs[at - 1].blocked_ns < pair.blocked_ns)
		at--;
	if (at == FINDING_PAIRS_MAX)
		return;
	if (f->pair_count < FINDING_PAIRS_MAX)
		f->pair_count++;
	memmove(&f->pairs[at + 1], &f->pairs[at], (f->pair_count - at - 1) * sizeof(*f->pairs));
	f->pairs[at] = pair;
}

/* What the finding is about: all of it, or what is not idle turn-taking. */
static uint64_t time_of(const struct group *g, enum group_order order)
{
	return order == GROUP_BY_WORK ? group_work_ns(g) : g->blocked_ns;
}

static void add_waiter(const struct stacks *stacks, const struct group *waiter,
		       enum group_order order, struct finding *f)
{
	struct finding_pair pair = {.waiter_method = group_method(stacks, waiter)}, most = {0};
	uint64_t hand_over_ns = 0, unknown_ns = 0;

	if (!stacks_method(stacks, pair.waiter_method)) {
		f->nameless_ns += time_of(waiter, order);
		return;
	}
	for (uint32_t i = 0; i < waiter->group_count; i++) {
		const struct group *owner = &waiter->groups[i];

		pair.owner_method = group_method(stacks, owner);
		pair.blocked_ns = time_of(owner, order);
		if (owner->cell->holder == HOLDER_HAND_OVER)
			hand_over_ns += pair.blocked_ns;
		else if (!stacks_method(stacks, pair.owner_method))
			unknown_ns += pair.blocked_ns;
		else if (pair.blocked_ns)
			pair_add(f, pair);
		if (stacks_method(stacks, pair.owner_method) && pair.blocked_ns > most.blocked_ns)
			most = pair;
	}
	f->all_hand_over_ns += hand_over_ns;
	f->all_unknown_ns += unknown_ns;
	if (time_of(waiter, order) <= f->waiter_ns)
		return;
	f->waiter_method = pair.waiter_method;
	f->waiter_ns = time_of(waiter, order);
	f->owner_method = most.owner_method;
	f->owner_ns = most.blocked_ns;
	f->hand_over_ns = hand_over_ns;
	f->owner_unknown_ns = unknown_ns;
}

static void add_cell(const struct stacks *stacks, const struct cell *cell, struct finding *f)
{
	if (!lock_is_contended(stacks_names(stacks), cell->lock, cell->monitor))
		return;
	if (stacks_chain(stacks, cell->waiter_stack))
		f->waiter_known_ns += cell->blocked_ns;
	if (!holder_is_thread(cell->holder))
		return;
	f->held_ns += cell->blocked_ns;
	if (cell->holder_stack && !stacks_chain(stacks, cell->holder_stack)) {
		f->from_ns[HOLDER_STACK_UNKNOWN] += cell->blocked_ns; /* the log has lost it */
		return;
	}
	for (int i = 0; i < HOLDER_STACK_FROM_COUNT; i++)
		f->from_ns[i] += cell->stack_from_ns[i];
}

int finding_make(const struct stacks *stacks, const struct cell *cells, uint32_t cell_count,
		 enum group_order order, struct finding *ret)
{
	static const enum aspect_id by[] = {ASPECT_WAITER_METHOD, ASPECT_OWNER_METHOD};
	struct finding f = {0};
	struct group root;
	int err = groups_make(stacks, cells, cell_count, by, 2, order, &root);

	if (err)
		return err;
	f.blocked_ns = root.blocked_ns;
	f.total_ns = time_of(&root, order);
	f.idle_ns = f.blocked_ns - f.total_ns;
	for (uint32_t i = 0; i < root.group_count; i++)
		add_waiter(stacks, &root.groups[i], order, &f);
	groups_free(&root);
	for (uint32_t i = 0; i < cell_count; i++)
		add_cell(stacks, &cells[i], &f);
	*ret = f;
	return 0;
}
