/*
 * A part is kept and dropped as a whole, since it begins with all that is needed to read on from
 * there. Blocks are copied once, compressed as they come, and shared with those who write a file:
 * they look at the blocks that were there when they took them, and a part is freed when nobody
 * holds it any more. So a file is written while the recording goes on.
 *
 * The file is one log: the header of the first part, its block of synchronization and no later one,
 * all other blocks with new sequence numbers, an index and the end.
 */
#include "log/write/flight.h"

#include <errno.h>
#include <fcntl.h>
#include <msgpack.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/create.h"
#include "base/io.h"
#include "base/tables/array.h"
#include "log/format/event.h"
#include "log/format/header.h"
#include "log/write/index.h"
#include "log/write/output.h"

#define FEATURES_MAX 16
#define NUMBERS_MAX 999999

struct kept_block {
	struct kept_block *next;
	struct sealed sealed; /* bytes are after it */
	uint8_t bytes[];
};

struct flight_part {
	struct flight_part *next;
	_Atomic unsigned holders;
	uint64_t begin_ns, bytes;
	json_t *header;
	struct kept_block *first, *last;
};

struct flight {
	struct log_output o;
	uint64_t keep_ns, max_bytes, newest_ns;
	struct flight_part *oldest, *current;
};

struct taken {
	struct flight_part *part;
	const struct kept_block *last; /* NULL: it has none yet */
};

struct flight_take {
	uint64_t from_ns, to_ns;
	unsigned count;
	struct taken parts[];
};

/* --- keeping ---------------------------------------------------------------------------------- */

static void part_release(struct flight_part *p)
{
	struct kept_block *b, *next;

	if (!p || atomic_fetch_sub(&p->holders, 1) != 1)
		return;
	for (b = p->first; b; b = next) {
		next = b->next;
		free(b);
	}
	json_decref(p->header);
	free(p);
}

static void drop_oldest(struct flight *f)
{
	struct flight_part *p = f->oldest;

	f->oldest = p->next;
	f->o.bytes -= p->bytes;
	f->o.parts_deleted++;
	part_release(p);
}

/* The current part stays. */
static void make_room(struct flight *f, size_t count)
{
	while (f->o.bytes + count + f->o.reserve > f->max_bytes && f->oldest != f->current)
		drop_oldest(f);
}

static uint64_t number_of(const json_t *object, const char *key)
{
	json_int_t n = json_integer_value(json_object_get(object, key));

	return n > 0 ? (uint64_t)n : 0;
}

static int flight_part(struct log_output *o, const uint8_t *bytes, size_t count)
{
	struct flight *f = (struct flight *)o;
	struct flight_part *p = calloc(1, sizeof(*p));
	struct block b;
	int err;

	if (!p)
		return -ENOMEM;
	atomic_init(&p->holders, 1);
	err = block_parse(bytes + LOG_MAGIC_BYTES, &b);
	if (!err)
		err = header_unpack(b.payload, b.length, &p->header);
	if (err) {
		free(p);
		return err;
	}
	p->begin_ns = number_of(json_object_get(p->header, "part"), "begin_ns");
	p->bytes = count;
	if (f->current)
		f->current->next = p;
	else
		f->oldest = p;
	f->current = p;
	o->parts++;
	o->bytes += count;
	o->written += count;
	while (f->oldest->next && f->oldest->next->begin_ns + f->keep_ns <= p->begin_ns)
		drop_oldest(f);
	make_room(f, 0);
	return 0;
}

static int flight_write(struct log_output *o, const struct sealed *block)
{
	struct flight *f = (struct flight *)o;
	struct flight_part *p = f->current;
	struct kept_block *b = malloc(sizeof(*b) + block->count);

	if (!b)
		return -ENOMEM;
	make_room(f, block->count);
	b->next = NULL;
	b->sealed = *block;
	b->sealed.bytes = b->bytes;
	memcpy(b->bytes, block->bytes, block->count);
	if (p->last)
		p->last->next = b;
	else
		p->first = b;
	p->last = b;
	p->bytes += block->count;
	o->bytes += block->count;
	o->written += block->count;
	if (block->last_ns > f->newest_ns)
		f->newest_ns = block->last_ns;
	return 0;
}

static int flight_close(struct log_output *o)
{
	struct flight *f = (struct flight *)o;

	while (f->oldest)
		drop_oldest(f);
	free(f);
	return 0;
}

int output_flight_open(uint64_t keep_ns, uint64_t max_bytes, struct log_output **ret)
{
	static const struct log_output_ops ops = {
		.part = flight_part, .write = flight_write, .close = flight_close};
	struct flight *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	f->o.ops = &ops;
	f->o.no_index = true;
	f->keep_ns = keep_ns;
	f->max_bytes = max_bytes;
	*ret = &f->o;
	return 0;
}

/* --- taking ----------------------------------------------------------------------------------- */

