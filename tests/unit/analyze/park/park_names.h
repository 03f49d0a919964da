/* tests/unit/analyze/park_names.h: classes, locks and call chains as java.util.concurrent of JDK 17 has
 * them, for tests of what parked threads wait for. */
#pragma once

#include <string.h>

#include "log/read/names.h"

/* Locks 1 to 99: what their number stands for is said by the test; chains: see chain_number. */
enum chain_kind {
	CHAIN_NONE,
	CHAIN_LOCK, /* parks */
	CHAIN_READ,
	CHAIN_WRITE,
	CHAIN_AWAIT,
	CHAIN_AWAIT_BACK, /* parks on the lock, behind the wait */
	CHAIN_STAMPED_READ,
	CHAIN_STAMPED_WRITE,
	CHAIN_ACQUIRE_SHARED, /* of a semaphore or a latch */
	CHAIN_UNLOCK,         /* unparks */
	CHAIN_READ_UNLOCK,
	CHAIN_PASS_ON,
	CHAIN_CANCEL,
	CHAIN_SIGNAL,
	CHAIN_AWAIT_UNLOCK,
	CHAIN_STAMPED_UNLOCK,
	CHAIN_STAMPED_READ_UNLOCK,
	CHAIN_STAMPED_PASS_ON,
	CHAIN_STAMPED_CANCEL,
	CHAIN_FUTURE,
	CHAIN_BROKEN, /* the walk went wrong in the middle of the lock's code */
	CHAIN_KIND_COUNT,
};

#define CHAIN_METHODS 2 /* methods of the program that use locks */
#define PARK_LOCKS "java.util.concurrent.locks."
#define AQS PARK_LOCKS "AbstractQueuedSynchronizer"

/* The chain of this kind in a method of the program, from 0. */
static inline uint64_t chain_number(enum chain_kind kind, unsigned method)
{
	return kind ? 1000 * (kind + 1ull) + 100 * method + 99 : 0;
}

struct frame_text {
	const char *class, *method;
};

#define FRAME_PARK                                                                                 \
	{"jdk.internal.misc.Unsafe", "park"},                                                      \
	{                                                                                          \
		PARK_LOCKS "LockSupport", "park"                                                   \
	}
#define FRAME_UNPARK                                                                               \
	{"jdk.internal.misc.Unsafe", "unpark"},                                                    \
	{                                                                                          \
		PARK_LOCKS "LockSupport", "unpark"                                                 \
	}
#define CHAIN_FRAMES 8

static const struct frame_text chain_frames[CHAIN_KIND_COUNT][CHAIN_FRAMES] = {
	[CHAIN_LOCK] = {FRAME_PARK,
			{AQS, "acquire"},
			{AQS, "acquire"},
			{PARK_LOCKS "ReentrantLock$Sync", "lock"}},
	[CHAIN_READ] = {FRAME_PARK,
			{AQS, "acquire"},
			{AQS, "acquireShared"},
			{PARK_LOCKS "ReentrantReadWriteLock$ReadLock", "lock"}},
	[CHAIN_WRITE] = {FRAME_PARK,
			 {AQS, "acquire"},
			 {AQS, "acquireInterruptibly"},
			 {PARK_LOCKS "ReentrantReadWriteLock$WriteLock", "lockInterruptibly"}},
	[CHAIN_AWAIT] = {FRAME_PARK,
			 {AQS "$ConditionNode", "block"},
			 {"java.util.concurrent.ForkJoinPool", "managedBlock"},
			 {AQS "$ConditionObject", "await"}},
	[CHAIN_AWAIT_BACK] = {FRAME_PARK, {AQS, "acquire"}, {AQS "$ConditionObject", "await"}},
	[CHAIN_STAMPED_READ] = {FRAME_PARK,
				{PARK_LOCKS "StampedLock", "acquireRead"},
				{PARK_LOCKS "StampedLock", "readLock"}},
	[CHAIN_STAMPED_WRITE] = {FRAME_PARK,
				 {PARK_LOCKS "StampedLock", "acquireWrite"},
				 {PARK_LOCKS "StampedLock", "writeLock"}},
	[CHAIN_ACQUIRE_SHARED] = {FRAME_PARK,
				  {AQS, "acquire"},
				  {AQS, "acquireSharedInterruptibly"},
				  {"java.util.concurrent.Semaphore", "acquire"}},
	[CHAIN_UNLOCK] = {FRAME_UNPARK,
			  {AQS, "signalNext"},
			  {AQS, "release"},
			  {PARK_LOCKS "ReentrantLock", "unlock"}},
	[CHAIN_READ_UNLOCK] = {FRAME_UNPARK,
			       {AQS, "signalNext"},
			       {AQS, "releaseShared"},
			       {PARK_LOCKS "ReentrantReadWriteLock$ReadLock", "unlock"}},
	[CHAIN_PASS_ON] = {FRAME_UNPARK,
			   {AQS, "signalNextIfShared"},
			   {AQS, "acquire"},
			   {AQS, "acquireShared"}},
	[CHAIN_CANCEL] = {FRAME_UNPARK,
			  {AQS, "signalNext"},
			  {AQS, "cleanQueue"},
			  {AQS, "cancelAcquire"},
			  {AQS, "acquire"}},
	[CHAIN_SIGNAL] = {FRAME_UNPARK, {AQS, "enqueue"}, {AQS "$ConditionObject", "doSignal"}},
	[CHAIN_AWAIT_UNLOCK] = {FRAME_UNPARK,
				{AQS, "signalNext"},
				{AQS, "release"},
				{AQS "$ConditionObject", "enableWait"},
				{AQS "$ConditionObject", "await"}},
	[CHAIN_STAMPED_UNLOCK] = {FRAME_UNPARK,
				  {PARK_LOCKS "StampedLock", "signalNext"},
				  {PARK_LOCKS "StampedLock", "releaseWrite"},
				  {PARK_LOCKS "StampedLock", "unlockWrite"}},
	[CHAIN_STAMPED_READ_UNLOCK] = {FRAME_UNPARK,
				       {PARK_LOCKS "StampedLock", "signalNext"},
				       {PARK_LOCKS "StampedLock", "unlockRead"}},
	[CHAIN_STAMPED_PASS_ON] = {FRAME_UNPARK,
				   {PARK_LOCKS "StampedLock", "signalCowaiters"},
				   {PARK_LOCKS "StampedLock", "acquireRead"}},
	[CHAIN_STAMPED_CANCEL] = {FRAME_UNPARK,
				  {PARK_LOCKS "StampedLock", "signalCowaiters"},
				  {PARK_LOCKS "StampedLock", "cancelAcquire"},
				  {PARK_LOCKS "StampedLock", "acquireRead"}},
	[CHAIN_FUTURE] = {FRAME_UNPARK, {"java.util.concurrent.FutureTask", "finishCompletion"}},
	[CHAIN_BROKEN] = {FRAME_UNPARK, {AQS, "signalNext"}, {NULL, "broken"}},
};

