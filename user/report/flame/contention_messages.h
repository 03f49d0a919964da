/* report/flame/contention_messages.h: contentions as a profile, in messages of
 * protobuf. */
#pragma once

#include "report/flame/export.h"
#include "report/protobuf/profile_format.h"

struct session_log;

struct contention_options {
	enum export_side side;
	const struct profile_format *format;
	bool exact;               /* a patched JVM has reported who held the locks */
	struct profile_head head; /* but for its values and what it is */
};

/* exact and head, as log has them. */
void contention_options_set(struct contention_options *o, const struct session_log *log);

/*
 * As export_collapsed(), with the numbers of contentions, too, and labels: "lock_class"; "thread",
 * of the chain; "owner" or "waiter", the other one; "owner_is": "recorded" by a patched JVM,
 * "inferred", "hand-over" or "unknown". A sample is a cell: the sums of both values are those of
 * all contentions that are exported. in->threads and in->locks are not looked at. 0 or -ENOMEM.
 */
int contention_messages(const struct export_input *in, const struct contention_options *o,
			FILE *out);
