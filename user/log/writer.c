#include "log/writer.h"

#include <errno.h>
#include <msgpack.h>
#include <stdlib.h>
#include <string.h>

#include "log/block.h"
#include "log/counters.h"
#include "log/header.h"
#include "log/output.h"
#include "log/schema.h"
#include "log/text.h"

struct log_writer {
	struct log_output *out;
	int err; /* the first one */
	uint32_t sequence;
	uint32_t block_events;
	uint64_t block_time_ns; /* of the last event in the open block */
	msgpack_sbuffer buf;    /* the open block: room for its header, then the payload */
	msgpack_packer pk;
	struct counters counters;
	struct log_writer_stats stats;
};

/* An empty block: only the room for its header. */
static int block_begin(struct log_writer *w, size_t keep)
{
	static const char room[BLOCK_HEADER_BYTES];

	w->buf.size = keep;
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
	struct sealed sealed;
	int err;

	if (b.length > BLOCK_PAYLOAD_MAX)
		return -E2BIG;
	block_seal(&b, (uint8_t *)w->buf.data);
	sealed = (struct sealed){.bytes = (uint8_t *)w->buf.data,
				 .count = w->buf.size,
				 .kind = kind,
				 .sequence = b.sequence,
				 .events = b.events};
	err = w->out->ops->write(w->out, &sealed);
	if (err)
		return err;
	w->sequence++;
	w->stats.blocks++;
	w->stats.bytes += w->buf.size;
	w->stats.events += w->block_events;
	return block_begin(w, 0);
}

static int header_write(struct log_writer *w, const json_t *header)
{
	struct block b = {.kind = BLOCK_KIND_HEADER};
	uint8_t *bytes;
	int err;

	msgpack_sbuffer_clear(&w->buf);
	if (msgpack_sbuffer_write(&w->buf, LOG_MAGIC, LOG_MAGIC_BYTES))
		return -ENOMEM;
	err = block_begin(w, LOG_MAGIC_BYTES);
	if (!err)
		err = header_pack(&w->buf, header, NULL);
	if (err)
		return err;
	if (w->buf.size - LOG_MAGIC_BYTES - BLOCK_HEADER_BYTES > BLOCK_PAYLOAD_MAX)
		return -E2BIG;
	bytes = (uint8_t *)w->buf.data;
	b.length = (uint32_t)(w->buf.size - LOG_MAGIC_BYTES - BLOCK_HEADER_BYTES);
	block_seal(&b, bytes + LOG_MAGIC_BYTES);
	err = w->out->ops->part(w->out, bytes, w->buf.size);
	w->sequence = 1;
	w->stats.blocks = 1;
	w->stats.bytes = w->buf.size;
	return err ? err : block_begin(w, 0);
}

static void writer_free(struct log_writer *w)
{
	counters_free(&w->counters);
	msgpack_sbuffer_destroy(&w->buf);
	free(w);
}

int log_writer_open(const struct log_writer_options *o, const json_t *header,
		    struct log_writer **ret)
{
	struct log_writer *w = calloc(1, sizeof(*w));
	int err;

	if (!w)
		return -ENOMEM;
	msgpack_sbuffer_init(&w->buf);
	msgpack_packer_init(&w->pk, &w->buf, msgpack_sbuffer_write);
	err = output_file_open(o->path, o->overwrite, &w->out);
	if (err)
		goto fail;
	err = header_write(w, header);
	if (err) {
		/* A log without a header is of no use to anybody. */
		output_file_discard(w->out);
		w->out->ops->close(w->out);
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
	err = w->out->ops->close(w->out);
	if (w->err)
		err = w->err;
	writer_free(w);
	return err;
}
