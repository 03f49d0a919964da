/* Reads a range of time of any bytes as a log, by its index if it has one. Input: from and to, 8 bytes each, then the
 * log. Of a log without damage only events come out that reading all of it gives. */
#include "log_mutate.h"
#include "log_read.h"

#define HEAD 16

/* Events of synchronization are passed over by who reads all. */
static bool has_sync(const uint8_t *data, size_t size)
{
	size_t at[BLOCKS_MAX + 1];
	unsigned count = blocks_find(data, size, at);

	if (count == BLOCKS_MAX)
		return true;
	while (count--)
		if (size - at[count] > BLOCK_HEADER_BYTES + 21 && data[at[count] + 20] == BLOCK_KIND_PACKED &&
		    data[at[count] + BLOCK_HEADER_BYTES + 21] & BLOCK_SYNC)
			return true;
	return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct reading_options o = {.jobs = 1, .keep = true};
	struct reading all, range, again;
	char path[PATH_ROOM];
	const char *paths[] = {path};
	int fd;

	if (size < HEAD)
		return 0;
	memcpy(&o.from_ns, data, 8);
	memcpy(&o.to_ns, data + 8, 8);
	if (o.to_ns < o.from_ns)
		o.to_ns = UINT64_MAX;
	fd = file_of(data + HEAD, size - HEAD, path);
	all = log_read(paths, 1, &o);
	o.limited = true;
	fuzz_memory_begin();
	range = log_read(paths, 1, &o);
	fuzz_memory_end(READ_PIECE_BYTES, READ_BYTES);
	ENSURE(range.open == all.open);
	if (!all.open && !all.end && !has_sync(data + HEAD, size - HEAD))
		part_of(&range, &all);
	if (!all.open && size % 4 == 0) {
		o.jobs = 3;
		again = log_read(paths, 1, &o);
		same_reading(&again, &range);
		free(again.digests);
	}
	free(all.digests);
	free(range.digests);
	close(fd);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	return log_mutate(data, size, max, seed, HEAD);
}
