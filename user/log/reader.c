#include "log/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log/block.h"
#include "log/counters.h"
#include "log/header.h"
#include "log/schema.h"
#include "log/text.h"
#include "log/unpack.h"

struct log_reader {
	char **paths;
	unsigned path_count;
	unsigned path_next; /* of those that have not been opened yet */
	struct block_file file;
	int err; /* what stopped the reading for good; 0: nothing */
	json_t *header;
	uint32_t block_events; /* left in the open block */
	uint32_t sequence;     /* of the next block, if none is missing */
	uint64_t gaps;         /* between the blocks so far */
	uint64_t time_ns;      /* of the last event in the open block */
	struct unpack in;      /* the rest of the open block's payload */
	struct counters counters;
	struct text_set *texts;
	struct event event;
	struct log_reader_stats stats;
};

/* The magic bytes, then the header block. */
static int header_read(struct log_reader *r)
{
	char magic[LOG_MAGIC_BYTES];
	struct block b;
	ssize_t n;
	json_t *header;
	int err;

	n = pread(r->file.fd, magic, sizeof(magic), 0);
	if (n < 0)
		return -errno;
	if (n != sizeof(magic) || memcmp(magic, LOG_MAGIC, sizeof(magic)))
		return -EPROTO;
	r->file.offset = sizeof(magic);
	err = block_file_next(&r->file, 0, &b);
	if (err < 0)
		return err;
	if (!err || r->file.gaps || b.kind != BLOCK_KIND_HEADER)
		return -EBADMSG;
	r->sequence = b.sequence + 1;
	r->stats.blocks++;
	err = header_unpack(b.payload, b.length, &header);
	if (err)
		return err;
	if (r->header)
		json_decref(header);
	else
		r->header = header;
	return 0;
}

/* Opens the next file behind what the one before has come to. */
static int file_open(struct log_reader *r)
{
	const char *path = r->paths[r->path_next++];
	struct stat st;

	if (r->file.fd >= 0)
		close(r->file.fd);
	r->file.fd = !strcmp(path, "-") ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
	if (r->file.fd < 0 || fstat(r->file.fd, &st))
		return -errno;
	r->file.size = (uint64_t)st.st_size;
	r->file.gaps = 0;
	r->gaps = 0;
	return header_read(r);
}

static int paths_copy(struct log_reader *r, const char *const *paths, unsigned count)
{
	r->paths = calloc(count, sizeof(*r->paths));
	if (!r->paths)
		return -ENOMEM;
	for (; r->path_count < count; r->path_count++) {
		r->paths[r->path_count] = strdup(paths[r->path_count]);
		if (!r->paths[r->path_count])
			return -ENOMEM;
	}
	return 0;
}

int log_reader_open(const char *path, struct log_reader **ret)
{
	return log_reader_open_with(&path, 1, NULL, ret);
}

int log_reader_open_with(const char *const *paths, unsigned count,
			 const struct log_reader_options *options, struct log_reader **ret)
{
	struct log_reader *r = calloc(1, sizeof(*r));
	int err;

	(void)options;
	if (!r)
		return -ENOMEM;
	r->file.fd = -1;
	err = paths_copy(r, paths, count);
	if (!err)
		err = file_open(r);
	if (err)
		goto fail;
	*ret = r;
	return 0;
fail:
	log_reader_close(r);
	return err;
}

int log_reader_limit(struct log_reader *r, uint64_t from_ns, uint64_t to_ns)
{
	(void)r;
	return from_ns > to_ns ? -EINVAL : 0;
}

void log_reader_close(struct log_reader *r)
{
	if (!r)
		return;
	if (r->file.fd >= 0)
		close(r->file.fd);
	block_file_free(&r->file);
	for (unsigned i = 0; i < r->path_count; i++)
		free(r->paths[i]);
	free(r->paths);
	counters_free(&r->counters);
	text_set_free(&r->texts);
	json_decref(r->header);
	free(r);
}

const json_t *log_reader_header(const struct log_reader *r)
{
	return r->header;
}

/* One gap is one damaged block; blocks that the sequence numbers miss beyond that are missing. */
static void count_gap(struct log_reader *r, uint32_t sequence)
{
	uint64_t damaged = r->file.gaps - r->gaps;
	uint64_t lost = sequence - r->sequence;

	r->gaps = r->file.gaps;
	r->stats.blocks_damaged += damaged;
	if (lost > damaged)
		r->stats.blocks_missing += lost - damaged;
}

static void block_drop(struct log_reader *r)
{
	r->stats.blocks_damaged++;
	r->block_events = 0;
}

