/*
 * Blocks are compressed while that makes the log smaller and nobody waits for it: AntTracks 4.7.1
 * compresses while the disk is the slower side. So as long as less than half of the queue is used,
 * a block is compressed as the user asked for. When more waits, it is compressed so that it is in
 * the file soonest: what compressing a byte takes and what writing a byte takes are measured as we
 * go, and where the disk is slow, a fast codec beats none. Only when the queue is full does the
 * caller wait: the recorder, for which the ring buffer keeps records meanwhile.
 *
 * The thread takes no signals: they are for the thread that reads them from a descriptor. It
 * allocates nothing after its first block of a size, but for the index.
 */
#include "log/write/writer_thread.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/privilege.h"
#include "base/tables/array.h"
#include "log/write/index.h"

#define POOL_MAX 4

/* Of a codec or of writing, averages over the last blocks. */
struct rate {
	uint64_t ns_per_mib;
	uint64_t bytes_per_mib; /* that remain of one; of writing: 0 */
};

/* Until something has been measured: orders of magnitude of a machine of today. */
static const struct rate first_rates[] = {
	[BLOCK_CODEC_NONE] = {100000, 1 << 20},
	[BLOCK_CODEC_LZ4] = {2500000, 420000},
	[BLOCK_CODEC_ZSTD] = {5000000, 280000},
};
_Static_assert(sizeof(first_rates) / sizeof(*first_rates) == BLOCK_CODEC_COUNT, "all codecs");

struct writer_thread {
	/* The thread's own. */
	struct log_output *out;
	struct log_compression compression;
	struct codec *codec;
	uint8_t *packed;
	size_t packed_capacity;
	struct log_index index;
	uint64_t offset, last_index; /* in this part */
	uint32_t sequence;
	struct rate rates[BLOCK_CODEC_COUNT];
	uint64_t write_ns_per_mib;

	/* Under the lock. */
	pthread_mutex_t lock;
	pthread_cond_t more, less;
	struct packet *first, **last;
	uint64_t queued; /* bytes of bodies, that being worked on included */
	uint64_t bound;  /* that they will take at most */
	struct packet *pool;
	unsigned pooled;
	uint64_t used;
	struct log_writer_stats stats;
	bool busy, stop;

	atomic_int err; /* the first one */
	pthread_t thread;
	bool running, finished;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void learn(uint64_t *average, uint64_t value)
{
	*average = (*average * 7 + value) / 8;
}

static void set_error(struct writer_thread *d, int err)
{
	int none = 0;

	if (err)
		atomic_compare_exchange_strong(&d->err, &none, err);
}

int writer_thread_error(const struct writer_thread *d)
{
	return atomic_load_explicit(&d->err, memory_order_relaxed);
}

/* --- the thread's work ------------------------------------------------------------------------ */

static uint64_t cost(const struct writer_thread *d, enum block_codec codec)
{
	const struct rate *r = &d->rates[codec];

	return r->ns_per_mib + (r->bytes_per_mib * d->write_ns_per_mib >> 20);
}

static enum block_codec choose(const struct writer_thread *d, uint64_t queued)
{
	enum block_codec best = d->compression.codec;

