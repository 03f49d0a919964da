/*
 * unpark() is all that HotSpot sees of a lock of java.util.concurrent, and it does not say which
 * lock it is, nor why. The frames under it do, as their methods are each about one thing. This is
 * AbstractQueuedSynchronizer (with its copy for long) and StampedLock of JDK 17, of which the logs
 * with call chains are; a method that is renamed later gets a row beside the old one, and says
 * nothing until then:
 *
 * - release() and releaseShared() wake the first in the queue. With locks these are the only ways
 * to set one free; await() goes through release(), too.
 * - acquire() by signalNextIfShared(): a reader has got the lock and wakes the reader behind it. So
 * does StampedLock.acquireRead() with all readers that wait together with it.
 * - cleanQueue(), called by a thread that gives up, in cancelAcquire(), or by one that notices that
 * another has: the one after it has become the first and must see for itself. enqueue(): a
 * signalled thread queues after such a one.
 *
 * The innermost of these frames decides. A frame of any other class before one of them means that
 * the unpark is no lock's. Compiled code does not matter: inlined frames are in the chain.
 */
#include "analyze/park/juc_names.h"

#include <stddef.h>
#include <string.h>

#define LOCKS "java.util.concurrent.locks."

static const struct juc_clue aqs_clues[] = {
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

static const struct juc_clue stamped_clues[] = {
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

enum juc_code juc_code_of(const char *class)
{
	static const struct {
		const char *class;
		enum juc_code code;
	} classes[] = {
		{"jdk.internal.misc.Unsafe", JUC_PARKING},
		{LOCKS "LockSupport", JUC_PARKING},
		{"java.util.concurrent.ForkJoinPool", JUC_PARKING}, /* managedBlock, of await */
		/* Virtual threads that park, and unmount (JDK 21, 25). */
		{"jdk.internal.vm.Continuation", JUC_PARKING},
		{"java.lang.VirtualThread", JUC_PARKING},
		{"jdk.internal.misc.VirtualThreads", JUC_PARKING},
		{"java.lang.System$1", JUC_PARKING},
		{"java.lang.System$2", JUC_PARKING},
		{LOCKS "AbstractQueuedSynchronizer", JUC_AQS},
		{LOCKS "AbstractQueuedLongSynchronizer", JUC_AQS},
		{LOCKS "AbstractQueuedSynchronizer$ConditionNode", JUC_PARKING},
		{LOCKS "AbstractQueuedLongSynchronizer$ConditionNode", JUC_PARKING},
		{LOCKS "AbstractQueuedSynchronizer$ConditionObject", JUC_CONDITION},
		{LOCKS "AbstractQueuedLongSynchronizer$ConditionObject", JUC_CONDITION},
		{LOCKS "StampedLock", JUC_STAMPED},
	};

	for (unsigned i = 0; i < sizeof(classes) / sizeof(*classes); i++) {
		if (!strcmp(class, classes[i].class))
			return classes[i].code;
	}
	return JUC_OTHER;
}

static const struct juc_clue *clue_in(const struct juc_clue *clues, size_t count,
				      const char *method)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(method, clues[i].method))
			return &clues[i];
	return NULL;
}

const struct juc_clue *juc_clue_find(enum juc_code code, const char *method)
{
	if (code == JUC_AQS)
		return clue_in(aqs_clues, sizeof(aqs_clues) / sizeof(*aqs_clues), method);
	if (code == JUC_STAMPED)
		return clue_in(stamped_clues, sizeof(stamped_clues) / sizeof(*stamped_clues),
			       method);
	return NULL;
}
