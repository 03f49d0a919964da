#include "report/model/contention_events.h"

#include "analyze/cells/blocked_list.h"
#include "analyze/groups/contended.h"
#include "analyze/stacks/stacks.h"
#include "log/read/names.h"

bool contention_event_counts(const struct contention_events *in, const struct blocked_interval *i)
{
	return lock_is_contended(in->names, i->key.lock, i->monitor);
}

const char *contention_owner_is(const struct contention_events *in, uint64_t owner)
{
	if (owner == HOLDER_HAND_OVER)
		return "hand-over";
	if (!holder_is_thread(owner))
		return "unknown";
	return in->exact ? "recorded" : "inferred";
}

static uint64_t frame_of(const struct contention_events *in, uint64_t stack, uint32_t method)
{
	const struct log_stack *s;

	if (!stacks_method(in->stacks, method))
		return 0;
	for (; stack; stack = s ? s->caller : 0) {
		if (stacks_frame_method(in->stacks, stack) == method)
			break;
		s = log_names_stack(in->names, stack);
	}
	return stack;
}

uint64_t contention_waiter_frame(const struct contention_events *in, uint64_t stack)
{
	return frame_of(in, stack, stacks_waiter_method(in->stacks, stack));
}

uint64_t contention_holder_frame(const struct contention_events *in, uint64_t stack)
{
	return frame_of(in, stack, stacks_holder_method(in->stacks, stack));
}
