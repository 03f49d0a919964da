/*
 * A log of a few KB can make an analysis need many GB: every number in it may be a new lock,
 * thread or name. What can grow by more than the log has bytes is bounded where it grows
 * (log/read/order.h, log/read/names.h, analyze/cells/cells.h); the rest is bounded here, by the
 * kernel. All code on the way copes without memory, as tests that let each allocation fail show:
 * so the limit ends as a message, and nothing is half-written.
 */
#include "session/max_memory.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define DEFAULT_BYTES (4ull << 30)
#define LEAST_BYTES (32ull << 20) /* less does not hold the threads that decode */

/* What a sanitizer maps for itself counts, too, and is more than any limit. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LIMITS 0
#else
#define LIMITS 1
#endif

static void limit(uint64_t bytes)
{
	struct rlimit r;

	if (!LIMITS || getrlimit(RLIMIT_DATA, &r))
		return;
	r.rlim_cur = bytes < r.rlim_max ? bytes : r.rlim_max;
	setrlimit(RLIMIT_DATA, &r);
}

void max_memory_default(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
	uint64_t half = pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size / 2 : UINT64_MAX;
	struct rlimit r;

	/* A lower one of the user's own holds. */
	if (getrlimit(RLIMIT_DATA, &r) || r.rlim_cur <= DEFAULT_BYTES)
		return;
	limit(half < DEFAULT_BYTES ? half : DEFAULT_BYTES);
}

int max_memory_set(uint64_t bytes)
{
	if (bytes < LEAST_BYTES)
		return -EINVAL;
	limit(bytes);
	return 0;
}

const char *max_memory_error(int err)
{
	if (err != -ENOMEM)
		return strerror(-err);
	return "out of memory: --from and --to read a part of the log, --max-memory allows more";
}
