/*
 * The ring of object events, beside the ring of all others. A JVM that was started with
 * -XX:+SpoorTraceObjects has a ring from its begin. Another patched one makes one when this process
 * asks for it: recorder_objects_open() raises the switch, and waits for the ring, which the JVM
 * makes before it stops its threads. Then there must be somebody who empties the ring, for the heap
 * is written into it while they stand: recorder_objects_on() does that once there is a log.
 */
#include "record/session/recorder_internal.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/text/units.h"
#include "jvm-hooks/graph.h"
#include "record/objects/object_drain.h"
#include "record/objects/object_ring.h"

#define PASSES 8       /* in a turn; a ring of 32 MB is 16 of them */
#define ANSWER_MS 5000 /* the JVM looks each 50 ms */
#define WALK_MS 120000 /* the JVM gives up when nothing is taken from the ring for a second */
#define OFF_MS 5000
#define TURN_NS 500000

static void turn_wait(void)
{
	struct timespec t = {.tv_nsec = TURN_NS};

	nanosleep(&t, NULL);
}

static bool waited(const struct recorder *r, uint64_t until)
{
	return clock_mono_ns() > until || !jvm_alive(r->j);
}

static const char *open_text(int err)
{
	switch (err) {
	case -ENOENT:
		return "this JVM has no object events: a patched one has them (make jvm)";
	case -EBUSY:
		return "another recorder reads the object events of this JVM";
	case -EPROTO:
		return "the ring of this JVM's object events is not one that this spoor knows";
	case -EOPNOTSUPP:
		return "this kernel has no perf events on uprobes (Linux 4.20), by which the "
		       "object events of a JVM are switched on; start it with "
		       "-XX:+UnlockDiagnosticVMOptions -XX:+SpoorTraceObjects";
	case -ETIMEDOUT:
		return "the JVM did not switch its object events on in time; is it stopped, or has "
		       "it not come up yet?";
	default:
		return NULL;
	}
}

static int fail_open(char why[RECORDER_WHY_MAX], int err)
{
	const char *text = open_text(err);

	if (text)
		return recorder_fail(why, err, "--objects: %s", text);
	return recorder_fail(why, err, "--objects: the ring of object events cannot be opened: %s",
			     strerror(-err));
}

/* Of a recorder that is gone the JVM takes the ring away; -EBUSY: one that is not gone. */
static int others_ring_wait(struct recorder *r, pid_t pid)
{
	uint64_t until = clock_mono_ns() + ANSWER_MS * NS_PER_MS;
	int err;

	for (;;) {
		err = object_ring_open(pid, &r->objects_ring);
		if (err ? err != -EBUSY && err != -EAGAIN : !r->objects_ring.switched)
			return err;
		if (!err)
			object_ring_close(&r->objects_ring);
		if (waited(r, until))
			return -EBUSY;
		turn_wait();
	}
}

static int own_ring_wait(struct recorder *r, pid_t pid, bool exact)
{
	uint64_t until = clock_mono_ns() + ANSWER_MS * NS_PER_MS;
	int err = object_switch_raise(r->j, exact, &r->objects_switch);

	while (!err) {
		err = object_ring_open(pid, &r->objects_ring);
		if (err != -ENOENT && err != -EAGAIN)
			break;
		err = waited(r, r->starting_until > until ? r->starting_until : until) ? -ETIMEDOUT
										       : 0;
		turn_wait();
	}
	if (err || !r->objects_ring.switched)
		object_switch_lower(&r->objects_switch);
	return err;
}

/* Of a ring that goes on without this recorder, nobody would empty it for the pointers. */
void recorder_objects_ask(struct recorder *r, uint32_t pointers)
{
	__atomic_store_n(&object_ring_head(&r->objects_ring)->pointers, pointers, __ATOMIC_RELEASE);
}

int recorder_objects_open(struct recorder *r, const struct recorder_options *o,
			  char why[RECORDER_WHY_MAX])
{
	int err = others_ring_wait(r, o->pid);

	r->objects_exact = o->objects_exact;
	if (err == -ENOENT)
		err = own_ring_wait(r, o->pid, o->objects_exact);
	if (err)
		return fail_open(why, err);
	if (!recorder_wants_pointers(o))
		return 0;
	if (object_ring_head(&r->objects_ring)->pointers_can != 1)
		return recorder_fail(
			why, -ENOTSUP,
			"--objects-pointers: this JVM has no pointers; make jvm builds "
			"one that has them");
	r->objects_pointers = o->pointers_full        ? SPOOR_POINTERS_FULL
			      : o->pointers_triggered ? SPOOR_POINTERS_ASKED
						      : o->pointers_every;
	recorder_objects_ask(r, r->objects_pointers);
	return 0;
}