static inline int names_method(struct log_names *n, uint64_t id, const struct frame_text *f)
{
	struct event e = {.id = EVENT_METHOD, .field_count = METHOD_FIELD_COUNT};

	e.v[METHOD_METHOD].u = id;
	e.v[METHOD_CLASS_NAME].s = f->class;
	e.v[METHOD_NAME].s = f->method;
	e.v[METHOD_SIGNATURE].s = "()V";
	e.v[METHOD_SOURCE].s = "";
	return log_names_add(n, &e);
}

static inline int names_frame(struct log_names *n, uint64_t id, uint64_t caller, uint64_t method)
{
	struct event e = {.id = EVENT_STACK, .field_count = STACK_FIELD_COUNT};

	e.v[STACK_STACK].u = id;
	e.v[STACK_CALLER].u = caller;
	e.v[STACK_FRAME].u = method ? FRAME_TYPE_C2 : FRAME_TYPE_BROKEN;
	e.v[STACK_METHOD].u = method;
	return log_names_add(n, &e);
}

/* Numbers of the frames of a chain: its own and the next lower ones. */
static inline int names_chain(struct log_names *n, enum chain_kind kind, unsigned method)
{
	static const struct frame_text user[CHAIN_METHODS] = {{"demo.Table", "add"},
							      {"demo.Table", "find"}};
	const struct frame_text *frames = chain_frames[kind];
	uint64_t number = chain_number(kind, method), id;
	unsigned count = 0;
	int err = 0;

	while (count < CHAIN_FRAMES && frames[count].method)
		count++;
	id = number - count;
	err = names_method(n, id, &user[method]);
	if (!err)
		err = names_frame(n, id, 0, id);
	for (unsigned i = count; i > 0 && !err; i--) {
		const struct frame_text *f = &frames[i - 1];

		id++;
		if (f->class)
			err = names_method(n, id, f);
		if (!err)
			err = names_frame(n, id, id - 1, f->class ? id : 0);
	}
	return err;
}

static inline int names_lock(struct log_names *n, uint64_t lock, const char *class)
{
	struct event e = {.id = EVENT_CLASS, .field_count = CLASS_FIELD_COUNT};
	struct event l = {.id = EVENT_LOCK, .field_count = LOCK_FIELD_COUNT};
	int err;

	e.v[CLASS_CLASS].u = lock;
	e.v[CLASS_NAME].s = class;
	err = log_names_add(n, &e);
	l.v[LOCK_LOCK].u = lock;
	l.v[LOCK_CLASS].u = lock;
	return err ? err : log_names_add(n, &l);
}

static inline int names_chains(struct log_names *n)
{
	int err = 0;

	for (enum chain_kind kind = CHAIN_NONE + 1; kind < CHAIN_KIND_COUNT; kind++) {
		for (unsigned method = 0; method < CHAIN_METHODS && !err; method++)
			err = names_chain(n, kind, method);
	}
	return err;
}
