#include "log/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <msgpack.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log/block.h"
#include "log/counters.h"
#include "log/header.h"
#include "log/schema.h"
#include "log/text.h"

struct log_writer {
	int fd;
	int err; /* the first one */
	uint32_t sequence;
	uint32_t block_events;
	uint64_t block_time_ns; /* of the last event in the open block */
	msgpack_sbuffer buf;    /* the open block: room for its header, then the payload */
	msgpack_packer pk;
	struct counters counters;
	struct log_writer_stats stats;
};

static int write_all(int fd, const char *buf, size_t count)
{
	ssize_t n;

	while (count) {
		n = write(fd, buf, count);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		buf += n;
		count -= (size_t)n;
	}
	return 0;
}

/* An empty block: only the room for its header. */
static int block_begin(struct log_writer *w)
{
	static const char room[BLOCK_HEADER_BYTES];

	msgpack_sbuffer_clear(&w->buf);
	w->block_events = 0;
	counters_reset(&w->counters);
	return msgpack_sbuffer_write(&w->buf, room, sizeof(room)) ? -ENOMEM : 0;
}

static int block_write(struct log_writer *w, enum block_kind kind)
{
	struct block b = {
		.length = (uint32_t)(w->buf.size - BLOCK_HEADER_BYTES),
		.sequence = w->sequence,
		.events = w->block_events,
		.kind = kind,
	};
	int err;

	if (b.length > BLOCK_PAYLOAD_MAX)
		return -E2BIG;
	block_seal(&b, (uint8_t *)w->buf.data);
	err = write_all(w->fd, w->buf.data, w->buf.size);
	if (err) {
		/* Devices cannot be cut; a regular file is left as it was after the last block. */
		if (!ftruncate(w->fd, (off_t)w->stats.bytes))
			lseek(w->fd, (off_t)w->stats.bytes, SEEK_SET);
		return err;
	}
	w->sequence++;
	w->stats.blocks++;
	w->stats.bytes += w->buf.size;
	w->stats.events += w->block_events;
	return block_begin(w);
}

/* Names are nobody else's business: 0600, also for a file that is overwritten. */
static int file_open(const char *path, bool overwrite)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | (overwrite ? O_TRUNC : O_EXCL), 0600);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		(void)!fchmod(fd, 0600);
	return fd;
}

static int header_write(struct log_writer *w, const json_t *header)
{
	int err;

	err = write_all(w->fd, LOG_MAGIC, LOG_MAGIC_BYTES);
	if (err)
		return err;
	w->stats.bytes = LOG_MAGIC_BYTES;
	err = block_begin(w);
	if (!err)
		err = header_pack(&w->buf, header);
	return err ? err : block_write(w, BLOCK_KIND_HEADER);
}

static void writer_free(struct log_writer *w)
{
	counters_free(&w->counters);
	msgpack_sbuffer_destroy(&w->buf);
	free(w);
}

int log_writer_open(const char *path, bool overwrite, const json_t *header, struct log_writer **ret)
{
	struct log_writer *w = calloc(1, sizeof(*w));
	int err;

	if (!w)
		return -ENOMEM;
	msgpack_sbuffer_init(&w->buf);
	msgpack_packer_init(&w->pk, &w->buf, msgpack_sbuffer_write);
	w->fd = file_open(path, overwrite);
	if (w->fd < 0) {
		err = w->fd;
		goto fail;
	}
	err = header_write(w, header);
	if (err) {
		/* A log without a header is of no use to anybody. */
		if (!overwrite)
			unlink(path);
		close(w->fd);
		goto fail;
	}
	*ret = w;
	return 0;
fail:
	writer_free(w);
	return err;
}

static int pack_text(struct log_writer *w, const char *text)
{
	size_t length;
	char *clean;
	int err;

	if (!text)
		text = "";
	length = strlen(text);
	if (length <= LOG_TEXT_MAX && text_is_clean(text, length))
		return msgpack_pack_str_with_body(&w->pk, text, length);
	clean = malloc(LOG_TEXT_MAX);
	if (!clean)
		return -1;
	length = text_clean(text, length, clean, LOG_TEXT_MAX);
	err = msgpack_pack_str_with_body(&w->pk, clean, length);
	free(clean);
	return err;
}

