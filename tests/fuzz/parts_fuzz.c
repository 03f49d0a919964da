/* Reads any bytes as files of one recording, one from each magic of a log on: they are put in order, whatever order
 * they are named in, what is missing makes sense, and reading them says the same each time. */
#include "log/read/set.h"
#include "log_mutate.h"
#include "log_read.h"

#define FILES_MAX 6

static unsigned files_of(const uint8_t *data, size_t size, char paths[FILES_MAX][PATH_ROOM], int fds[FILES_MAX])
{
	const uint8_t *at = data, *end = data + size, *next;
	unsigned count = 0;

	while (at && count < FILES_MAX) {
		next = end - at > LOG_MAGIC_BYTES ? memmem(at + 1, (size_t)(end - at) - 1, LOG_MAGIC, LOG_MAGIC_BYTES)
						  : NULL;
		fds[count] = file_of(at, (size_t)((next && count + 1 < FILES_MAX ? next : end) - at), paths[count]);
		count++;
		at = next;
	}
	return count;
}

static void holes_check(const struct log_set *s)
{
	const struct log_set_hole *holes;
	unsigned count = log_set_holes(s, &holes);

	for (unsigned i = 0; i < count; i++) {
		ENSURE(holes[i].first && holes[i].first <= holes[i].last);
		ENSURE(!i || holes[i].first > holes[i - 1].last);
	}
	for (unsigned i = 1; i < log_set_count(s); i++)
		ENSURE(log_set_file(s, i - 1)->part < log_set_file(s, i)->part);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char paths[FILES_MAX][PATH_ROOM];
	const char *forth[FILES_MAX], *back[FILES_MAX];
	int fds[FILES_MAX], err;
	unsigned count = files_of(data, size, paths, fds);
	struct log_set *a, *b;
	static struct log_set_error error; /* large */
	struct reading alone, ahead;

	for (unsigned i = 0; i < count; i++)
		forth[i] = back[count - 1 - i] = paths[i];
	err = log_set_open(forth, count, &a, &error);
	if (!err) {
		ENSURE(log_set_count(a) == count);
		holes_check(a);
		ENSURE(!log_set_open(back, count, &b, &error) && log_set_count(b) == count);
		for (unsigned i = 0; i < count; i++)
			ENSURE(log_set_file(a, i)->part == log_set_file(b, i)->part);
		fuzz_memory_begin();
		alone = log_read(log_set_paths(a), count, &(struct reading_options){.jobs = 1});
		fuzz_memory_end(READ_PIECE_BYTES, READ_BYTES);
		ahead = log_read(log_set_paths(b), count, &(struct reading_options){.jobs = 2});
		same_reading(&alone, &ahead);
		log_set_free(a);
		log_set_free(b);
	} else {
		ENSURE(memchr(error.why, 0, sizeof(error.why)));
	}
	while (count--)
		close(fds[count]);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	return log_mutate(data, size, max, seed, 0);
}
