#include "log/write/object_out.h"

#include <errno.h>
#include <msgpack.h>
#include <stdlib.h>
#include <string.h>

#include "log/format/block.h"
#include "log/format/object_record.h"
#include "log/format/text.h"
#include "log/write/writer.h"
#include "log/write/writer_thread.h"

/* Words compress by what they repeat; a larger block gives nothing with zstd's first level. */
#define BODY_BYTES (256 * 1024)

struct object_out {
	struct log_writer *w;
	struct packet *packet; /* NULL: none is open */
	char text[OBJECT_NAME_MAX];
};

struct object_out *object_out_new(struct log_writer *w)
{
	struct object_out *o = calloc(1, sizeof(*o));

	if (o)
		o->w = w;
	return o;
}

void object_out_free(struct object_out *o)
{
	if (!o)
		return;
	packet_free(o->packet);
	free(o);
}

void object_out_flush(struct object_out *o)
{
	struct packet *p = o->packet;

	if (!p)
		return;
	o->packet = NULL;
	log_writer_put(o->w, p);
}

static int pack_numbers(msgpack_packer *pk, const uint64_t *numbers, uint32_t count)
{
	int err = 0;

	for (uint32_t i = 0; i < count && !err; i++)
		err = msgpack_pack_uint64(pk, numbers[i]);
	return err;
}

static int pack_text(struct object_out *o, msgpack_packer *pk, const char *text, uint32_t bytes)
{
	size_t count = text_clean(text ? text : "", text ? bytes : 0, o->text, sizeof(o->text));

	return msgpack_pack_str_with_body(pk, o->text, count);
}

static int pack_frames(msgpack_packer *pk, const struct object_record *r)
{
	int err = msgpack_pack_array(pk, 2 * r->frame_count);

	for (uint32_t i = 0; i < 2 * r->frame_count && !err; i++)
		err = msgpack_pack_uint32(pk, r->frames[i / 2][i % 2]);
	return err;
}

static int pack_record(struct object_out *o, msgpack_packer *pk, const struct object_record *r)
{
	uint32_t numbers = object_record_numbers(r->kind), texts = object_record_texts(r->kind);
	bool frames = r->kind == OBJECT_SITE, words = object_record_has_words(r->kind);

	if (msgpack_pack_array(pk, 1 + numbers + texts + frames + words) ||
	    msgpack_pack_uint8(pk, (uint8_t)r->kind) || pack_numbers(pk, r->number, numbers))
		return -ENOMEM;
	for (uint32_t i = 0; i < texts; i++)
		if (pack_text(o, pk, r->text[i], r->text_bytes[i]))
			return -ENOMEM;
	if (frames && pack_frames(pk, r))
		return -ENOMEM;
	return words && msgpack_pack_bin_with_body(pk, r->words, r->word_bytes) ? -ENOMEM : 0;
}

static void note_times(struct packet *p, const struct object_record *r)
{
	uint64_t first, last;

	if (r->kind == OBJECT_WORDS) {
		first = r->number[WORDS_BEGIN_NS];
		last = r->number[WORDS_END_NS] > first ? r->number[WORDS_END_NS] : first;
	} else if (r->kind == OBJECT_PHASE) {
		first = last = r->number[PHASE_TIME_NS];
	} else {
		return;
	}
	if (!p->first_ns || first < p->first_ns)
		p->first_ns = first;
	if (last > p->last_ns)
		p->last_ns = last;
}

int object_out_add(struct object_out *o, const struct object_record *r)
{
	msgpack_packer pk;
	size_t size;

	if (!o->packet) {
		o->packet = log_writer_packet(o->w);
		if (!o->packet)
			return -ENOMEM;
		o->packet->kind = BLOCK_KIND_OBJECTS;
		o->packet->first_ns = o->packet->last_ns = 0;
	}
	size = o->packet->buf.size;
	msgpack_packer_init(&pk, &o->packet->buf, msgpack_sbuffer_write);
	if (pack_record(o, &pk, r)) {
		o->packet->buf.size = size;
		return -ENOMEM;
	}
	note_times(o->packet, r);
	o->packet->events++;
	if (o->packet->buf.size - PACKET_ROOM >= BODY_BYTES)
		object_out_flush(o);
	return 0;
}
