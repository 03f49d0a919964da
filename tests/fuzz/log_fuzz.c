/* Reads any bytes as a log, twice and sorted: it must end and say the same each time. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "log/block.h"
#include "log/event.h"
#include "log/names.h"
#include "log/order.h"
#include "log/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);
/* Not there when the target is linked with a plain main() that only goes through the corpus. */
__attribute__((weak)) size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);

#define ENSURE(condition) ((condition) ? (void)0 : abort())

/* Everything in the event is looked at, so that the sanitizers see it too. */
static uint64_t digest(uint64_t sum, const struct event *e)
{
	const struct event_desc *desc = schema_event(e->id);
	const char *c;
	unsigned i;

	ENSURE(desc && e->field_count <= desc->field_count);
	sum = sum * 31 + e->id;
	sum = sum * 31 + e->thread;
	sum = sum * 31 + e->time_ns;
	for (i = 0; i < desc->field_count; i++) {
		if (desc->fields[i].type != FIELD_STR)
			sum = sum * 31 + e->v[i].u;
		else
			for (c = e->v[i].s; *c; c++)
				sum = sum * 31 + (unsigned char)*c;
	}
	return sum;
}

static uint64_t read_plain(const char *path, uint64_t *ret_events, int *ret_end)
{
	struct log_names *names = log_names_new();
	struct log_reader *r;
	struct log_reader_stats stats;
	const struct event *e;
	uint64_t sum = 0;
	unsigned kind, i;

	*ret_events = 0;
	*ret_end = log_reader_open(path, &r);
	if (*ret_end) {
		log_names_free(names);
		return 0;
	}
	ENSURE(json_is_object(log_reader_header(r)));
	while ((*ret_end = log_reader_next(r, &e)) == 1) {
		sum = digest(sum, e);
		ENSURE(!log_names_add(names, e));
		++*ret_events;
	}
	log_reader_stats(r, &stats);
	ENSURE(stats.events == *ret_events);
	ENSURE((*ret_end == 0) == !(stats.blocks_damaged || stats.blocks_missing));
	for (kind = 0; kind < LOG_NAMES_KIND_COUNT; kind++)
		for (i = 0; i < log_names_count(names, kind); i++)
			ENSURE(log_names_id(names, kind, i));
	log_reader_close(r);
	log_names_free(names);
	return sum;
}

static void read_sorted(const char *path, uint64_t want_events)
{
	struct log_reader *r;
	struct log_order *o;
	const struct event *e;
	uint64_t events = 0;

	if (log_reader_open(path, &r))
		return;
	ENSURE(!log_order_new(r, 1000000, &o));
	while (log_order_next(o, &e) == 1)
		events++;
	ENSURE(events == want_events);
	log_order_free(o);
	log_reader_close(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("log", MFD_CLOEXEC);
	uint64_t events, again;
	int end, end_again;
	char path[64];

	ENSURE(fd >= 0);
	ENSURE(!size || pwrite(fd, data, size, 0) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ENSURE(read_plain(path, &events, &end) == read_plain(path, &again, &end_again));
	ENSURE(events == again && end == end_again);
	read_sorted(path, events);
	close(fd);
	return 0;
}

/* Makes the blocks intact again: else their checksums would keep all changes from the decoder. */
static void seal_blocks(uint8_t *data, size_t size)
{
	uint8_t *at = memmem(data, size, "\xc1SPB", 4), *next, *end = data + size;
	struct block b = {0};

	for (; at && end - at >= BLOCK_HEADER_BYTES; at = next) {
		next = memmem(at + BLOCK_HEADER_BYTES, (size_t)(end - at) - BLOCK_HEADER_BYTES,
			      "\xc1SPB", 4);
		b.length = (uint32_t)((next ? next : end) - at) - BLOCK_HEADER_BYTES;
		memcpy(&b.events, at + 16, sizeof(b.events));
		memcpy(&b.kind, at + 20, sizeof(b.kind));
		block_seal(&b, at);
		b.sequence++;
	}
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	size = LLVMFuzzerMutate(data, size, max);
	if (seed % 4)
		seal_blocks(data, size);
	return size;
}