/* The difference to the thread's last value in this block; thread 0 has no counters. */
static int pack_counter(struct log_writer *w, uint64_t thread, unsigned counter, uint64_t value)
{
	uint64_t *last;
	int64_t diff;

	if (!thread)
		return msgpack_pack_int64(&w->pk, 0);
	last = counters_of(&w->counters, thread);
	if (!last)
		return -1;
	diff = (int64_t)(value - last[counter]);
	last[counter] = value;
	return msgpack_pack_int64(&w->pk, diff);
}

static uint64_t counted_thread(const struct field_desc *field, const struct event *e)
{
	return field->of < 0 ? e->thread : e->v[field->of].u;
}

/* What a reader takes a field for that is not there. */
static bool is_default(const struct field_desc *field, const struct event *e, unsigned i)
{
	if (field->type == FIELD_STR)
		return !e->v[i].s || !*e->v[i].s;
	return !e->v[i].u || (field->type == FIELD_COUNTER && !counted_thread(field, e));
}

/* Fields are appended to events as spoor grows, and most of them are of use in few recordings. */
static unsigned fields_needed(const struct event_desc *desc, const struct event *e)
{
	unsigned count = desc->field_count;

	while (count && is_default(&desc->fields[count - 1], e, count - 1))
		count--;
	return count;
}

static int pack_fields(struct log_writer *w, const struct event_desc *desc, const struct event *e,
		       unsigned count)
{
	const uint8_t *counter = schema_counter[desc - schema_table];
	const struct field_desc *field = desc->fields;
	unsigned i;
	int err = 0;

	for (i = 0; i < count && !err; i++, field++) {
		switch (field->type) {
		case FIELD_STR:
			err = pack_text(w, e->v[i].s);
			break;
		case FIELD_BOOL:
			err = e->v[i].u ? msgpack_pack_true(&w->pk) : msgpack_pack_false(&w->pk);
			break;
		case FIELD_COUNTER:
			err = pack_counter(w, counted_thread(field, e), counter[i], e->v[i].u);
			break;
		default:
			err = msgpack_pack_uint64(&w->pk, e->v[i].u);
			break;
		}
	}
	return err;
}

static int pack_event(struct log_writer *w, const struct event *e)
{
	const struct event_desc *desc = schema_event(e->id);
	unsigned count;

	if (!desc)
		return -EINVAL;
	count = fields_needed(desc, e);
	if (!w->block_events) {
		w->block_time_ns = e->time_ns;
		if (msgpack_pack_array(&w->pk, 1) || msgpack_pack_uint64(&w->pk, e->time_ns))
			return -ENOMEM;
	}
	if (msgpack_pack_array(&w->pk, 3 + count) || msgpack_pack_uint64(&w->pk, e->id) ||
	    msgpack_pack_int64(&w->pk, (int64_t)(e->time_ns - w->block_time_ns)) ||
	    msgpack_pack_uint64(&w->pk, e->thread) || pack_fields(w, desc, e, count))
		return -ENOMEM;
	w->block_time_ns = e->time_ns;
	w->block_events++;
	return 0;
}

void log_write(struct log_writer *w, const struct event *e)
{
	if (w->err)
		return;
	w->err = pack_event(w, e);
	if (!w->err && w->buf.size - BLOCK_HEADER_BYTES >= LOG_BLOCK_BYTES)
		log_writer_flush(w);
}

void log_writer_flush(struct log_writer *w)
{
	if (!w->err && w->block_events)
		w->err = block_write(w, BLOCK_KIND_EVENTS);
}

int log_writer_error(const struct log_writer *w)
{
	return w->err;
}

void log_writer_stats(const struct log_writer *w, struct log_writer_stats *ret)
{
	*ret = w->stats;
	ret->events += w->block_events;
}

int log_writer_close(struct log_writer *w)
{
	int err;

	if (!w)
		return 0;
	log_writer_flush(w);
	err = w->err;
	if (close(w->fd) && !err && errno != EINTR)
		err = -errno;
	writer_free(w);
	return err;
}
