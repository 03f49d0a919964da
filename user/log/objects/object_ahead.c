/*
 * As in read_ahead.c: the slots are a ring, of which [oldest, next) are being decompressed or done,
 * and [next, end) wait for somebody. Who reads takes the oldest one, too, if nobody else has.
 */
#include "log/objects/object_ahead.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/tables/array.h"
#include "log/format/codec.h"

#define SLOTS_PER_JOB 4

struct object_ahead {
	pthread_mutex_t lock;
	pthread_cond_t work, done;
	bool stop;
	unsigned wanted, thread_count;
	pthread_t threads[OBJECT_AHEAD_JOBS_MAX];
	size_t oldest, next, end; /* counts; a slot's index is the count modulo their number */
	size_t slot_count;
	struct object_ahead_slot *slots;
	size_t bytes; /* of the blocks in [oldest, end); only who reads looks at it */
};

int object_ahead_new(unsigned jobs, struct object_ahead **ret)
{
	struct object_ahead *a = calloc(1, sizeof(*a));

	if (!a)
		return -ENOMEM;
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->work, NULL);
	pthread_cond_init(&a->done, NULL);
	a->wanted = jobs > OBJECT_AHEAD_JOBS_MAX ? OBJECT_AHEAD_JOBS_MAX - 1 : jobs ? jobs - 1 : 0;
	a->slot_count = a->wanted ? SLOTS_PER_JOB * (a->wanted + 1) : 1;
	a->slots = calloc(a->slot_count, sizeof(*a->slots));
	if (!a->slots) {
		object_ahead_free(a);
		return -ENOMEM;
	}
	*ret = a;
	return 0;
}

static void stop_threads(struct object_ahead *a)
{
	pthread_mutex_lock(&a->lock);
	a->stop = true;
	pthread_cond_broadcast(&a->work);
	pthread_mutex_unlock(&a->lock);
	while (a->thread_count)
		pthread_join(a->threads[--a->thread_count], NULL);
}

void object_ahead_free(struct object_ahead *a)
{
	if (!a)
		return;
	stop_threads(a);
	for (size_t i = 0; a->slots && i < a->slot_count; i++) {
		object_body_free(&a->slots[i].body);
		free(a->slots[i].bytes);
	}
	free(a->slots);
	pthread_cond_destroy(&a->done);
	pthread_cond_destroy(&a->work);
	pthread_mutex_destroy(&a->lock);
	free(a);
}

static void *work(void *ctx)
{
	struct object_ahead *a = ctx;
	struct object_ahead_slot *s;

	pthread_mutex_lock(&a->lock);
	for (;;) {
		while (!a->stop && a->next == a->end)
			pthread_cond_wait(&a->work, &a->lock);
		if (a->stop)
			break;
		s = &a->slots[a->next++ % a->slot_count];
		pthread_mutex_unlock(&a->lock);
		s->err = object_body_open(&s->body, &s->block);
		pthread_mutex_lock(&a->lock);
		s->done = true;
		pthread_cond_signal(&a->done);
	}
	pthread_mutex_unlock(&a->lock);
	return NULL;
}

/* When there is more than one block. Signals are for the program's other threads. */
static void start_threads(struct object_ahead *a)
{
	sigset_t all, old;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	while (a->thread_count < a->wanted) {
		if (pthread_create(&a->threads[a->thread_count], NULL, work, a))
			break;
		a->thread_count++;
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	a->wanted = a->thread_count;
}

struct object_ahead_slot *object_ahead_room(struct object_ahead *a)
{
	if (a->end - a->oldest == a->slot_count || a->bytes >= OBJECT_AHEAD_BYTES)
		return NULL;
	return &a->slots[a->end % a->slot_count];
}

int object_ahead_put(struct object_ahead *a, const struct block *b)
{
	struct object_ahead_slot *s = &a->slots[a->end % a->slot_count];
	struct preamble p;

	s->block = *b;
	s->done = false;
	s->taken = b->length;
	if (!preamble_get(b->payload, b->length, &p))
		s->taken += p.raw_bytes;
	if (a->slot_count > 1) {
		if (bytes_reserve(&s->bytes, &s->capacity, b->length + 1ul))
			return -ENOMEM;
		memcpy(s->bytes, b->payload, b->length);
		s->block.payload = s->bytes;
	}
	a->bytes += s->taken;
	if (a->end == 1 && a->wanted > a->thread_count)
		start_threads(a);
	pthread_mutex_lock(&a->lock);
	a->end++;
	pthread_cond_signal(&a->work);
	pthread_mutex_unlock(&a->lock);
	return 0;
}

struct object_ahead_slot *object_ahead_oldest(struct object_ahead *a)
{
	struct object_ahead_slot *s = &a->slots[a->oldest % a->slot_count];

	if (a->oldest == a->end)
		return NULL;
	pthread_mutex_lock(&a->lock);
	if (a->next == a->oldest) {
		a->next++;
		pthread_mutex_unlock(&a->lock);
		s->err = object_body_open(&s->body, &s->block);
		s->done = true;
		return s;
	}
	while (!s->done)
		pthread_cond_wait(&a->done, &a->lock);
	pthread_mutex_unlock(&a->lock);
	return s;
}

void object_ahead_done(struct object_ahead *a)
{
	a->bytes -= a->slots[a->oldest % a->slot_count].taken;
	a->oldest++;
}
