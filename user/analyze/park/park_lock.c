/*
 * What a lock's events say is kept as facts until the next release: only then it is clear
 * who had it since the last one, and from which call chain (park_runs.c). Whoever was blocked in
 * the meantime, and has given up, is still in the timeline, which settles all intervals when it
 * gets there. A lock on which nobody waits any more is settled with what is known.
 *
 * There are two timelines, because one thing differs for those who would share the lock: while one
 * reader wakes the next, nobody keeps that one waiting, but a writer is kept waiting by the readers
 * that are in.
 */
#include "analyze/park/park_lock.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/park/park_runs.h"

#define MARKS_MAX 128   /* then they are settled as far as is known */
#define BEHIND_MAX 4096 /* likewise */

void park_lock_free(struct park_lock *l)
{
	free(l->facts);
}

static uint64_t forward(struct park_lock *l, uint64_t ns)
{
	if (ns > l->now_ns)
		l->now_ns = ns;
	return l->now_ns;
}

static struct hold hold_of(const struct park_run *run)
{
	const struct held *held = &run->held;
	struct hold hold = {.holder = HOLDER_UNKNOWN};

	if (held->mode == HELD_BY_NOBODY)
		hold.holder = HOLDER_HAND_OVER;
	if (held->mode < HELD_EXCLUSIVE)
		return hold;
	hold.holder = held->thread ? held->thread : HOLDER_UNKNOWN;
	hold.first_reader = held->mode == HELD_SHARED && !run->alone;
	if (held->thread && held->stack) {
		hold.stack = held->stack;
		hold.from = held->from;
	}
	return hold;
}

/* From the moment when a reader woke another until that one came back, up to which mark. */
static uint64_t pass_end(const struct park_lock *l, uint32_t first, uint32_t end, uint64_t target)
{
	for (uint32_t i = first; i < end; i++) {
		if (l->facts[i].kind == LOCK_FACT_WOKEN && l->facts[i].held.thread == target)
			return l->facts[i].ns;
	}
	return UINT64_MAX;
}

static int extend_until(struct timeline *line, uint64_t ns, uint64_t end_ns,
			const struct hold *hold)
{
	return timeline_extend(line, ns < end_ns ? ns : end_ns, hold);
}

/* The timeline of those who would share it: what others' have, but for being passed on. */
static int extend_shared(struct park_lock *l, uint32_t facts, const struct park_run *run)
{
	static const struct hold nobody = {.holder = HOLDER_HAND_OVER};
	const struct hold hold = hold_of(run);
	struct timeline *line = l->lines[1];
	int err = 0;

	if (run->held.mode != HELD_SHARED)
		return timeline_extend(line, run->to_ns, &hold);
	if (l->left.passed_to)
		err = extend_until(line, pass_end(l, 0, facts, l->left.passed_to), run->to_ns,
				   &nobody);
	for (uint32_t i = 0; i < facts && !err; i++) {
		const struct lock_fact *m = &l->facts[i];

		if (m->kind != LOCK_FACT_PASSED_ON)
			continue;
		err = extend_until(line, m->ns, run->to_ns, &hold);
		if (!err)
			err = extend_until(line, pass_end(l, i, facts, m->target), run->to_ns,
					   &nobody);
	}
	return err ? err : timeline_extend(line, run->to_ns, &hold);
}

static void marks_drop(struct park_lock *l, uint32_t count)
{
	l->fact_count -= count;
	if (l->fact_count)
		memmove(l->facts, l->facts + count, l->fact_count * sizeof(*l->facts));
}

/* What is settled is gone from the facts. */
static int settle(struct park_lock *l, uint32_t fact_count, const struct lock_fact *release,
		  uint64_t end_ns)
{
	struct park_runs runs = {0};
	int err = park_runs_make(l, fact_count, release, end_ns, &runs);

	for (uint32_t i = 0; i < runs.count && !err; i++) {
		const struct hold hold = hold_of(&runs.rows[i]);

		if (l->lines[0])
			err = timeline_extend(l->lines[0], runs.rows[i].to_ns, &hold);
		if (!err && l->lines[1])
			err = extend_shared(l, fact_count, &runs.rows[i]);
		l->charged_ns = runs.rows[i].to_ns;
	}
	l->left = runs.left;
	free(runs.rows);
	marks_drop(l, fact_count);
	l->behind = 0;
	return err;
}

/* Where a fact with this number belongs; its time becomes one that fits there. */
static uint32_t index_of(const struct park_lock *l, uint64_t sequence, uint64_t *ns)
{
	uint32_t index = l->fact_count;

	while (index > 0 && l->facts[index - 1].sequence > sequence)
		index--;
	if (index > 0 && *ns < l->facts[index - 1].last_ns)
		*ns = l->facts[index - 1].last_ns;
	if (*ns < l->charged_ns)
		*ns = l->charged_ns;
	if (index < l->fact_count && *ns > l->facts[index].ns)
		*ns = l->facts[index].ns;
	return index;
}