	if (queued < DELIVER_QUEUE_BYTES / 2)
		return best;
	for (enum block_codec c = 0; c < d->compression.codec; c++)
		if (cost(d, c) < cost(d, best))
			best = c;
	return best;
}

/* *ret_bytes is the block with room for its headers, *ret_codec what it is compressed with. */
static int compress(struct writer_thread *d, struct packet *p, enum block_codec *ret_codec,
		    uint8_t **ret_bytes, size_t *ret_count)
{
	size_t raw = p->buf.size - PACKET_ROOM, room, count;
	struct rate *rate = &d->rates[*ret_codec];
	uint64_t begin = now_ns();
	int err;

	if (*ret_codec != BLOCK_CODEC_NONE) {
		room = codec_bound(*ret_codec, raw);
		err = bytes_reserve(&d->packed, &d->packed_capacity, PACKET_ROOM + room);
		if (!err)
			err = codec_compress(d->codec, *ret_codec, d->compression.level,
					     p->buf.data + PACKET_ROOM, raw,
					     d->packed + PACKET_ROOM, room, &count);
		if (err)
			return err;
		learn(&rate->ns_per_mib, ((now_ns() - begin) << 20) / raw);
		learn(&rate->bytes_per_mib, ((uint64_t)count << 20) / raw);
		if (count < raw) {
			*ret_bytes = d->packed;
			*ret_count = PACKET_ROOM + count;
			return 0;
		}
	}
	*ret_codec = BLOCK_CODEC_NONE;
	*ret_bytes = (uint8_t *)p->buf.data;
	*ret_count = p->buf.size;
	return 0;
}

/* Any block but the first: to the output, and into the index. */
static int append(struct writer_thread *d, const struct sealed *block)
{
	uint64_t begin = now_ns();
	int err;

	d->out->reserve = log_index_reserve(&d->index);
	err = d->out->ops->write(d->out, block);
	if (err)
		return err;
	learn(&d->write_ns_per_mib, ((now_ns() - begin) << 20) / block->count);
	if (block->kind != BLOCK_KIND_INDEX && block->kind != BLOCK_KIND_END && !d->out->no_index) {
		err = log_index_add(&d->index, d->offset, block);
		if (err)
			return err;
	}
	d->offset += block->count;
	d->sequence++;
	return 0;
}

static int append_index(struct writer_thread *d)
{
	uint64_t offset = d->offset;
	struct sealed block;
	int err;

	log_index_seal(&d->index, d->sequence, &block);
	err = append(d, &block);
	if (err)
		return err;
	d->last_index = offset;
	return log_index_begin(&d->index, offset);
}

static int append_end(struct writer_thread *d)
{
	uint8_t bytes[BLOCK_HEADER_BYTES + LOG_END_BYTES];
	struct sealed block;
	int err = 0;

	if (d->out->no_index)
		return 0;
	if (d->index.count)
		err = append_index(d);
	if (err)
		return err;
	log_end_seal(d->last_index, d->sequence, bytes, &block);
	return append(d, &block);
}

static int append_events(struct writer_thread *d, struct packet *p, enum block_codec *codec)
{
	struct preamble pre = {p->first_ns, p->last_ns, (uint32_t)(p->buf.size - PACKET_ROOM), 0,
			       p->flags};
	bool events = p->kind == BLOCK_KIND_PACKED; /* the index has times of no others */
	struct sealed sealed = {.kind = p->kind,
				.flags = p->flags,
				.sequence = d->sequence,
				.events = p->events,
				.first_ns = events ? p->first_ns : 0,
				.last_ns = events ? p->last_ns : 0};
	struct block b = {.sequence = d->sequence, .events = p->events, .kind = sealed.kind};
	uint8_t *bytes;
	int err;

	if (p->buf.size - BLOCK_HEADER_BYTES > BLOCK_PAYLOAD_MAX)
		return -E2BIG;
	err = compress(d, p, codec, &bytes, &sealed.count);
	if (err)
		return err;
	pre.codec = (uint8_t)*codec;
	preamble_put(&pre, bytes + BLOCK_HEADER_BYTES);
	b.length = (uint32_t)(sealed.count - BLOCK_HEADER_BYTES);
	block_seal(&b, bytes);
	sealed.bytes = bytes;
	err = append(d, &sealed);
	if (!err && !d->out->no_index && d->index.count >= LOG_INDEX_BLOCKS)
		err = append_index(d);
	return err;
}

static int begin_part(struct writer_thread *d, const struct packet *p)
{
	int err = append_end(d);

	if (!err)
		err = log_index_begin(&d->index, 0);
	d->out->reserve = log_index_reserve(&d->index);
	if (!err)
		err = d->out->ops->part(d->out, (const uint8_t *)p->buf.data, p->buf.size);
	d->offset = p->buf.size;
	d->last_index = 0;
	d->sequence = 1;
	return err;
}

static uint64_t bound_of(const struct packet *p)
{
	return p->buf.size + LOG_INDEX_BLOCKS / 16; /* and its entry in the index */
}

/* With the lock held, before and after. */
static void work_on(struct writer_thread *d, struct packet *p)
{
	enum block_codec configured = d->compression.codec, codec = choose(d, d->queued);
	size_t raw = p->buf.size - PACKET_ROOM;
	bool less = codec != configured;
	int err = writer_thread_error(d);

	pthread_mutex_unlock(&d->lock);
	if (!err)
		err = p->part ? begin_part(d, p) : append_events(d, p, &codec);
	set_error(d, err);
	pthread_mutex_lock(&d->lock);
	d->stats.bytes = d->out->bytes;
	d->stats.written = d->out->written;
	d->stats.parts = d->out->parts;
	d->stats.parts_deleted = d->out->parts_deleted;
	d->used = d->offset + (d->out->no_index ? 0 : log_index_reserve(&d->index));
	if (err)
		return;
	d->stats.blocks++;
	if (p->part)
		return;
	d->stats.raw_bytes += raw;
	d->stats.blocks_with[codec]++;
	d->stats.blocks_less += less;
}

static void recycle(struct writer_thread *d, struct packet *p)
{
	if (d->pooled >= POOL_MAX) {
		packet_free(p);
		return;
	}
	p->next = d->pool;
	d->pool = p;
	d->pooled++;
}

static void *run(void *arg)
{
	struct writer_thread *d = arg;
	struct packet *p;
	uint64_t bound;
	size_t size;

	privilege_writer_thread();
	pthread_mutex_lock(&d->lock);
	for (;;) {
		while (!d->first && !d->stop)
			pthread_cond_wait(&d->more, &d->lock);
		p = d->first;
		if (!p)
			break;
		d->first = p->next;
		if (!d->first)
			d->last = &d->first;
		size = p->buf.size;
		bound = bound_of(p);
		d->busy = true;
		work_on(d, p);
		d->busy = false;
		d->queued -= size;
		d->bound -= bound;
		recycle(d, p);
		pthread_cond_broadcast(&d->less);
	}
	pthread_mutex_unlock(&d->lock);
	return NULL;
}

/* --- the caller's side ------------------------------------------------------------------------ */

static int start(struct writer_thread *d)
{
	sigset_t all, old;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&d->thread, NULL, run, d);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	d->running = !err;
	return -err;
}

