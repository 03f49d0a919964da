#include "heap/image/dump_input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define ROOM (4 * DUMP_NEED_MAX)
#define GZIP_BITS (15 + 16)

struct dump_input {
	dump_read *read;
	void *ctx;
	uint8_t *bytes; /* ROOM; those from at to end are the next ones */
	size_t at, end;
	uint64_t before; /* bytes before bytes[0] */
	int err;
	uint8_t *packed; /* as it is read, of a compressed dump; NULL: it is not compressed */
	bool zip_open, zip_ended;
	z_stream zip;
};

/* One read: into to; 0: the end. */
static ssize_t read_some(struct dump_input *in, uint8_t *to, size_t room)
{
	ssize_t n;

	do
		n = in->read(in->ctx, to, room);
	while (n == -EINTR);
	return n;
}

/* JDK 15's -gz writes each megabyte as a gzip file of its own, one after the other (JDK-8237354).
 */
static int unpack_more(struct dump_input *in, size_t *ret)
{
	z_stream *z = &in->zip;
	int err = Z_OK;

	z->next_out = in->bytes + in->end;
	z->avail_out = (uInt)(ROOM - in->end);
	while (err == Z_OK && z->avail_out == ROOM - in->end) {
		if (!z->avail_in) {
			ssize_t n = read_some(in, in->packed, ROOM);

			if (n < 0)
				return (int)n;
			if (!n)
				return in->zip_ended ? -ENODATA : -EBADMSG;
			z->next_in = in->packed;
			z->avail_in = (uInt)n;
		}
		if (in->zip_ended && inflateReset(z) != Z_OK)
			return -EBADMSG;
		in->zip_ended = false;
		err = inflate(z, Z_NO_FLUSH);
		in->zip_ended = err == Z_STREAM_END;
		if (in->zip_ended)
			err = Z_OK;
	}
	*ret = ROOM - in->end - z->avail_out;
	if (err == Z_MEM_ERROR)
		return -ENOMEM;
	return *ret ? 0 : -EBADMSG;
}

static int read_more(struct dump_input *in)
{
	size_t count = 0;

	if (in->packed) {
		int err = unpack_more(in, &count);

		if (err)
			return err;
	} else {
		ssize_t n = read_some(in, in->bytes + in->end, ROOM - in->end);

		if (n <= 0)
			return n ? (int)n : -ENODATA;
		count = (size_t)n;
	}
	in->end += count;
	return 0;
}

static void make_room(struct dump_input *in)
{
	memmove(in->bytes, in->bytes + in->at, in->end - in->at);
	in->before += in->at;
	in->end -= in->at;
	in->at = 0;
}

const uint8_t *dump_need(struct dump_input *in, size_t count)
{
	if (in->end - in->at < count)
		make_room(in);
	while (!in->err && in->end - in->at < count)
		in->err = read_more(in);
	return in->end - in->at < count ? NULL : in->bytes + in->at;
}

/* What is at hand without reading, at least one byte; *ret_count is 0 at the end. */
static const uint8_t *some_bytes(struct dump_input *in, size_t *ret_count)
{
	const uint8_t *bytes = dump_need(in, 1);

	*ret_count = in->end - in->at;
	return bytes;
}

int dump_skip(struct dump_input *in, uint64_t count)
{
	while (count) {
		size_t some;

		if (!some_bytes(in, &some))
			return in->err;
		if (some > count)
			some = count;
		in->at += some;
		count -= some;
	}
	return 0;
}

int dump_error(const struct dump_input *in)
{
	return in->err;
}

uint64_t dump_offset(const struct dump_input *in)
{
	return in->before + in->at;
}

bool dump_is_gzip(const struct dump_input *in)
{
	return in->packed;
}

/* What has been read so far is compressed. */
static int unpack_begin(struct dump_input *in)
{
	in->packed = malloc(ROOM);
	if (!in->packed || inflateInit2(&in->zip, GZIP_BITS) != Z_OK)
		return -ENOMEM;
	in->zip_open = true;
	memcpy(in->packed, in->bytes, in->end);
	in->zip.next_in = in->packed;
	in->zip.avail_in = (uInt)in->end;
	in->end = 0;
	in->err = 0;
	return 0;
}

int dump_input_open(dump_read *read, void *ctx, struct dump_input **ret)
{
	struct dump_input *in = calloc(1, sizeof(*in));
	const uint8_t *magic;
	int err = 0;

	if (!in)
		return -ENOMEM;
	in->read = read;
	in->ctx = ctx;
	in->bytes = malloc(ROOM);
	if (!in->bytes)
		err = -ENOMEM;
	magic = err ? NULL : dump_need(in, 2);
	if (magic && magic[0] == 0x1f && magic[1] == 0x8b)
		err = unpack_begin(in);
	if (err)
		dump_input_close(in);
	else
		*ret = in;
	return err;
}

void dump_input_close(struct dump_input *in)
{
	if (!in)
		return;
	if (in->zip_open)
		inflateEnd(&in->zip);
	free(in->packed);
	free(in->bytes);
	free(in);
}