static int fact_add(struct park_lock *l, const struct lock_fact *m)
{
	uint64_t ns = m->ns;
	uint32_t index;
	int err = 0;

	if (m->sequence <= l->left.sequence)
		return 0;
	if (l->fact_count == MARKS_MAX)
		err = settle(l, l->fact_count, NULL, l->now_ns);
	if (!err)
		err = array_grow(&l->facts, &l->fact_capacity, l->fact_count, sizeof(*l->facts));
	if (err)
		return err;
	index = index_of(l, m->sequence, &ns);
	for (uint32_t i = l->fact_count++; i > index; i--)
		l->facts[i] = l->facts[i - 1];
	l->facts[index] = *m;
	l->facts[index].ns = ns;
	l->facts[index].last_ns = ns;
	forward(l, ns);
	return 0;
}

/* Somebody may get the lock without an event. */
static bool is_open(const struct park_lock *l)
{
	bool awaited = l->left.target;

	for (uint32_t i = 0; i < l->fact_count; i++) {
		const struct lock_fact *m = &l->facts[i];

		if (m->kind == LOCK_FACT_WOKEN && m->outcome == OUTCOME_OPEN)
			return true;
		awaited &= m->kind != LOCK_FACT_WOKEN || m->held.thread != l->left.target;
	}
	return awaited || l->left.awake;
}

/* Nobody waits, and nothing is to come that would tell more about those who did. */
static int forget(struct park_lock *l)
{
	int err = 0;

	if (l->blocked || is_open(l))
		return 0;
	if (l->uncharged)
		err = settle(l, l->fact_count, NULL, l->now_ns);
	l->uncharged = false;
	l->fact_count = 0;
	l->left = (struct park_left){.sequence = l->left.sequence, .ns = l->now_ns};
	return err;
}

/* Before this nobody was blocked in this way. */
static int line_begin(struct park_lock *l, unsigned mode)
{
	static const struct hold nobody = {.holder = HOLDER_HAND_OVER};
	int err = timeline_part(l->all, l->lock, mode, 0, &l->lines[mode]);

	return err ? err : timeline_extend(l->lines[mode], l->charged_ns, &nobody);
}

/* The timeline keeps what happens after its end: there is a limit. */
static int fall_behind(struct park_lock *l)
{
	return ++l->behind < BEHIND_MAX ? 0 : settle(l, l->fact_count, NULL, l->now_ns);
}

/* The first one to wait: while nobody did, the lock was taken and released unseen. */
static int begin_anew(struct park_lock *l)
{
	int err = settle(l, l->fact_count, NULL, l->now_ns);

	l->uncharged = false;
	if (l->left.held.mode >= HELD_EXCLUSIVE)
		l->left.held = (struct held){0};
	return err;
}

int park_lock_block(struct park_lock *l, uint64_t ns, const struct blocked *who,
		    enum park_mode mode, bool again)
{
	unsigned line = mode == PARK_SHARED;
	int err = l->blocked || again ? 0 : begin_anew(l);

	forward(l, ns);
	if (!err && !l->lines[line])
		err = line_begin(l, line);
	if (!err)
		err = timeline_block(l->lines[line], ns, who);
	l->blocked += !err;
	return err;
}

int park_lock_unblock(struct park_lock *l, uint64_t thread, enum park_mode mode, uint64_t ns,
		      bool count)
{
	int err = timeline_unblock(l->lines[mode == PARK_SHARED], thread, ns, count);

	forward(l, ns);
	l->blocked--;
	l->uncharged |= count;
	return err ? err : fall_behind(l);
}

int park_lock_see(struct park_lock *l, uint64_t ns, uint64_t thread, const struct counters *its)
{
	int err = 0;

	forward(l, ns);
	for (int i = 0; i < 2 && !err && l->blocked; i++) {
		if (l->lines[i])
			err = timeline_see(l->lines[i], l->now_ns, thread, its);
	}
	return err ? err : fall_behind(l);
}

/* The same holder again; what happened in between has led to nothing. */
static bool held_again(struct park_lock *l, uint64_t ns, const struct held *held)
{
	uint32_t i = l->fact_count;
	struct lock_fact *m;

	for (; i > 0 && l->facts[i - 1].kind == LOCK_FACT_WOKEN; i--) {
		if (l->facts[i - 1].unparked && l->facts[i - 1].outcome < OUTCOME_NOT_TAKEN)
			return false;
	}
	m = i ? &l->facts[i - 1] : NULL;
	if (!m || m->kind != LOCK_FACT_HELD || m->held.mode != held->mode ||
	    m->held.thread != held->thread || m->held.readers != held->readers)
		return false;
	m->last_ns = forward(l, ns);
	if (!m->held.stack) {
		m->held.stack = held->stack;
		m->held.from = held->from;
	}
	l->fact_count = i;
	return true;
}

