/*
 * Takes any bytes for records of the ring buffer: what comes out of them is a sound log. A record is its size (two
 * bytes, of which the lower ten bits count) and its bytes; the kind is brought into range, so that most have one.
 */
#include <fcntl.h>
#include <linux/types.h>
#include <unistd.h>

#include "bpf/wire/wire_kinds.h"
#include "fuzz.h"
#include "log/check/check.h"
#include "log/write/writer.h"
#include "record/decode/chains.h"
#include "record/decode/translate.h"
#include "record/identity/ids.h"

#define SIZE_MASK 1023

static void records_add(struct translate *t, const uint8_t *data, size_t size)
{
	while (size > 2) {
		size_t n = (data[0] | (size_t)data[1] << 8) & SIZE_MASK;
		struct wire_head *record;

		data += 2;
		size -= 2;
		if (n > size)
			n = size;
		/* A copy of exactly this size, aligned as the ring's are: ASan sees a step beyond. */
		record = malloc(n ? n : 1);
		ENSURE(record);
		memcpy(record, data, n);
		if (n >= sizeof(*record))
			record->kind %= WIRE_KIND_COUNT + 1;
		translate_record(t, record, n);
		free(record);
		data += n;
		size -= n;
		if (n % 7 == 0)
			translate_flush(t, n);
	}
	translate_flush(t, UINT64_MAX);
}

static const char *output_path(void)
{
	static char path[256];
	const char *folder = getenv("TMPDIR");

	snprintf(path, sizeof(path), "%s/spoor-ring-%d.spoor", folder ? folder : "/tmp",
		 (int)getpid());
	return path;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct log_writer_options options = {.path = output_path(), .overwrite = true};
	json_t *header = json_object();
	struct chains *chains = NULL;
	struct translate *t = NULL;
	struct log_writer *w = NULL;
	struct ids *ids = NULL;
	struct log_check sum;
	uint32_t epoch = 0;

	ENSURE(header && !log_writer_open(&options, header, &w));
	json_decref(header);
	ENSURE(!ids_new(w, NULL, &ids) && !chains_new(w, NULL, &epoch, &chains));
	ENSURE(!translate_new(ids, chains, w, &t));
	records_add(t, data, size);
	ENSURE(!ids_error(ids) && !chains_error(chains));
	translate_free(t);
	chains_free(chains);
	ids_free(ids);
	ENSURE(!log_writer_close(w));
	ENSURE(!log_check(options.path, NULL, NULL, &sum));
	ENSURE(!sum.damage && !sum.blocks_damaged && !sum.blocks_missing);
	log_check_free(&sum);
	unlink(options.path);
	return 0;
}
