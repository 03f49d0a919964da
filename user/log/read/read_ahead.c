/*
 * The slots are a ring: [oldest, next) are being decoded or done, [next, end) wait for somebody.
 * Threads take the next one; who reads takes it, too, when the oldest one is still waiting, so that
 * it does without any thread. Batches belong to who reads, who also gives them to the slots.
 */
#include "log/read/read_ahead.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/tables/array.h"

#define SLOTS_PER_JOB 2
#define KEPT_BYTES (1024 * 1024) /* blocks beyond this are rare: their memory is not kept */

struct read_ahead {
	pthread_mutex_t lock;
	pthread_cond_t work, done;
	bool stop;
	unsigned threads_max; /* threads that there should be */
	unsigned thread_count;
	pthread_t threads[AHEAD_JOBS_MAX];
	size_t oldest, next, end; /* counts; a slot's index is the count modulo their number */
	size_t slot_count;
	struct decode_slot *slots;
	size_t bytes; /* of the blocks in [oldest, end) */
	struct batch *batches;
};

int read_ahead_new(unsigned jobs, struct read_ahead **ret)
{
	struct read_ahead *a = calloc(1, sizeof(*a));

	if (!a)
		return -ENOMEM;
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->work, NULL);
	pthread_cond_init(&a->done, NULL);
	a->threads_max = jobs > AHEAD_JOBS_MAX ? AHEAD_JOBS_MAX - 1 : jobs ? jobs - 1 : 0;
	a->slot_count = a->threads_max ? SLOTS_PER_JOB * (a->threads_max + 1) : 1;
	a->slots = calloc(a->slot_count, sizeof(*a->slots));
	if (!a->slots) {
		read_ahead_free(a);
		return -ENOMEM;
	}
	*ret = a;
	return 0;
}

static void stop_threads(struct read_ahead *a)
{
	pthread_mutex_lock(&a->lock);
	a->stop = true;
	pthread_cond_broadcast(&a->work);
	pthread_mutex_unlock(&a->lock);
	while (a->thread_count)
		pthread_join(a->threads[--a->thread_count], NULL);
}

static void free_batch(struct batch *b)
{
	if (b)
		free(b->bytes);
	free(b);
}

void read_ahead_free(struct read_ahead *a)
{
	struct batch *b;
	size_t i;

	if (!a)
		return;
	stop_threads(a);
	for (i = 0; a->slots && i < a->slot_count; i++) {
		decoder_free(&a->slots[i].decoder);
		free(a->slots[i].bytes);
		free_batch(a->slots[i].batch);
	}
	while ((b = a->batches)) {
		a->batches = b->next;
		free_batch(b);
	}
	free(a->slots);
	pthread_cond_destroy(&a->done);
	pthread_cond_destroy(&a->work);
	pthread_mutex_destroy(&a->lock);
	free(a);
}

static void decode(struct decode_slot *s)
{
	s->err = decoder_begin(&s->decoder, &s->block);
	if (!s->err)
		s->err = decoder_next(&s->decoder, s->batch);
}

static void *work(void *ctx)
{
	struct read_ahead *a = ctx;
	struct decode_slot *s;

	pthread_mutex_lock(&a->lock);
	for (;;) {
		while (!a->stop && a->next == a->end)
			pthread_cond_wait(&a->work, &a->lock);
		if (a->stop)
			break;
		s = &a->slots[a->next++ % a->slot_count];
		pthread_mutex_unlock(&a->lock);
		decode(s);
		pthread_mutex_lock(&a->lock);
		s->done = true;
		pthread_cond_signal(&a->done);
	}
	pthread_mutex_unlock(&a->lock);
	return NULL;
}

/* When there is more than one block. Signals are for the program's other threads. */
static void start_threads(struct read_ahead *a)
{
	sigset_t all, old;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	while (a->thread_count < a->threads_max) {
		if (pthread_create(&a->threads[a->thread_count], NULL, work, a))
			break;
		a->thread_count++;
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	a->threads_max = a->thread_count;
}

struct decode_slot *read_ahead_room(struct read_ahead *a)
{
	if (a->end - a->oldest == a->slot_count || a->bytes > AHEAD_BYTES)
		return NULL;
	return &a->slots[a->end % a->slot_count];
}

static int give_batch(struct read_ahead *a, struct decode_slot *s)
{
	if (a->batches) {
		s->batch = a->batches;
		a->batches = s->batch->next;
	} else {
		s->batch = calloc(1, sizeof(*s->batch));
	}
	if (!s->batch)
		return -ENOMEM;
	s->batch->holds = 1;
	return 0;
}

/* Of one slot the block stays where the stream has it: nothing is read on before it is done. */
static int block_copy(struct decode_slot *s, const struct block *b)
{
	int err = bytes_reserve(&s->bytes, &s->capacity, b->length);

	if (err)
		return err;
	if (b->length)
		memcpy(s->bytes, b->payload, b->length);
	s->block.payload = s->bytes;
	return 0;
}

int read_ahead_put(struct read_ahead *a, struct decode_slot *s, const struct block *b)
{
	int err = give_batch(a, s);

	if (err)
		return err;
	s->block = *b;
	if (a->slot_count > 1)
		err = block_copy(s, b);
	if (err)
		return err;
	s->done = false;
	s->taken = (size_t)b->length + s->preamble.raw_bytes;
	a->bytes += s->taken;
	if (a->thread_count < a->threads_max && a->end > a->oldest)
		start_threads(a);
	pthread_mutex_lock(&a->lock);
	a->end++;
	pthread_cond_signal(&a->work);
	pthread_mutex_unlock(&a->lock);
	return 0;
}

struct decode_slot *read_ahead_oldest(struct read_ahead *a)
{
	struct decode_slot *s = &a->slots[a->oldest % a->slot_count];
	bool own;

	if (a->oldest == a->end)
		return NULL;
	pthread_mutex_lock(&a->lock);
	own = a->next == a->oldest;
	if (own)
		a->next++;
	while (!own && !s->done)
		pthread_cond_wait(&a->done, &a->lock);
	pthread_mutex_unlock(&a->lock);
	if (own) {
		decode(s);
		s->done = true;
	}
	return s;
}

int read_ahead_more(struct read_ahead *a, struct decode_slot *s)
{
	int err;

	read_ahead_release(a, s->batch);
	s->batch = NULL;
	err = give_batch(a, s);
	return err ? err : decoder_next(&s->decoder, s->batch);
}

void read_ahead_done(struct read_ahead *a)
{
	struct decode_slot *s = &a->slots[a->oldest % a->slot_count];

	read_ahead_release(a, s->batch);
	s->batch = NULL;
	a->bytes -= s->taken;
	a->oldest++;
	if (s->capacity > KEPT_BYTES) {
		free(s->bytes);
		s->bytes = NULL;
		s->capacity = 0;
	}
	decoder_trim(&s->decoder, KEPT_BYTES);
}

void read_ahead_release(struct read_ahead *a, struct batch *b)
{
	if (!b || --b->holds)
		return;
	b->next = a->batches;
	a->batches = b;
}
