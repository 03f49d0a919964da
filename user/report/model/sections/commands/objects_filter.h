/* report/model/sections/commands/objects_filter.h: which objects spoor objects is about: --from,
 * --to, --where, and the parts that --by puts them into. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/condition.h"
#include "heap/replay/object_choice.h"
#include "report/model/sections/commands/objects_report.h"

struct log_names;
struct object_collection;
struct objects_filter;
struct objects_spans;

struct objects_filter_options {
	enum objects_by by;
	const struct condition *where; /* NULL: all */
	uint64_t from_ns, to_ns;       /* births from the one time on, before the other */
	uint64_t begin_ns;             /* of the recording: that of second 0 */
	const struct object_replay *replay;
	const struct log_names *names;     /* of threads; NULL: there are none */
	const struct objects_spans *spans; /* finished; NULL: there are none */
};

struct objects_second {
	int64_t second; /* since the recording began */
	uint64_t count, bytes;
};

/* As condition_parse(). */
int objects_where_parse(const char *text, struct condition **ret,
			char error[CONDITION_ERROR_MAX]);
/* True: the condition is about spans. */
bool objects_where_has_spans(const struct condition *where);

/* What o has is lent until objects_filter_free. NULL: no memory. */
struct objects_filter *objects_filter_new(const struct objects_filter_options *o);
void objects_filter_free(struct objects_filter *f);
/* For object_replay_choose(). */
const struct object_choice *objects_filter_choice(const struct objects_filter *f);
/* After the replay: 0, or -ENOMEM: some objects have been left out. */
int objects_filter_error(const struct objects_filter *f);
const struct objects_filter_options *objects_filter_options(const struct objects_filter *f);

/* A collection within the time that is asked for. */
bool objects_filter_has(const struct objects_filter *f, const struct object_collection *c);
/* How many spans have begun that the part is made of. */
uint64_t objects_filter_spans(const struct objects_filter *f, uint32_t part);
/* Sorts them. Lent. */
const struct objects_second *objects_filter_seconds(struct objects_filter *f, uint32_t *ret_count);
/* "GET /cart", "16 to 31", "in a TLAB". Returns buf. */
char *objects_part_text(const struct objects_filter *f, uint32_t part, char *buf, size_t size);
