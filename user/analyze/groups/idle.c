#include "analyze/groups/idle.h"

#include "analyze/cells/cells.h"
#include "analyze/groups/contended.h"
#include "analyze/stacks/idle_methods.h"
#include "analyze/stacks/stacks.h"

/* Whether a thread waits for new work within the method of that number. What a method that waits
 * calls back, such as the action given to select(), is work. */
static bool waits_within(const struct stacks *stacks, uint64_t stack, uint32_t method)
{
	bool waits = false;
	struct stacks_frame f;

	while (stack) {
		uint32_t own = stacks_frame_method(stacks, stack);

		if (!stacks_next(stacks, &stack, &f) || !f.method)
			return false;
		waits = waits || idle_method(f.method);
		if (waits && own == method)
			return true;
		if (!waits && !f.jdk)
			return false;
	}
	return false;
}

/* Of the holder's blocked time: on a lock, or stopped. What is parked on a condition or a queue is
 * not. */
static uint64_t not_idle_ns(const struct stacks *stacks, const struct cell *cell)
{
	const uint64_t *reason_ns = cell->split.reason_ns;
	bool behind = cell->blocked_on &&
		      lock_is_contended(stacks_names(stacks), cell->blocked_on, false);

	return reason_ns[BLOCKED_REASON_LOCK] + reason_ns[BLOCKED_REASON_PAUSE] +
	       (behind ? reason_ns[BLOCKED_REASON_PARK] : 0);
}

uint64_t idle_turn_ns(const struct stacks *stacks, const struct cell *cell)
{
	uint64_t idle_ns = cell->split.blocked_ns, not_idle;
	uint32_t method;

	if (!idle_ns || !stacks_waits(stacks, cell->holder_stack))
		return 0;
	method = stacks_waiter_method(stacks, cell->waiter_stack);
	if (!stacks_method(stacks, method) || !waits_within(stacks, cell->holder_stack, method))
		return 0;
	not_idle = not_idle_ns(stacks, cell);
	return idle_ns > not_idle ? idle_ns - not_idle : 0;
}
