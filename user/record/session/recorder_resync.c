/*
 * Moves that were lost leave a heap that nothing mends but a new begin (object_losses.c): object
 * events are switched off, and on again, and the JVM writes all of its heap. Everything else is
 * recorded meanwhile: each turn of the recorder's loop looks once whether the JVM has done the next
 * step, and waits for none.
 *
 * The JVM's threads stand while the heap is walked, and its code is compiled anew after that. So a
 * loss is answered at once only if there has been none for a while, and after pauses that double: a
 * machine on which the recorder is always late shall not walk its heap all the time.
 */
#include "record/session/recorder_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text/units.h"
#include "record/objects/object_drain.h"
#include "record/objects/object_ring.h"
#include "record/session/notes.h"

#define PAUSE_NS (10 * NS_PER_S)
#define PAUSE_MAX_NS (640 * NS_PER_S)
#define LOOK_NS (10 * NS_PER_MS) /* a look goes through all descriptors of the JVM */
#define LOOK_MAX_NS NS_PER_S

static void note(struct recorder *r, uint64_t level, const char *text)
{
	notes_write(r->w, level, text);
}

static void rest_after(struct objects_resync *s, uint64_t now)
{
	s->next_ns = now + s->pause_ns;
	s->pause_ns = s->pause_ns < PAUSE_MAX_NS / 2 ? 2 * s->pause_ns : PAUSE_MAX_NS;
}

static void give_up(struct recorder *r, const char *why)
{
	char text[256];

	object_switch_lower(&r->objects_switch);
	object_ring_close(&r->objects_ring);
	r->resync.state = RESYNC_AWAY;
	rest_after(&r->resync, clock_mono_ns());
	snprintf(text, sizeof(text),
		 "object events could not be switched on again: %s; it is tried again later", why);
	note(r, NOTE_LEVEL_WARNING, text);
}

static void raise_switch(struct recorder *r, uint64_t now)
{
	struct objects_resync *s = &r->resync;
	int err = object_switch_raise(r->j, r->objects_exact, &r->objects_switch);

	if (err) {
		give_up(r, strerror(-err));
		return;
	}
	s->state = RESYNC_RING;
	s->look_ns = now;
	s->look_pause_ns = LOOK_NS;
}

static void look_for_loss(struct recorder *r, uint64_t now)
{
	struct objects_resync *s = &r->resync;
	struct object_drain_stats stats;

	if (!r->objects_ring.switched || now < s->next_ns)
		return;
	object_drain_stats(r->objects, &stats);
	if (stats.collector_gaps == s->gaps)
		return;
	note(r, NOTE_LEVEL_WARNING,
	     "object events: moves of collections were lost; the heap is incomplete from there "
	     "until the events have been switched off and on again, which begins now");
	object_switch_lower(&r->objects_switch);
	s->state = RESYNC_OFF;
}

/* more: the ring has not been emptied yet. */
static void look_for_off(struct recorder *r, bool more, uint64_t now)
{
	struct object_drain_stats stats;

	if (more || !object_ring_is_off(&r->objects_ring))
		return;
	object_drain_finish(r->objects, false, now);
	object_drain_stats(r->objects, &stats);
	r->resync.gaps = stats.collector_gaps;
	object_ring_close(&r->objects_ring);
	raise_switch(r, now);
}

static bool is_refused(const struct object_ring *ring)
{
	return __atomic_load_n(&object_ring_head(ring)->refused, __ATOMIC_ACQUIRE) != 0;
}

static void look_for_ring(struct recorder *r, uint64_t now)
{
	struct objects_resync *s = &r->resync;
	int err;

	if (now < s->look_ns)
		return;
	s->look_ns = now + s->look_pause_ns;
	if (s->look_pause_ns < LOOK_MAX_NS)
		s->look_pause_ns *= 2;
	err = object_ring_open(jvm_pid(r->j), &r->objects_ring);
	if (err == -ENOENT || err == -EAGAIN)
		return;
	if (err) {
		give_up(r, err == -EBUSY ? "another recorder reads them" : strerror(-err));
		return;
	}
	/* The JVM may not have taken the one before away yet. */
	if (!r->objects_ring.switched || object_ring_is_off(&r->objects_ring) ||
	    is_refused(&r->objects_ring)) {
		object_ring_close(&r->objects_ring);
		return;
	}
	if (object_drain_again(r->objects, &r->objects_ring))
		return; /* recorder_objects_error() */
	recorder_objects_ask(r, r->objects_pointers);
	s->state = RESYNC_WALK;
}

static void on_again(struct recorder *r, uint64_t now)
{
	const struct spoor_objects_head *h = object_ring_head(&r->objects_ring);
	struct objects_resync *s = &r->resync;
	uint64_t pause_ns = __atomic_load_n(&h->pause_ns, __ATOMIC_RELAXED);
	char took[UNITS_TEXT_MAX], text[256];

	s->state = RESYNC_NONE;
	s->times++;
	s->stood_ns += pause_ns;
	rest_after(s, now);
	snprintf(text, sizeof(text),
		 "object events were switched on again in %s, which found %llu objects: the heap "
		 "is complete again",
		 duration_format(pause_ns, took),
		 (unsigned long long)__atomic_load_n(&h->found, __ATOMIC_RELAXED));
	note(r, NOTE_LEVEL_INFO, text);
}

static void look_for_on(struct recorder *r, uint64_t now)
{
	const struct spoor_objects_head *h = object_ring_head(&r->objects_ring);

	if (__atomic_load_n(&h->on_ns, __ATOMIC_ACQUIRE)) {
		on_again(r, now);
	} else if (is_refused(&r->objects_ring)) {
		object_drain_finish(r->objects, false, now);
		give_up(r, "the heap could not be written as fast as it was walked");
	}
}

void recorder_objects_resync(struct recorder *r, bool more)
{
	struct objects_resync *s = &r->resync;
	uint64_t now = clock_mono_ns();

	if (!r->objects || object_drain_error(r->objects))
		return;
	if (!s->pause_ns)
		s->pause_ns = PAUSE_NS;
	switch (s->state) {
	case RESYNC_NONE:
		look_for_loss(r, now);
		break;
	case RESYNC_OFF:
		look_for_off(r, more, now);
		break;
	case RESYNC_AWAY:
		if (now >= s->next_ns)
			raise_switch(r, now);
		break;
	case RESYNC_RING:
		look_for_ring(r, now);
		break;
	case RESYNC_WALK:
		look_for_on(r, now);
		break;
	}
}
