/* Reads any text as files of /proc/PID: stat, maps, status. Numbers in them are the kernel's; names are anybody's. */
#include "fuzz.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/types.h>

#include "jvm/target/process.h"

struct seen {
	const char *text;
	size_t lines;
};

static void take(void *ctx, const struct process_lib *lib)
{
	struct seen *s = ctx;

	ENSURE(memchr(lib->path, 0, sizeof(lib->path)));
	ENSURE(s->lines-- > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Of exactly this size: ASan sees a step beyond. */
	char *text = malloc(size + 1);
	static struct process_lib lib; /* large */
	struct process_stat stat;
	struct seen seen;
	uint64_t code_kb;
	pid_t pid;

	ENSURE(text);
	if (size)
		memcpy(text, data, size);
	text[size] = 0;
	seen = (struct seen){text, 1};
	for (const char *c = text; *c; c++)
		seen.lines += *c == '\n';
	process_code_each(text, take, &seen);
	if (!process_maps_parse(text, "libjvm.so", &lib))
		ENSURE(memchr(lib.path, 0, sizeof(lib.path)));
	process_stat_parse(text, &stat);
	process_ns_pid_parse(text, &pid);
	process_code_parse(text, &code_kb);
	free(text);
	return 0;
}