int flight_take(struct log_output *o, struct flight_take **ret)
{
	struct flight *f = (struct flight *)o;
	struct flight_take *t;
	unsigned count = 0;

	for (struct flight_part *p = f->oldest; p; p = p->next)
		count++;
	if (!count)
		return -ENODATA;
	t = calloc(1, sizeof(*t) + count * sizeof(*t->parts));
	if (!t)
		return -ENOMEM;
	for (struct flight_part *p = f->oldest; p; p = p->next) {
		atomic_fetch_add(&p->holders, 1);
		t->parts[t->count++] = (struct taken){p, p->last};
	}
	t->from_ns = f->oldest->begin_ns;
	t->to_ns = f->newest_ns > t->from_ns ? f->newest_ns : t->from_ns;
	*ret = t;
	return 0;
}

void flight_take_range(const struct flight_take *t, uint64_t *ret_from_ns, uint64_t *ret_to_ns)
{
	*ret_from_ns = t->from_ns;
	*ret_to_ns = t->to_ns;
}

void flight_take_free(struct flight_take *t)
{
	if (!t)
		return;
	for (unsigned i = 0; i < t->count; i++)
		part_release(t->parts[i].part);
	free(t);
}

/* --- writing ---------------------------------------------------------------------------------- */

struct file {
	int fd;
	uint64_t offset, last_index;
	uint32_t sequence;
	struct log_index index;
	uint8_t *bytes; /* a block with its new number */
	size_t capacity;
};

static int put(struct file *f, const uint8_t *bytes, size_t count)
{
	int err = write_all(f->fd, bytes, count);

	if (!err)
		f->offset += count;
	return err;
}

static int write_index(struct file *f)
{
	uint64_t offset = f->offset;
	struct sealed s;
	int err;

	log_index_seal(&f->index, f->sequence++, &s);
	err = put(f, s.bytes, s.count);
	f->last_index = offset;
	return err ? err : log_index_begin(&f->index, offset);
}

static int write_block(struct file *f, const struct sealed *block)
{
	struct sealed s = *block;
	struct block b;
	int err = bytes_reserve(&f->bytes, &f->capacity, s.count);

	if (err)
		return err;
	memcpy(f->bytes, s.bytes, s.count);
	err = block_parse(f->bytes, &b);
	if (err)
		return err;
	b.sequence = s.sequence = f->sequence++;
	block_seal(&b, f->bytes);
	s.bytes = f->bytes;
	err = log_index_add(&f->index, f->offset, &s);
	if (!err)
		err = put(f, s.bytes, s.count);
	return err || f->index.count < LOG_INDEX_BLOCKS ? err : write_index(f);
}

/* The part's header, with the key "flight" in the place of "part". */
static int header_make(const struct flight_take *t, const struct flight_file *f, json_t **ret)
{
	const json_t *first = t->parts[0].part->header;
	const json_t *recording = json_object_get(json_object_get(first, "part"), "recording");
	json_t *header = json_copy((json_t *)first); /* jansson takes no const */
	json_t *flight = json_pack("{s:s, s:I, s:I}", "why", f->why, "number",
				   (json_int_t)f->number, "begin_ns", (json_int_t)t->from_ns);

	/* A copy lacks, in silence, the keys for which there was no memory. */
	if (json_object_size(header) != json_object_size(first) || !flight ||
	    (recording && json_object_set(flight, "recording", (json_t *)recording)) ||
	    json_object_set(header, "flight", flight)) {
		json_decref(header);
		json_decref(flight);
		return -ENOMEM;
	}
	json_decref(flight);
	json_object_del(header, "part");
	*ret = header;
	return 0;
}

static int write_header(struct file *f, const json_t *header)
{
	const char *features[FEATURES_MAX + 1] = {NULL};
	static const char room[BLOCK_HEADER_BYTES];
	msgpack_sbuffer buf;
	json_t *list = json_object_get(header, "features"), *feature;
	struct block b = {.kind = BLOCK_KIND_HEADER};
	size_t i;
	int err;

	json_array_foreach (list, i, feature)
		if (i < FEATURES_MAX)
			features[i] = json_string_value(feature);
	msgpack_sbuffer_init(&buf);
	err = msgpack_sbuffer_write(&buf, room, sizeof(room)) ? -ENOMEM : 0;
	if (!err)
		err = header_pack(&buf, header, features);
	if (!err)
		err = put(f, (const uint8_t *)LOG_MAGIC, LOG_MAGIC_BYTES);
	if (!err) {
		b.length = (uint32_t)(buf.size - BLOCK_HEADER_BYTES);
		block_seal(&b, (uint8_t *)buf.data);
		err = put(f, (const uint8_t *)buf.data, buf.size);
		f->sequence = 1;
	}
	msgpack_sbuffer_destroy(&buf);
	return err;
}

