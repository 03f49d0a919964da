/*
 * unpark() is all that HotSpot sees of a lock of java.util.concurrent, and it does not say which
 * lock it is, nor why. The frames under it do, as their methods are each about one thing. This is
 * AbstractQueuedSynchronizer (with its copy for long) and StampedLock of JDK 17:
 *
 * - release() and releaseShared() wake the first in the queue. With locks these are the only ways
 * to set one free; await() goes through release(), too.
 * - acquire() by signalNextIfShared(): a reader has got the lock and wakes the reader behind it. So
 * does StampedLock.acquireRead() with all readers that wait together with it.
 * - cleanQueue(), called by a thread that gives up, in cancelAcquire(), or by one that notices that
 * another has: the one behind it has become the first and must see for itself. enqueue(): a
 * signalled thread queues behind such a one.
 *
 * The innermost of these frames tells. A frame of any other class before one of them means that the
 * unpark is no lock's. Compiled code does not matter: inlined frames are in the chain.
 */
#include "analyze/park/park_chain.h"

#include <stdlib.h>
#include <string.h>

#include "log/format/event.h"
#include "log/read/names.h"

#define LOCKS "java.util.concurrent.locks."
#define FRAMES_MAX 16 /* there are fewer between unpark and the method of the lock */

struct clue {
	const char *method;
	enum unpark_reason unpark;
	enum park_mode mode;
};

static const struct clue aqs_clues[] = {
	{"signalNextIfShared", UNPARK_PASS_ON, PARK_MODE_NOT_KNOWN},
	{"cleanQueue", UNPARK_REPAIR, PARK_MODE_NOT_KNOWN},
	{"cancelAcquire", UNPARK_GIVE_UP, PARK_MODE_NOT_KNOWN},
	{"enqueue", UNPARK_REPAIR, PARK_MODE_NOT_KNOWN},
	{"release", UNPARK_RELEASE, PARK_MODE_NOT_KNOWN},
	{"releaseShared", UNPARK_RELEASE_SHARED, PARK_MODE_NOT_KNOWN},
	{"acquireShared", UNPARK_NOT_KNOWN, PARK_SHARED},
	{"acquireSharedInterruptibly", UNPARK_NOT_KNOWN, PARK_SHARED},
	{"tryAcquireSharedNanos", UNPARK_NOT_KNOWN, PARK_SHARED},
	{"acquireInterruptibly", UNPARK_NOT_KNOWN, PARK_EXCLUSIVE},
	{"tryAcquireNanos", UNPARK_NOT_KNOWN, PARK_EXCLUSIVE},
};

static const struct clue stamped_clues[] = {
	{"cleanQueue", UNPARK_REPAIR, PARK_MODE_NOT_KNOWN},
	{"cancelAcquire", UNPARK_GIVE_UP, PARK_MODE_NOT_KNOWN},
	{"acquireRead", UNPARK_PASS_ON, PARK_SHARED},
	{"acquireWrite", UNPARK_NOT_KNOWN, PARK_EXCLUSIVE},
	{"releaseWrite", UNPARK_RELEASE, PARK_MODE_NOT_KNOWN},
	{"tryConvertToReadLock", UNPARK_RELEASE, PARK_MODE_NOT_KNOWN},
	{"unlockRead", UNPARK_RELEASE_SHARED, PARK_MODE_NOT_KNOWN},
	{"tryUnlockRead", UNPARK_RELEASE_SHARED, PARK_MODE_NOT_KNOWN},
	{"unstampedUnlockRead", UNPARK_RELEASE_SHARED, PARK_MODE_NOT_KNOWN},
	{"tryConvertToOptimisticRead", UNPARK_RELEASE_SHARED, PARK_MODE_NOT_KNOWN},
};

enum code { CODE_PARKING, CODE_AQS, CODE_CONDITION, CODE_STAMPED, CODE_OTHER };

