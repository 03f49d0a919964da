#include "cmd/read/replay/heap_log_facts.h"

#include <errno.h>
#include <string.h>

#include "log/format/header_fields.h"
#include "log/read/names.h"
#include "log/read/reader.h"

static struct heap_spaces spaces_of(const json_t *header)
{
	static const char *const collectors[HEAP_OTHER] = {
		[HEAP_SERIAL] = "Serial", [HEAP_PARALLEL] = "Parallel", [HEAP_G1] = "G1"};
	const char *collector = header_collector(header);
	struct heap_spaces s = {
		.collector = HEAP_OTHER,
		.heap_bytes = header_flag(header, "MaxHeapSize"),
		.young_bytes = header_flag(header, "MaxNewSize"),
		.region_bytes = header_flag(header, "G1HeapRegionSize"),
		.threads = header_flag(header, "ParallelGCThreads"),
	};

	for (int i = 0; i < HEAP_OTHER; i++)
		if (!strcmp(collector, collectors[i]) &&
		    (i == HEAP_G1 ? s.region_bytes : s.young_bytes))
			s.collector = (enum heap_collector)i;
	return s;
}

/* What the log has of them, though parts of it are missing. */
static int read_names(struct log_reader *reader, struct heap_log_facts *f)
{
	const struct event *e;
	int err = 0;

	f->names = log_names_new();
	if (!f->names)
		return -ENOMEM;
	log_reader_definitions(reader);
	while (!err && (err = log_reader_next(reader, &e)) == 1)
		err = log_names_add(f->names, e);
	return err == -EBADMSG ? 0 : err;
}

int heap_log_facts_read(const char *log, bool names, struct heap_log_facts *ret)
{
	struct log_reader *reader;
	int err;

	*ret = (struct heap_log_facts){.spaces.collector = HEAP_OTHER};
	err = log_reader_open(log, &reader);
	if (err)
		return err;
	ret->spaces = spaces_of(log_reader_header(reader));
	if (names)
		err = read_names(reader, ret);
	log_reader_close(reader);
	return err;
}

void heap_log_facts_free(struct heap_log_facts *f)
{
	log_names_free(f->names);
	*f = (struct heap_log_facts){0};
}

const char *heap_log_thread(const void *ctx, int64_t java_tid)
{
	const struct heap_log_facts *f = ctx;
	unsigned i = f->names ? log_names_count(f->names, LOG_NAMES_THREAD) : 0;

	while (i-- > 0) {
		const struct log_thread *t =
			log_names_thread(f->names, log_names_id(f->names, LOG_NAMES_THREAD, i));

		if (t && t->java_id == (uint64_t)java_tid)
			return t->name;
	}
	return NULL;
}