int writer_thread_new(struct log_output *out, const struct log_compression *compression,
		      uint64_t bytes, struct writer_thread **ret)
{
	struct writer_thread *d = calloc(1, sizeof(*d));
	int err;

	if (!d)
		return -ENOMEM;
	d->out = out;
	d->compression = *compression;
	d->offset = bytes;
	d->sequence = 1;
	d->stats.blocks = 1;
	d->stats.bytes = d->stats.written = bytes;
	d->stats.parts = 1;
	memcpy(d->rates, first_rates, sizeof(d->rates));
	d->write_ns_per_mib = 1000000;
	d->last = &d->first;
	pthread_mutex_init(&d->lock, NULL);
	pthread_cond_init(&d->more, NULL);
	pthread_cond_init(&d->less, NULL);
	log_index_init(&d->index);
	err = codec_new(&d->codec);
	if (!err)
		err = log_index_begin(&d->index, 0);
	d->used = bytes + log_index_reserve(&d->index);
	if (!err)
		err = start(d);
	if (err) {
		d->out = NULL;
		writer_thread_free(d);
		return err;
	}
	*ret = d;
	return 0;
}

struct packet *writer_thread_packet(struct writer_thread *d)
{
	static const char room[PACKET_ROOM];
	struct packet *p;

	pthread_mutex_lock(&d->lock);
	p = d->pool;
	if (p) {
		d->pool = p->next;
		d->pooled--;
	}
	pthread_mutex_unlock(&d->lock);
	if (!p) {
		p = calloc(1, sizeof(*p));
		if (!p)
			return NULL;
		msgpack_sbuffer_init(&p->buf);
	}
	msgpack_sbuffer_clear(&p->buf);
	p->next = NULL;
	p->part = false;
	p->kind = BLOCK_KIND_PACKED;
	p->events = 0;
	p->flags = 0;
	if (msgpack_sbuffer_write(&p->buf, room, sizeof(room))) {
		packet_free(p);
		return NULL;
	}
	return p;
}

