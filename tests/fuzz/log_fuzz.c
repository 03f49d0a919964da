/* Reads any bytes as a log: alone, with threads that decode ahead, and sorted; it must end, say the same each time, and
 * need little memory whatever the lengths in it are. */
#include "log/read/names.h"
#include "log/read/order.h"
#include "log_mutate.h"
#include "log_read.h"

static void read_names(const char *path, const struct reading *want)
{
	struct log_names *names = log_names_new();
	struct log_reader *r;
	const struct event *e;
	unsigned kind, i;

	ENSURE(names && !log_reader_open(path, &r));
	while (log_reader_next(r, &e) == 1)
		ENSURE(!log_names_add(names, e));
	for (kind = 0; kind < LOG_NAMES_KIND_COUNT; kind++) {
		ENSURE(log_names_count(names, kind) <= want->events);
		for (i = 0; i < log_names_count(names, kind); i++)
			ENSURE(log_names_id(names, kind, i));
	}
	log_reader_close(r);
	log_names_free(names);
}

static void read_sorted(const char *path, const struct reading *want)
{
	struct log_reader *r;
	struct log_order *o;
	const struct event *e;
	uint64_t events = 0;

	ENSURE(!log_reader_open(path, &r));
	ENSURE(!log_order_new(r, 1000000, &o));
	while (log_order_next(o, &e) == 1)
		events += event_digest(e) || 1;
	ENSURE(events == want->events);
	log_order_free(o);
	log_reader_close(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct reading alone, ahead;
	char path[PATH_ROOM];
	const char *paths[] = {path};
	int fd = file_of(data, size, path);

	fuzz_memory_begin();
	alone = log_read(paths, 1, &(struct reading_options){.jobs = 1});
	fuzz_memory_end(READ_PIECE_BYTES, READ_BYTES);
	if (!alone.open) {
		if (size % 4 == 0) {
			ahead = log_read(paths, 1, &(struct reading_options){.jobs = 3});
			same_reading(&alone, &ahead);
		}
		read_names(path, &alone);
		read_sorted(path, &alone);
	}
	close(fd);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	return log_mutate(data, size, max, seed, 0);
}