int park_lock_held(struct park_lock *l, uint64_t sequence, uint64_t ns, const struct held *held)
{
	struct lock_fact m = {
		.kind = LOCK_FACT_HELD, .sequence = sequence, .ns = ns, .held = *held};

	return held_again(l, ns, held) ? 0 : fact_add(l, &m);
}

void park_lock_show(struct park_lock *l, uint64_t thread, uint64_t stack,
		    enum holder_stack_from from)
{
	uint32_t i = l->fact_count;
	struct held *held;

	while (i > 0 && l->facts[i - 1].kind == LOCK_FACT_WOKEN)
		i--;
	held = i ? &l->facts[i - 1].held : &l->left.held;
	if (held->mode < HELD_EXCLUSIVE || held->thread != thread || held->stack)
		return;
	held->stack = stack;
	held->from = from;
}

int park_lock_pass_on(struct park_lock *l, uint64_t sequence, uint64_t ns, const struct held *held,
		      uint64_t target)
{
	struct lock_fact m = {.kind = LOCK_FACT_PASSED_ON,
			      .sequence = sequence,
			      .ns = ns,
			      .held = *held,
			      .target = target};

	return fact_add(l, &m);
}

int park_lock_woken(struct park_lock *l, uint64_t sequence, uint64_t ns, uint64_t thread,
		    enum park_mode mode, bool unparked)
{
	struct lock_fact m = {
		.kind = LOCK_FACT_WOKEN,
		.sequence = sequence,
		.ns = ns,
		.held = {.mode = mode == PARK_EXCLUSIVE ? HELD_EXCLUSIVE : HELD_SHARED,
			 .thread = thread},
		.unparked = unparked};

	return fact_add(l, &m);
}

int park_lock_outcome(struct park_lock *l, uint64_t thread, enum lock_fact_outcome outcome)
{
	if (l->left.awake == thread)
		l->left.awake = 0;
	for (uint32_t i = l->fact_count; i > 0; i--) {
		struct lock_fact *m = &l->facts[i - 1];

		if (m->kind != LOCK_FACT_WOKEN || m->held.thread != thread ||
		    m->outcome != OUTCOME_OPEN)
			continue;
		m->outcome = outcome;
		break;
	}
	return outcome == OUTCOME_TRIED ? 0 : forget(l);
}

int park_lock_release(struct park_lock *l, uint64_t sequence, uint64_t ns, const struct held *held,
		      uint64_t target, bool parked)
{
	struct lock_fact m = {.sequence = sequence, .ns = ns, .held = *held};
	uint32_t index;
	int err = 0;

	if (sequence <= l->left.sequence)
		return 0;
	index = index_of(l, sequence, &m.ns);
	if (index == l->fact_count)
		m.ns = forward(l, m.ns);
	if (l->blocked || l->uncharged)
		err = settle(l, index, &m, m.ns);
	else
		marks_drop(l, index);
	l->uncharged &= l->fact_count > 0;
	l->left = (struct park_left){.held = {.mode = HELD_BY_NOBODY},
				     .sequence = sequence,
				     .ns = m.ns,
				     .target = parked ? target : 0,
				     .awake = parked ? 0 : target,
				     .passed_to = l->left.passed_to};
	return err;
}

const struct held *park_lock_last(const struct park_lock *l, uint64_t *ret_ns)
{
	for (uint32_t i = l->fact_count; i > 0; i--) {
		const struct lock_fact *m = &l->facts[i - 1];

		if (m->kind == LOCK_FACT_WOKEN && m->outcome != OUTCOME_TAKEN)
			continue;
		*ret_ns = m->last_ns;
		return &m->held;
	}
	*ret_ns = l->left.ns;
	return &l->left.held;
}

int park_lock_gap(struct park_lock *l, uint64_t from_ns, uint64_t to_ns)
{
	static const struct hold unknown = {.holder = HOLDER_UNKNOWN};
	int err = 0;

	if (l->blocked || l->uncharged)
		err = settle(l, l->fact_count, NULL, forward(l, from_ns));
	forward(l, to_ns);
	for (int i = 0; i < 2 && !err; i++) {
		if (l->lines[i])
			err = timeline_extend(l->lines[i], l->now_ns, &unknown);
	}
	l->charged_ns = l->now_ns;
	l->fact_count = 0;
	l->left = (struct park_left){.sequence = l->left.sequence, .ns = l->now_ns};
	return err;
}

int park_lock_finish(struct park_lock *l, uint64_t end_ns)
{
	forward(l, end_ns);
	return l->blocked || l->uncharged ? settle(l, l->fact_count, NULL, l->now_ns) : 0;
}