void packet_free(struct packet *p)
{
	if (!p)
		return;
	msgpack_sbuffer_destroy(&p->buf);
	free(p);
}

void writer_thread_put(struct writer_thread *d, struct packet *p)
{
	uint64_t begin;

	pthread_mutex_lock(&d->lock);
	if (d->queued && d->queued + p->buf.size > DELIVER_QUEUE_BYTES) {
		begin = now_ns();
		while (d->queued && d->queued + p->buf.size > DELIVER_QUEUE_BYTES)
			pthread_cond_wait(&d->less, &d->lock);
		d->stats.waited_ns += now_ns() - begin;
	}
	p->next = NULL;
	*d->last = p;
	d->last = &p->next;
	d->queued += p->buf.size;
	d->bound += bound_of(p);
	pthread_cond_signal(&d->more);
	pthread_mutex_unlock(&d->lock);
}

/* With the lock held. */
static void wait_idle(struct writer_thread *d)
{
	while (d->first || d->busy)
		pthread_cond_wait(&d->less, &d->lock);
}

int writer_thread_wait(struct writer_thread *d)
{
	pthread_mutex_lock(&d->lock);
	wait_idle(d);
	pthread_mutex_unlock(&d->lock);
	return writer_thread_error(d);
}

void writer_thread_room(struct writer_thread *d, struct writer_thread_room *ret)
{
	pthread_mutex_lock(&d->lock);
	ret->used = d->used;
	ret->queued = d->bound;
	pthread_mutex_unlock(&d->lock);
}

void writer_thread_stats(struct writer_thread *d, struct log_writer_stats *ret)
{
	pthread_mutex_lock(&d->lock);
	*ret = d->stats;
	pthread_mutex_unlock(&d->lock);
}

int writer_thread_call(struct writer_thread *d, int (*call)(struct log_output *, void *), void *ctx)
{
	int err;

	pthread_mutex_lock(&d->lock);
	wait_idle(d);
	err = call(d->out, ctx);
	d->stats.bytes = d->out->bytes;
	d->stats.written = d->out->written;
	pthread_mutex_unlock(&d->lock);
	return err;
}

int writer_thread_finish(struct writer_thread *d)
{
	int err;

	pthread_mutex_lock(&d->lock);
	wait_idle(d);
	err = writer_thread_error(d);
	if (!err && !d->finished)
		err = append_end(d);
	set_error(d, err);
	d->finished = true;
	d->stats.bytes = d->out->bytes;
	d->stats.written = d->out->written;
	pthread_mutex_unlock(&d->lock);
	return writer_thread_error(d);
}

int writer_thread_free(struct writer_thread *d)
{
	struct packet *p;
	int err;

	if (!d)
		return 0;
	if (d->running) {
		pthread_mutex_lock(&d->lock);
		d->stop = true;
		pthread_cond_signal(&d->more);
		pthread_mutex_unlock(&d->lock);
		pthread_join(d->thread, NULL);
	}
	if (d->out)
		set_error(d, d->out->ops->close(d->out));
	err = writer_thread_error(d);
	while ((p = d->pool)) {
		d->pool = p->next;
		packet_free(p);
	}
	log_index_free(&d->index);
	codec_free(d->codec);
	free(d->packed);
	pthread_cond_destroy(&d->more);
	pthread_cond_destroy(&d->less);
	pthread_mutex_destroy(&d->lock);
	free(d);
	return err;
}