int recorder_objects_begin(struct recorder *r)
{
	return r->objects_ring.memory ? object_drain_new(&r->objects_ring, r->w, &r->objects) : 0;
}

int recorder_objects_on(struct recorder *r, char why[RECORDER_WHY_MAX])
{
	uint64_t until = clock_mono_ns() + WALK_MS * NS_PER_MS, refused = 0;
	const struct spoor_objects_head *h;

	if (!r->objects || !r->objects_ring.switched)
		return 0;
	h = object_ring_head(&r->objects_ring);
	while (!__atomic_load_n(&h->on_ns, __ATOMIC_ACQUIRE)) {
		refused = __atomic_load_n(&h->refused, __ATOMIC_ACQUIRE);
		if (refused || waited(r, until))
			break;
		if (!recorder_objects_pass(r))
			turn_wait();
	}
	refused = __atomic_load_n(&h->refused, __ATOMIC_ACQUIRE);
	if (refused == SPOOR_REFUSED_VM)
		return recorder_fail(why, -ENOTSUP,
				     "--objects: this JVM's options leave no room for object "
				     "events: they need Serial, Parallel or G1, UseTLAB without "
				     "ZeroTLAB, and UseCompressedClassPointers");
	if (refused)
		return recorder_fail(why, -EAGAIN,
				     "--objects: the JVM has given up, as its heap could not be "
				     "written as fast as it was walked: a larger "
				     "-XX:SpoorObjectsRing helps");
	return __atomic_load_n(&h->on_ns, __ATOMIC_ACQUIRE) ? 0 : fail_open(why, -ETIMEDOUT);
}

bool recorder_objects_pass(struct recorder *r)
{
	bool more = r->objects && r->objects_ring.memory;

	for (int i = 0; i < PASSES && more; i++)
		more = object_drain_pass(r->objects, clock_mono_ns());
	return more;
}

int recorder_objects_error(const struct recorder *r)
{
	return r->objects ? object_drain_error(r->objects) : 0;
}

/* Lowers the switch, and takes what the JVM's threads still have. */
static void switch_off(struct recorder *r)
{
	const struct spoor_objects_head *h = object_ring_head(&r->objects_ring);
	uint64_t until = clock_mono_ns() + OFF_MS * NS_PER_MS;

	object_switch_lower(&r->objects_switch);
	while (!object_ring_is_off(&r->objects_ring) &&
	       !__atomic_load_n(&h->refused, __ATOMIC_ACQUIRE) && !waited(r, until))
		if (!recorder_objects_pass(r))
			turn_wait();
}

void recorder_objects_end(struct recorder *r, enum recorder_end end)
{
	bool gone = end == RECORDER_JVM_EXITED || end == RECORDER_JVM_KILLED;

	object_switch_lower(&r->objects_switch);
	if (!r->objects || !r->objects_ring.memory)
		return;
	recorder_objects_ask(r, 0);
	if (!gone && r->objects_ring.switched)
		switch_off(r);
	object_drain_finish(r->objects, gone, clock_mono_ns());
}

void recorder_objects_stats(const struct recorder *r, struct recorder_stats *ret)
{
	struct object_drain_stats s;

	ret->objects = r->objects != NULL;
	if (!r->objects)
		return;
	object_drain_stats(r->objects, &s);
	ret->object_graphs = s.graphs;
	ret->object_graph_ns = s.graph_ns;
	ret->object_graphs_lost = s.graphs_lost != 0;
	ret->object_bytes = s.word_bytes;
	ret->object_lost_bytes = s.lost_bytes;
	ret->object_refused = s.refused;
	ret->object_moves_lost = s.collector_gaps != 0;
	ret->objects_incomplete =
		s.collector_gaps != r->resync.gaps || r->resync.state != RESYNC_NONE;
	ret->objects_again = r->resync.times;
	ret->objects_again_ns = r->resync.stood_ns;
	ret->object_wait_ns = s.wait_ns;
	ret->objects_found = s.found;
	ret->objects_pause_ns = s.pause_ns;
}

void recorder_objects_discard(struct recorder *r)
{
	object_switch_free(&r->objects_switch);
	object_drain_free(r->objects);
	r->objects = NULL;
	object_ring_close(&r->objects_ring);
}
