/* analyze/threads/pool.h: threads of one kind, found by their names. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum thread_group {
	THREAD_GROUP_JAVA,
	THREAD_GROUP_GC,
	THREAD_GROUP_COMPILER,
	THREAD_GROUP_VM,     /* HotSpot's other threads */
	THREAD_GROUP_NATIVE, /* of libraries, and the launcher's first thread */
	THREAD_GROUP_COUNT,
};

/* java: it has a Thread object. The name may be the kernel's, which is cut to 15 bytes. */
enum thread_group thread_group_of(const char *name, bool java);
/* "java", "gc", "compiler", "vm", "native": as in JSON. Static. */
const char *thread_group_name(enum thread_group group);

struct pool_thread {
	const char *name;
	enum thread_group group;
};

/*
 * Threads of one group whose names are the same, or the same but for one number ("*" in the pool's
 * name): one that stands between separators or at the end of the name. Of several numbers the one
 * whose change finds most threads counts, the last of them if they are equal. Where no single
 * number will do, all of them may differ. A thread that is like no other is a pool of its own.
 */
struct pool {
	char *name;
	enum thread_group group;
	uint32_t threads;
};

struct pools {
	struct pool *pools; /* by group, then by name */
	uint32_t count;
	uint32_t *of; /* by thread, in the order of pools_make: the index of its pool */
};

/* 0, and *ret is to be freed; or -ENOMEM. */
int pools_make(const struct pool_thread *threads, uint32_t count, struct pools *ret);
void pools_free(struct pools *p);
