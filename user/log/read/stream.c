#include "log/read/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/tables/array.h"
#include "log/read/prefix_sums.h"

int stream_open(struct stream *s, const char *path)
{
	struct stat st;
	int err;

	*s = (struct stream){.fd = -1, .size = UINT64_MAX, .chunk = STREAM_CHUNK};
	if (strcmp(path, "-"))
		s->fd = open(path, O_RDONLY | O_CLOEXEC);
	else
		s->fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (s->fd < 0 || fstat(s->fd, &st)) {
		err = -errno;
		stream_close(s);
		return err;
	}
	/* A device may give for ever. */
	if (strcmp(path, "-") && (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode))) {
		stream_close(s);
		return -EPROTO;
	}
	if (S_ISREG(st.st_mode)) {
		off_t at = strcmp(path, "-") ? 0 : lseek(s->fd, 0, SEEK_CUR);

		s->seekable = true;
		s->size = (uint64_t)st.st_size;
		s->offset = at > 0 ? (uint64_t)at : 0;
	}
	return 0;
}

void stream_close(struct stream *s)
{
	if (s->fd >= 0)
		close(s->fd);
	free(s->bytes);
	prefix_sums_free(s->sums);
	*s = (struct stream){.fd = -1};
}

/* Room for count bytes from the next one on; for a chunk, if there is one and that is more. */
static int reserve(struct stream *s, size_t count)
{
	uint64_t left = s->size - s->offset;
	size_t chunk = left < STREAM_CHUNK ? (size_t)left : STREAM_CHUNK;
	size_t capacity = count > chunk ? count : chunk;

	if (s->capacity - s->at >= capacity)
		return 0;
	/* Where each byte may begin a block, what is moved is paid for by as many bytes passed. */
	if (s->sums)
		capacity *= 2;
	if (s->at)
		memmove(s->bytes, s->bytes + s->at, s->filled - s->at);
	s->filled -= s->at;
	s->at = 0;
	return bytes_reserve(&s->bytes, &s->capacity, capacity);
}

/* Once; how much it gives is what the file has. */
static ssize_t read_more(struct stream *s, size_t count)
{
	size_t have = s->filled - s->at;
	size_t room = s->capacity - s->filled;
	uint64_t left = s->size - s->offset - have;
	uint8_t *to = s->bytes + s->filled;

	count = count > s->chunk ? count : s->chunk;
	count = count < room ? count : room;
	count = count < left ? count : (size_t)left;
	if (!count)
		return 0;
	return s->seekable ? pread(s->fd, to, count, (off_t)(s->offset + have))
			   : read(s->fd, to, count);
}

int stream_need(struct stream *s, size_t count)
{
	ssize_t n;
	int err;

	if (s->filled - s->at >= count)
		return 1;
	err = reserve(s, count);
	if (err)
		return err;
	while (s->filled - s->at < count && !s->ended) {
		n = read_more(s, count - (s->filled - s->at));
		if (n < 0 && errno != EINTR)
			return -errno;
		s->ended = !n;
		s->filled += n > 0 ? (size_t)n : 0;
	}
	return s->filled - s->at >= count;
}

static void advance(struct stream *s, size_t count)
{
	s->at += count;
	s->offset += count;
}

int stream_seek(struct stream *s, uint64_t offset)
{
	size_t have = s->filled - s->at;
	int err;

	while (offset >= s->offset && offset - s->offset > have) {
		if (s->seekable)
			break;
		advance(s, have);
		err = stream_need(s, 1);
		if (err <= 0)
			return err;
		have = s->filled - s->at;
	}
	if (offset >= s->offset && offset - s->offset <= have) {
		advance(s, (size_t)(offset - s->offset));
		return 0;
	}
	if (!s->seekable)
		return -ESPIPE;
	s->at = s->filled = 0;
	s->offset = offset < s->size ? offset : s->size;
	s->ended = false;
	if (s->sums)
		prefix_sums_restart(s->sums, s->offset);
	return 0;
}

/*
 * The first block that is not what it looks like costs its length; from then on, checksums are
 * derived from those of all bytes up to an offset, which are taken once for each byte: garbage can
 * be full of heads that claim 16 MiB each.
 */
static int is_sound(struct stream *s, const struct block *b)
{
	const uint8_t *bytes = stream_bytes(s);
	int err;

	if (!s->sums) {
		if (block_is_sound(bytes))
			return 1;
		err = prefix_sums_new(s->offset, &s->sums);
		if (err)
			return err;
	}
	return prefix_sums_check(s->sums, bytes, s->offset, b);
}

/* 1: there is an intact block. 0: there is none, of those that could begin here. */
static int block_here(struct stream *s, uint32_t least_sequence, struct block *ret)
{
	int err = stream_need(s, BLOCK_HEADER_BYTES);

	if (err <= 0)
		return err;
	if (block_parse(stream_bytes(s), ret) || ret->sequence < least_sequence ||
	    ret->length > s->size - s->offset - BLOCK_HEADER_BYTES)
		return 0;
	err = stream_need(s, BLOCK_HEADER_BYTES + ret->length);
	if (err <= 0)
		return err;
	ret->payload = stream_bytes(s) + BLOCK_HEADER_BYTES;
	return is_sound(s, ret);
}

/* To the next offset where a block may begin. 1: there is one. 0: the end. */
static int scan(struct stream *s)
{
	const uint8_t *found;
	int err;

	while ((err = stream_need(s, 4)) == 1) {
		found = block_find(stream_bytes(s), s->filled - s->at);
		if (found) {
			advance(s, (size_t)(found - stream_bytes(s)));
			return 1;
		}
		advance(s, s->filled - s->at - 3);
	}
	if (!err)
		advance(s, s->filled - s->at);
	return err;
}

int stream_block(struct stream *s, uint32_t least_sequence, struct block *ret)
{
	uint64_t begin = s->offset;
	int err, more = 1;

	while (more == 1 && !(err = block_here(s, least_sequence, ret))) {
		if (s->filled > s->at)
			advance(s, 1);
		more = scan(s);
	}
	if (more < 0 || err < 0)
		return more < 0 ? more : err;
	if (s->offset > begin) {
		s->gaps++;
		s->gap_bytes += s->offset - begin;
	}
	if (!more)
		return 0;
	advance(s, BLOCK_HEADER_BYTES + ret->length);
	return 1;
}
