#include "cmd/read/heap/object_range.h"

#include <errno.h>

#include "base/text/msg.h"
#include "cmd/read/log_options.h"
#include "cmd/read/replay/object_log.h"
#include "heap/replay/object_replay.h"

static bool is_collection(const char *arg, struct heap_moment *ret)
{
	return heap_moment_parse(arg, ret) &&
	       (ret->kind == MOMENT_GC_END || ret->kind == MOMENT_GC_BEGIN ||
		ret->kind == MOMENT_DUMP);
}

bool object_range_option(struct object_range *r, struct log_source *s, int key, const char *arg,
			 struct argp_state *state)
{
	bool from = key == RANGE_KEY_FROM;
	struct object_range_limit *limit = from ? &r->from : &r->to;
	struct heap_moment moment;

	if (!from && key != RANGE_KEY_TO)
		return log_source_option(s, key, arg, state);
	limit->text = NULL;
	if (!is_collection(arg, &moment))
		return log_source_option(s, key, arg, state);
	*limit = (struct object_range_limit){arg, moment};
	*(from ? &s->range.from : &s->range.to) = NULL;
	return true;
}

/* The time of the collection. */
static int find(const struct object_range_limit *l, const struct object_replay *r, const char *log,
		uint64_t *ret)
{
	struct heap_stop stop;
	uint32_t count;
	int err = heap_moment_find(&l->moment, r, log, &stop);
	const struct object_collection *c = object_replay_collections(r, &count);

	if (err)
		return err;
	c += stop.collection;
	*ret = stop.before || c->end_ns < c->begin_ns ? c->begin_ns : c->end_ns;
	return 0;
}

static int find_collections(struct object_range *r, const struct log_source *s)
{
	struct object_replay *replay = object_replay_new(0); /* without a heap */
	struct object_in_stats stats;
	const char *log = s->name;
	int err = replay ? object_log_replay_parts(s->set, s->jobs, replay, &stats) : -ENOMEM;

	if (err)
		msg_error("%s: cannot read its object events: %s", log, object_log_error(err));
	if (!err && r->from.text)
		err = find(&r->from, replay, log, &r->from_ns);
	if (!err && r->to.text)
		err = find(&r->to, replay, log, &r->to_ns);
	object_replay_free(replay);
	return err;
}

static const char *text_of(const struct object_range_limit *l, const char *time, const char *none)
{
	return l->text ? l->text : time ? time : none;
}

int object_range_resolve(struct object_range *r, const struct log_source *s)
{
	int err = 0;

	r->from_ns = s->range.from ? s->range.from_ns : 0;
	r->to_ns = s->range.to ? s->range.to_ns : UINT64_MAX;
	if (r->from.text || r->to.text)
		err = find_collections(r, s);
	if (err || r->from_ns < r->to_ns)
		return err;
	msg_error("nothing is between --from %s and --to %s",
		  text_of(&r->from, s->range.from, "0s"), text_of(&r->to, s->range.to, "the end"));
	return -EINVAL;
}
