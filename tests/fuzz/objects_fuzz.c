/*
 * Any bytes as object events. As the body of a block: it is replayed, and told of in each way. As a
 * ring of a JVM: what is drained from it is a sound log. The first byte says which.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "log/check/check.h"
#include "log/format/block.h"
#include "log/format/object_record.h"
#include "log/objects/object_body.h"
#include "log/write/writer.h"
#include "record/objects/object_drain.h"
#include "record/objects/object_ring.h"
#include "report/model/sections/commands/objects_filter.h"
#include "report/model/sections/commands/objects_report.h"

#define RING_BYTES (64 * 1024)
#define HEAP_BYTES (1 << 20)

static void tell(const struct object_replay *r, struct objects_filter *f)
{
	struct objects_input in = {.replay = r, .filter = f, .top = 5};
	FILE *null = fopen("/dev/null", "w");

	ENSURE(null);
	for (int by = 0; by < OBJECTS_BY_COUNT; by++) {
		in.by = (enum objects_by)by;
		ENSURE(!report_objects_text(&in, null));
		ENSURE(!report_objects_json(&in, null));
	}
	fclose(null);
}

static void body(const uint8_t *data, size_t size)
{
	struct preamble p = {.raw_bytes = (uint32_t)size};
	uint8_t *payload = malloc(PREAMBLE_BYTES + size);
	struct block b = {.length = (uint32_t)(PREAMBLE_BYTES + size),
			  .events = UINT32_MAX,
			  .kind = BLOCK_KIND_OBJECTS,
			  .payload = payload};
	struct object_replay *r = object_replay_new(HEAP_BYTES);
	struct objects_filter_options fo = {.by = (enum objects_by)(size % OBJECTS_BY_COUNT),
					    .from_ns = size % 3,
					    .to_ns = UINT64_MAX,
					    .begin_ns = 1 << 30,
					    .replay = r};
	char error[CONDITION_ERROR_MAX];
	struct objects_filter *f;
	struct object_body o = {0};
	struct object_record record;
	struct condition *where;

	ENSURE(payload && r);
	ENSURE(!objects_where_parse("class=*a* or chain!=*b* and length=1? or tlab=no", &where, error));
	fo.where = size % 2 ? where : NULL;
	f = objects_filter_new(&fo);
	ENSURE(f);
	object_replay_choose(r, objects_filter_choice(f));
	preamble_put(&p, payload);
	memcpy(payload + PREAMBLE_BYTES, data, size);
	ENSURE(!object_body_open(&o, &b));
	while (object_body_next(&o, &record) == 1)
		ENSURE(!object_replay_add(r, &record));
	ENSURE(!object_replay_finish(r));
	ENSURE(!objects_filter_error(f));
	tell(r, f);
	objects_filter_free(f);
	condition_free(where);
	object_replay_free(r);
	object_body_free(&o);
	free(payload);
}

static const char *output_path(void)
{
	static char path[256];
	const char *folder = getenv("TMPDIR");

	snprintf(path, sizeof(path), "%s/spoor-objects-%d.spoor", folder ? folder : "/tmp",
		 (int)getpid());
	return path;
}

static void drain(const struct object_ring *ring)
{
	struct log_writer_options options = {.path = output_path(), .overwrite = true};
	json_t *header = json_object();
	struct log_writer *w;
	struct object_drain *d;
	struct log_check sum;

	ENSURE(header && !log_writer_open(&options, header, &w) && !object_drain_new(ring, w, &d));
	json_decref(header);
	for (int i = 0; i < 3; i++)
		object_drain_pass(d, (uint64_t)i);
	object_drain_finish(d, true, 4);
	/* The same bytes as a further ring. */
	ENSURE(!object_drain_again(d, ring));
	object_drain_pass(d, 5);
	object_drain_finish(d, true, 6);
	ENSURE(!object_drain_error(d));
	object_drain_free(d);
	ENSURE(!log_writer_close(w));
	ENSURE(!log_check(options.path, NULL, NULL, &sum) && !sum.damage);
	log_check_free(&sum);
	unlink(options.path);
}

static void ring(const uint8_t *data, size_t size)
{
	int fd = memfd_create("ring", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct object_ring r;

	ENSURE(fd >= 0 && !ftruncate(fd, RING_BYTES));
	ENSURE(pwrite(fd, data, size < RING_BYTES ? size : RING_BYTES, 0) >= 0);
	ENSURE(!fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK));
	if (!object_ring_map(fd, &r)) {
		drain(&r);
		object_ring_close(&r);
	}
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	if (*data & 1)
		ring(data + 1, size - 1);
	else
		body(data + 1, size - 1);
	return 0;
}
