/* The ring of object events, beside the ring of all others. */
#include "record/session/recorder_internal.h"

#include <errno.h>
#include <string.h>

#include "base/text/units.h"
#include "record/objects/object_drain.h"
#include "record/objects/object_ring.h"

#define PASSES 8 /* in a turn; a ring of 32 MB is 16 of them */

int recorder_objects_open(struct recorder *r, pid_t pid, char why[RECORDER_WHY_MAX])
{
	int err = object_ring_open(pid, &r->objects_ring);

	if (!err)
		return 0;
	if (err == -ENOENT)
		return recorder_fail(
			why, err,
			"--objects: this JVM has no object events: a patched one (make jvm) has "
			"them if it is started with -XX:+UnlockDiagnosticVMOptions "
			"-XX:+SpoorTraceObjects");
	if (err == -EPROTO)
		return recorder_fail(why, err,
				     "--objects: the ring of this JVM's object events is "
				     "not one that this spoor knows");
	return recorder_fail(why, err, "--objects: the ring of object events cannot be opened: %s",
			     strerror(-err));
}

int recorder_objects_begin(struct recorder *r)
{
	return r->objects_ring.memory ? object_drain_new(&r->objects_ring, r->w, &r->objects) : 0;
}

bool recorder_objects_pass(struct recorder *r)
{
	bool more = r->objects != NULL;

	for (int i = 0; i < PASSES && more; i++)
		more = object_drain_pass(r->objects, clock_mono_ns());
	return more;
}

int recorder_objects_error(const struct recorder *r)
{
	return r->objects ? object_drain_error(r->objects) : 0;
}

void recorder_objects_end(struct recorder *r, enum recorder_end end)
{
	if (r->objects)
		object_drain_finish(r->objects,
				    end == RECORDER_JVM_EXITED || end == RECORDER_JVM_KILLED,
				    clock_mono_ns());
}

void recorder_objects_stats(const struct recorder *r, struct recorder_stats *ret)
{
	struct object_drain_stats s;

	ret->objects = r->objects != NULL;
	if (!r->objects)
		return;
	object_drain_stats(r->objects, &s);
	ret->object_bytes = s.word_bytes;
	ret->object_lost_bytes = s.lost_bytes;
	ret->object_refused = s.refused;
	ret->object_wait_ns = s.wait_ns;
}

void recorder_objects_discard(struct recorder *r)
{
	object_drain_free(r->objects);
	r->objects = NULL;
	object_ring_close(&r->objects_ring);
}