static enum code code_of(const char *class)
{
	static const struct {
		const char *class;
		enum code code;
	} classes[] = {
		{"jdk.internal.misc.Unsafe", CODE_PARKING},
		{LOCKS "LockSupport", CODE_PARKING},
		{"java.util.concurrent.ForkJoinPool", CODE_PARKING}, /* managedBlock, of await */
		{LOCKS "AbstractQueuedSynchronizer", CODE_AQS},
		{LOCKS "AbstractQueuedLongSynchronizer", CODE_AQS},
		{LOCKS "AbstractQueuedSynchronizer$ConditionNode", CODE_PARKING},
		{LOCKS "AbstractQueuedLongSynchronizer$ConditionNode", CODE_PARKING},
		{LOCKS "AbstractQueuedSynchronizer$ConditionObject", CODE_CONDITION},
		{LOCKS "AbstractQueuedLongSynchronizer$ConditionObject", CODE_CONDITION},
		{LOCKS "StampedLock", CODE_STAMPED},
	};

	for (unsigned i = 0; i < sizeof(classes) / sizeof(*classes); i++) {
		if (!strcmp(class, classes[i].class))
			return classes[i].code;
	}
	return CODE_OTHER;
}

static void clue_take(const struct clue *clues, unsigned count, const char *method,
		      struct park_chain *ret)
{
	for (unsigned i = 0; i < count; i++) {
		if (strcmp(method, clues[i].method))
			continue;
		if (!ret->unpark ||
		    (ret->unpark == UNPARK_REPAIR && clues[i].unpark == UNPARK_GIVE_UP))
			ret->unpark = clues[i].unpark;
		if (!ret->mode)
			ret->mode = clues[i].mode;
	}
}

/* false: the frames behind this one have nothing more to say. */
static bool frame_take(const struct log_method *m, bool *acquire, struct park_chain *ret)
{
	enum code code = code_of(m->class_name);

	if (code == CODE_AQS) {
		clue_take(aqs_clues, sizeof(aqs_clues) / sizeof(*aqs_clues), m->name, ret);
		*acquire |= !strcmp(m->name, "acquire");
	} else if (code == CODE_STAMPED) {
		clue_take(stamped_clues, sizeof(stamped_clues) / sizeof(*stamped_clues), m->name,
			  ret);
	} else if (code == CODE_CONDITION) {
		ret->awaits |= !strncmp(m->name, "await", 5);
	} else if (code == CODE_OTHER) {
		if (!ret->unpark)
			ret->unpark = UNPARK_OTHER;
		return false;
	}
	return true;
}

/* Shared acquisition goes through a method that says so; what only says acquire is exclusive. */
static struct park_chain read_chain(const struct log_names *names, uint64_t stack, bool *ret_known)
{
	struct park_chain chain = {0};
	bool acquire = false;

	*ret_known = false;
	for (int i = 0; i < FRAMES_MAX && stack; i++) {
		const struct log_stack *frame = log_names_stack(names, stack);
		const struct log_method *m = frame ? log_names_method(names, frame->method) : NULL;

		if (!m) {
			*ret_known = frame && !frame->method;
			return chain;
		}
		if (!frame_take(m, &acquire, &chain))
			break;
		stack = frame->caller;
	}
	if (acquire && !chain.mode)
		chain.mode = PARK_EXCLUSIVE;
	*ret_known = true;
	return chain;
}

bool park_chains_read_ready(const struct park_chains *c, uint64_t stack)
{
	bool known;

	if (!stack || !c->names)
		return true;
	read_chain(c->names, stack, &known);
	return known;
}

/* A new one. */
int park_chains_read(struct park_chains *c, uint64_t stack, struct park_chain *ret)
{
	struct place_key key = {.a = stack};
	struct park_chain chain = {0};
	uint32_t place;
	bool known;
	int err;

	if (!stack || !c->names) {
		*ret = chain;
		return 0;
	}
	/* What is not known by now is not waited for again. */
	chain = read_chain(c->names, stack, &known);
	err = places_add_row(&c->places, key, &c->rows, &c->capacity, sizeof(*c->rows), &place);
	if (err)
		return err;
	c->rows[place] = chain;
	*ret = chain;
	return 0;
}

void park_chains_free(struct park_chains *c)
{
	places_free(&c->places);
	free(c->rows);
	*c = (struct park_chains){.names = c->names};
}