/* A block with nothing but the event. */
static int write_end_event(struct file *f, uint64_t now_ns)
{
	uint8_t preamble[PREAMBLE_BYTES] = {0};
	struct sealed s = {
		.kind = BLOCK_KIND_PACKED, .events = 1, .first_ns = now_ns, .last_ns = now_ns};
	struct preamble p = {.first_ns = now_ns, .last_ns = now_ns};
	struct block b = {.kind = BLOCK_KIND_PACKED, .events = 1};
	static const char room[BLOCK_HEADER_BYTES + PREAMBLE_BYTES];
	msgpack_sbuffer buf;
	msgpack_packer pk;
	int err = -ENOMEM;

	msgpack_sbuffer_init(&buf);
	msgpack_packer_init(&pk, &buf, msgpack_sbuffer_write);
	if (msgpack_sbuffer_write(&buf, room, sizeof(room)) || msgpack_pack_array(&pk, 1) ||
	    msgpack_pack_uint64(&pk, now_ns) || msgpack_pack_array(&pk, 4) ||
	    msgpack_pack_uint64(&pk, EVENT_END) || msgpack_pack_uint64(&pk, 0) ||
	    msgpack_pack_uint64(&pk, 0) || msgpack_pack_uint64(&pk, END_REASON_DUMPED))
		goto out;
	p.raw_bytes = (uint32_t)(buf.size - sizeof(room));
	preamble_put(&p, preamble);
	memcpy(buf.data + BLOCK_HEADER_BYTES, preamble, sizeof(preamble));
	b.length = (uint32_t)(buf.size - BLOCK_HEADER_BYTES);
	block_seal(&b, (uint8_t *)buf.data);
	s.bytes = (const uint8_t *)buf.data;
	s.count = buf.size;
	err = write_block(f, &s);
out:
	msgpack_sbuffer_destroy(&buf);
	return err;
}

static int write_part(struct file *f, const struct taken *t, bool first)
{
	const struct kept_block *b = t->last ? t->part->first : NULL;
	int err = 0;

	while (b && !err) {
		if (first || !(b->sealed.flags & BLOCK_SYNC))
			err = write_block(f, &b->sealed);
		b = b == t->last ? NULL : b->next;
	}
	return err;
}

static int write_log(struct file *f, const struct flight_take *t, const struct flight_file *file)
{
	uint8_t end[BLOCK_HEADER_BYTES + LOG_END_BYTES];
	struct sealed s;
	json_t *header;
	int err = header_make(t, file, &header);

	if (err)
		return err;
	err = log_index_begin(&f->index, 0);
	if (!err)
		err = write_header(f, header);
	json_decref(header);
	for (unsigned i = 0; i < t->count && !err; i++)
		err = write_part(f, &t->parts[i], !i);
	if (!err && !file->ended)
		err = write_end_event(f, t->to_ns);
	if (!err)
		err = write_index(f);
	if (err)
		return err;
	log_end_seal(f->last_index, f->sequence, end, &s);
	err = put(f, s.bytes, s.count);
	return err || !fsync(f->fd) || errno == EINVAL || errno == EROFS ? err : -errno;
}

static const char *name_in_folder(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Gives it the first name that is free. */
static int give_name(int dir, const char *temporary, const char *path, char **ret)
{
	int err = -EEXIST;
	const char *name;
	char *part;

	for (uint32_t n = 1; n <= NUMBERS_MAX && err == -EEXIST; n++) {
		part = output_part_path(path, n);
		if (!part)
			return -ENOMEM;
		name = name_in_folder(part);
		err = renameat2(dir, temporary, dir, name, RENAME_NOREPLACE) ? -errno : 0;
		if (err == -EINVAL) /* not every file system can do this */
			err = linkat(dir, temporary, dir, name, 0) ? -errno : 0;
		if (!err)
			*ret = part;
		else
			free(part);
	}
	return err;
}

/* With mode 0600. *ret_name is freed with free(). */
static int open_temporary(int dir, const char *path, char **ret_name, int *ret)
{
	const char *name = name_in_folder(path);
	char *begin;
	int err;

	if (asprintf(&begin, "%.*s.writing-", (int)output_part_stem(name), name) < 0)
		return -ENOMEM;
	err = file_create_unique(dir, begin, CREATE_MODE, ret_name, ret);
	free(begin);
	return err;
}

static int write_in(int dir, struct file *f, const struct flight_take *t, const char *path,
		    const struct flight_file *file, char **ret_path)
{
	char *temporary;
	int err = open_temporary(dir, path, &temporary, &f->fd);

	if (err)
		return err;
	err = write_log(f, t, file);
	if (close(f->fd) && !err && errno != EINTR)
		err = -errno;
	if (!err)
		err = give_name(dir, temporary, path, ret_path);
	unlinkat(dir, temporary, 0);
	free(temporary);
	return err;
}

int flight_take_write(const struct flight_take *t, const char *path, const struct flight_file *file,
		      char **ret_path, uint64_t *ret_bytes)
{
	struct file f = {.fd = -1};
	int dir, err = file_folder(path, &dir);

	if (err)
		return err;
	log_index_init(&f.index);
	err = write_in(dir, &f, t, path, file, ret_path);
	if (!err)
		*ret_bytes = f.offset;
	log_index_free(&f.index);
	free(f.bytes);
	close(dir);
	return err;
}
