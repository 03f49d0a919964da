/*
 * PKWARE's APPNOTE.TXT 6.3: the directory is at the end, and says where members are. What is before
 * the first member (a script, the head of a .jmod) moves all offsets by its length. Without zip64:
 * a jar of more than 65,535 members or 4 GB is refused.
 */
#include "heap/code/jar_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/tables/array.h"

#define END_BYTES 22
#define COMMENT_MAX 65535
#define ENTRY_BYTES 46
#define LOCAL_BYTES 30

struct jar {
	const uint8_t *bytes;
	size_t count;
	size_t at, end;  /* of the directory */
	uint64_t before; /* bytes before what offsets count from */
	uint32_t members;
	uint8_t *inflated;
	size_t capacity;
};

static uint32_t number(const uint8_t *at, unsigned bytes)
{
	uint32_t n = 0;

	while (bytes--)
		n = n << 8 | at[bytes];
	return n;
}

static int find_directory(struct jar *j)
{
	size_t most = j->count < END_BYTES + COMMENT_MAX ? j->count : END_BYTES + COMMENT_MAX;
	const uint8_t *end = j->bytes + j->count, *e;
	uint32_t bytes, offset;

	for (size_t back = END_BYTES; back <= most; back++) {
		e = end - back;
		if (number(e, 4) != 0x06054b50 || number(e + 20, 2) != back - END_BYTES)
			continue;
		bytes = number(e + 12, 4);
		offset = number(e + 16, 4);
		j->members = number(e + 10, 2);
		j->end = j->count - back;
		if (bytes > j->end || j->members == 0xffff || offset > j->end - bytes)
			return -EBADMSG;
		j->at = j->end - bytes;
		j->before = j->at - offset;
		return 0;
	}
	return -EBADMSG;
}

static bool ends_in(const char *name, uint32_t length, const char *end)
{
	size_t n = strlen(end);

	return length >= n && !memcmp(name + length - n, end, n);
}

static int inflate_all(struct jar *j, const uint8_t *from, size_t packed, size_t bytes)
{
	z_stream z = {.next_in = (Bytef *)from, .avail_in = (uInt)packed};
	int err;

	if (bytes_reserve(&j->inflated, &j->capacity, bytes + 1))
		return -ENOMEM;
	z.next_out = j->inflated;
	z.avail_out = (uInt)bytes + 1;
	err = inflateInit2(&z, -MAX_WBITS);
	if (err)
		return err == Z_MEM_ERROR ? -ENOMEM : -EBADMSG;
	err = inflate(&z, Z_FINISH);
	inflateEnd(&z);
	if (err == Z_MEM_ERROR)
		return -ENOMEM;
	return err == Z_STREAM_END && z.total_out == bytes ? 0 : -EBADMSG;
}

/* The bytes of the member of this entry. 0; -EBADMSG; -ENOMEM. */
static int member_read(struct jar *j, const uint8_t *entry, const uint8_t **ret, size_t *ret_bytes)
{
	uint64_t at = j->before + number(entry + 42, 4), packed = number(entry + 20, 4);
	uint32_t bytes = number(entry + 24, 4), method = number(entry + 10, 2);
	const uint8_t *local;

	if (at > j->at || j->at - at < LOCAL_BYTES || bytes > JAR_MEMBER_BYTES_MAX)
		return -EBADMSG;
	local = j->bytes + at;
	if (number(local, 4) != 0x04034b50)
		return -EBADMSG;
	at += LOCAL_BYTES + number(local + 26, 2) + number(local + 28, 2);
	if (at > j->at || j->at - at < packed)
		return -EBADMSG;
	*ret = j->bytes + at;
	*ret_bytes = bytes;
	if (!method)
		return packed == bytes ? 0 : -EBADMSG;
	if (method != 8)
		return -EBADMSG;
	if (packed < bytes / 1100) /* more than deflate can do */
		return -EBADMSG;
	*ret = NULL;
	return inflate_all(j, j->bytes + at, packed, bytes);
}

static int visit(struct jar *j, const uint8_t *entry, const char *name, struct jar_visitor *v)
{
	uint32_t length = number(entry + 28, 2);
	const uint8_t *member;
	size_t bytes;
	int err;

	if (!ends_in(name, length, ".class") && !ends_in(name, length, ".jar"))
		return 0;
	err = member_read(j, entry, &member, &bytes);
	if (err == -EBADMSG) {
		v->damaged++;
		return 0;
	}
	return err ? err : v->member(v->ctx, name, length, member ? member : j->inflated, bytes);
}

/* The next entry of the directory. */
static int visit_next(struct jar *j, struct jar_visitor *v)
{
	const uint8_t *entry = j->bytes + j->at;
	size_t room = j->end - j->at, length;
	int err;

	if (room < ENTRY_BYTES || number(entry, 4) != 0x02014b50)
		return -EBADMSG;
	length =
		ENTRY_BYTES + number(entry + 28, 2) + number(entry + 30, 2) + number(entry + 32, 2);
	if (room < length)
		return -EBADMSG;
	err = visit(j, entry, (const char *)entry + ENTRY_BYTES, v);
	j->at += length;
	return err;
}

int jar_file_each(const uint8_t *bytes, size_t count, struct jar_visitor *v)
{
	struct jar j = {.bytes = bytes, .count = count};
	int err = find_directory(&j);

	for (uint32_t i = 0; i < j.members && !err; i++)
		err = visit_next(&j, v);
	free(j.inflated);
	return err;
}
