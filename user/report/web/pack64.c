#include "report/web/pack64.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

#define PACKED_MAX 49152 /* a multiple of 3: only the last piece has padding */

struct pack64 {
	FILE *out;
	z_stream zlib;
	unsigned char packed[PACKED_MAX];
};

static void put(FILE *out, const unsigned char *bytes, size_t count)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < count; i += 3) {
		size_t more = count - i;
		uint32_t three = (uint32_t)bytes[i] << 16 |
				 (more > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
				 (more > 2 ? bytes[i + 2] : 0);

		putc(digits[three >> 18], out);
		putc(digits[three >> 12 & 63], out);
		putc(more > 1 ? digits[three >> 6 & 63] : '=', out);
		putc(more > 2 ? digits[three & 63] : '=', out);
	}
}

/* Writes what is full; at the end all. */
static void pack(struct pack64 *p, int flush)
{
	int status;

	do {
		status = deflate(&p->zlib, flush);
		if (!p->zlib.avail_out || (flush == Z_FINISH && status == Z_STREAM_END)) {
			put(p->out, p->packed, PACKED_MAX - p->zlib.avail_out);
			p->zlib.next_out = p->packed;
			p->zlib.avail_out = PACKED_MAX;
		} else if (!p->zlib.avail_in && flush != Z_FINISH) {
			break;
		}
	} while (status == Z_OK);
}

static ssize_t pack64_write(void *cookie, const char *text, size_t length)
{
	struct pack64 *p = cookie;
	size_t done = length < UINT32_MAX ? length : UINT32_MAX;

	p->zlib.next_in = (unsigned char *)text;
	p->zlib.avail_in = (uInt)done;
	pack(p, Z_NO_FLUSH);
	return (ssize_t)done;
}

static int pack64_close(void *cookie)
{
	struct pack64 *p = cookie;

	p->zlib.avail_in = 0;
	pack(p, Z_FINISH);
	deflateEnd(&p->zlib);
	free(p);
	return 0;
}

FILE *pack64_open(FILE *out)
{
	struct pack64 *p = calloc(1, sizeof(*p));
	FILE *packed = NULL;

	if (!p)
		return NULL;
	p->out = out;
	p->zlib.next_out = p->packed;
	p->zlib.avail_out = PACKED_MAX;
	if (deflateInit(&p->zlib, 6) != Z_OK) {
		free(p);
		return NULL;
	}
	packed = fopencookie(p, "w",
			     (cookie_io_functions_t){.write = pack64_write, .close = pack64_close});
	if (!packed) {
		deflateEnd(&p->zlib);
		free(p);
	}
	return packed;
}