/* 1: a block of events is open. 0: the end. */
static int block_open(struct log_reader *r)
{
	struct block b;
	uint32_t count;
	int err;

	for (;;) {
		err = block_file_next(&r->file, r->sequence, &b);
		if (err < 0)
			return err;
		count_gap(r, err ? b.sequence : r->sequence);
		if (!err) {
			if (r->path_next == r->path_count)
				return 0;
			err = file_open(r);
			if (err)
				return err;
			continue;
		}
		r->sequence = b.sequence + 1;
		r->stats.blocks++;
		if (b.kind != BLOCK_KIND_EVENTS)
			continue;
		counters_reset(&r->counters);
		r->in = (struct unpack){b.payload, b.payload + b.length};
		if (unpack_array(&r->in, &count) || !count || unpack_uint(&r->in, &r->time_ns)) {
			block_drop(r);
			continue;
		}
		for (err = 0; count > 1 && !err; count--)
			err = unpack_skip(&r->in);
		r->block_events = b.events;
		if (err)
			block_drop(r);
		else if (b.events)
			return 1;
	}
}

static int text_read(struct log_reader *r, const char **ret)
{
	struct unpack_value value;
	const char *text;

	if (unpack_value(&r->in, &value) || value.type != UNPACK_STR || value.count > LOG_TEXT_MAX)
		return -EBADMSG;
	text = text_set_add(&r->texts, value.data, value.count);
	if (!text)
		return -ENOMEM;
	*ret = text;
	return 0;
}

static int counter_read(struct log_reader *r, uint64_t thread, unsigned counter, uint64_t *ret)
{
	uint64_t *last;
	uint64_t diff;

	if (unpack_signed(&r->in, &diff))
		return -EBADMSG;
	if (!thread) {
		*ret = diff;
		return 0;
	}
	last = counters_of(&r->counters, thread);
	if (!last)
		return -ENOMEM;
	last[counter] += diff;
	*ret = last[counter];
	return 0;
}

static int fields_read(struct log_reader *r, const struct event_desc *desc, struct event *e)
{
	const uint8_t *counter = schema_counter[desc - schema_table];
	const struct field_desc *field = desc->fields;
	unsigned i;
	int err = 0;

	for (i = 0; i < e->field_count && !err; i++, field++) {
		if (field->type == FIELD_COUNTER)
			err = counter_read(r, field->of < 0 ? e->thread : e->v[field->of].u,
					   counter[i], &e->v[i].u);
		else if (field->type == FIELD_STR)
			err = text_read(r, &e->v[i].s);
		else if (field->type == FIELD_BOOL)
			err = unpack_bool(&r->in, &e->v[i].u);
		else
			err = unpack_uint(&r->in, &e->v[i].u);
	}
	for (; i < desc->field_count; i++, field++) {
		if (field->type == FIELD_STR)
			e->v[i].s = "";
		else
			e->v[i].u = 0;
	}
	return err;
}

/* 1: r->event is the next one. 0: it was of an unknown kind. */
static int event_read(struct log_reader *r)
{
	struct event *e = &r->event;
	const struct event_desc *desc;
	uint64_t id, dt, thread;
	uint32_t count;
	int err;

	if (unpack_array(&r->in, &count) || count < 3 || unpack_uint(&r->in, &id) ||
	    unpack_signed(&r->in, &dt) || unpack_uint(&r->in, &thread) || thread > UINT32_MAX)
		return -EBADMSG;
	count -= 3;
	r->time_ns += dt;
	desc = id <= SCHEMA_ID_MAX ? schema_event((unsigned)id) : NULL;
	if (desc) {
		e->id = (uint16_t)id;
		e->thread = (uint32_t)thread;
		e->time_ns = r->time_ns;
		e->field_count = (uint16_t)(count < desc->field_count ? count : desc->field_count);
		err = fields_read(r, desc, e);
		if (err)
			return err;
		count -= e->field_count;
	}
	while (count--)
		if (unpack_skip(&r->in))
			return -EBADMSG;
	return desc != NULL;
}

int log_reader_next(struct log_reader *r, const struct event **ret)
{
	int err;

	while (!r->err) {
		err = r->block_events ? 1 : block_open(r);
		if (!err)
			break;
		if (err > 0)
			err = event_read(r);
		if (err == -EBADMSG) {
			block_drop(r);
			continue;
		}
		if (err < 0) {
			r->err = err;
			break;
		}
		r->block_events--;
		if (!r->block_events && r->in.at != r->in.end)
			r->stats.blocks_damaged++;
		if (err) {
			r->stats.events++;
			*ret = &r->event;
			return 1;
		}
		r->stats.events_unknown++;
	}
	if (r->err)
		return r->err;
	return r->stats.blocks_damaged || r->stats.blocks_missing ? -EBADMSG : 0;
}

void log_reader_stats(const struct log_reader *r, struct log_reader_stats *ret)
{
	*ret = r->stats;
	ret->bytes_skipped = r->file.gap_bytes;
}
