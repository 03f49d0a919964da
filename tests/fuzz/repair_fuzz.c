/* Checks and repairs any bytes as a log: what comes out is sound, and has nothing in it that was not there, but notes
 * of what was lost. A sound log comes out as it was. */
#include "log/check/check.h"
#include "log/check/log_repair.h"
#include "log_mutate.h"
#include "log_read.h"

/* What a repair writes of its own. */
static bool is_no_note(const struct event *e)
{
	return e->id != EVENT_NOTE && e->id != EVENT_LOST;
}

static void tell(void *ctx, const struct check_finding *f)
{
	uint64_t *count = ctx;

	ENSURE(f->text[0] && memchr(f->text, 0, sizeof(f->text)));
	++*count;
}

/* A file with a name: what has none cannot be written by that. */
static const char *output_path(void)
{
	static char path[256];
	const char *folder = getenv("TMPDIR");

	snprintf(path, sizeof(path), "%s/spoor-fuzz-%d.spoor", folder ? folder : "/tmp", (int)getpid());
	return path;
}

static void repaired_check(const char *from, const struct log_check *before, const struct log_repair *done)
{
	bool whole = !before->damage && !before->blocks_other;
	struct reading_options o = {.jobs = 1, .keep = true, .wanted = whole ? NULL : is_no_note};
	const char *path = output_path();
	struct reading was, is;
	struct log_check after;

	ENSURE(!log_check(path, NULL, NULL, &after));
	ENSURE(!after.damage && !after.blocks_damaged && !after.blocks_missing && !after.bytes_skipped);
	ENSURE(after.bytes == done->bytes);
	is = log_read(&path, 1, &o);
	ENSURE(!is.open && !is.end);
	was = log_read(&from, 1, &o);
	if (!before->damage)
		ENSURE(!was.open && !was.end);
	if (whole) {
		same_reading(&is, &was);
		ENSURE(!done->blocks_dropped && !done->holes);
	} else if (!was.open && !before->blocks_sync) {
		part_of(&is, &was);
	}
	free(is.digests);
	free(was.digests);
	log_check_free(&after);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct log_repair_options o = {.overwrite = true, .spoor = "0"};
	char path[PATH_ROOM];
	int fd = file_of(data, size, path), err;
	struct log_check sum;
	struct log_repair done;
	uint64_t told = 0;

	fuzz_memory_begin();
	err = log_check(path, tell, &told, &sum);
	fuzz_memory_end(READ_PIECE_BYTES, READ_BYTES);
	ENSURE(!err || err == -EPROTO || err == -ENOTSUP);
	if (!err) {
		ENSURE(told <= sum.damage + sum.doubts);
		o.path = path;
		o.output = output_path();
		err = log_repair(&o, &sum, &done);
		if (!err)
			repaired_check(path, &sum, &done);
		ENSURE(!err || (err == -EINVAL && sum.header));
		unlink(o.output);
		log_check_free(&sum);
	}
	close(fd);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	return log_mutate(data, size, max, seed, 0);
}
