/* heap/check/pool_check.h: the heap that object events make beside what the JVM says that its pools
 * hold, at the end of each collection. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "heap/snapshot/heap_spaces.h"

struct object_replay;

struct pool_check_options {
	struct heap_spaces spaces;
	/* G1: there may be objects of an archive of classes, which are in no event. */
	bool archive;
	/* Collections are left out when looking at the heap would take longer than all else. */
	bool thrifty;
};

/* What the JVM says, at some time. */
struct pool_sample {
	uint64_t time_ns, used_bytes;
};

enum pool_verdict {
	POOL_AGREES,
	POOL_DIFFERS,
	POOL_NO_FIGURES,   /* the JVM has said nothing of this collection, or that is lost */
	POOL_NOT_FOLLOWED, /* the heap is not known at its end */
	POOL_LEFT_OUT,     /* to save time */
	POOL_FAILED,       /* promotions failed: the pools count what has moved twice, or not */
	POOL_VERDICT_COUNT,
};

struct pool_check_row {
	enum pool_verdict verdict;
	uint64_t used_bytes;   /* says the JVM */
	uint64_t object_bytes; /* of the log */
	uint64_t gap_bytes;    /* before objects of a space and between them */
	uint64_t end_bytes;    /* after a space's last object: fillers may be there, at most */
	uint64_t copy_bytes;   /* likewise, of copies that threads have made in vain, at most */
	bool followed, told, left_out;
	bool failed;  /* promotions */
	bool resized; /* spaces may begin where the log does not say: gap_bytes is the most */
};

/* What there is to say of all collections of a log. */
struct pool_agreement {
	bool has_layout; /* else nothing was compared: how the heap is laid out is not known */
	uint64_t verdicts[POOL_VERDICT_COUNT];
};

struct pool_check {
	struct pool_check_options options;
	const struct object_replay *replay;
	struct pool_check_row *rows; /* by collection */
	uint32_t count, capacity;
	uint64_t bottom[8]; /* where spaces begin, as collections report; the newest first */
	unsigned bottom_count;
	uint64_t archive_bytes; /* inferred: what the JVM has more, always */
	uint64_t verdicts[POOL_VERDICT_COUNT];
	uint64_t walked;        /* objects that were looked at */
	uint64_t exact, most_more; /* of those that agree: to the byte; what the pools have more */
};

/* Watches the replay, of which nothing has been added. Both are lent until pool_check_free. */
void pool_check_begin(struct pool_check *c, const struct pool_check_options *o,
		      struct object_replay *r);
/* The replay is finished. samples: by time. 0 or -ENOMEM. */
int pool_check_finish(struct pool_check *c, const struct pool_sample *samples, uint32_t count);
void pool_check_free(struct pool_check *c);
/* Objects and gaps, and the archive: what the JVM should say at least. */
uint64_t pool_check_least(const struct pool_check *c, const struct pool_check_row *r);
/* What the JVM may say more than that. */
uint64_t pool_check_more(const struct pool_check_row *r);
