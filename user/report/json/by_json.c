#include "report/json/by_json.h"

#include <errno.h>

#include "analyze/contention/contention.h"
#include "analyze/registry/analysis.h"
#include "base/json_put.h"
#include "log/read/names.h"
#include "report/json/json_out.h"
#include "report/model/by_tree.h"
#include "report/model/chain.h"
#include "report/model/label.h"

static json_t *key_json(const struct labels *labels, const struct stacks *stacks,
			const struct group *g)
{
	const struct log_names *names = stacks_names(stacks);
	char buf[LABEL_MAX];

	switch (g->aspect) {
	case ASPECT_LOCK_CLASS:
		return json_pack("[s]", name_class(names, g->cell->lock));
	case ASPECT_LOCK:
		return json_pack("[ss]", name_class(names, g->cell->lock),
				 label_identity(labels, g->cell->lock, buf));
	case ASPECT_WAITER_THREAD:
		return json_pack("[s]", name_thread(names, g->cell->waiter, "(unknown)"));
	case ASPECT_OWNER_THREAD:
		return json_pack("[s]", name_thread(names, g->cell->holder, "(unknown)"));
	case ASPECT_GROUP:
		return json_pack("[s]", name_group(names, g->cell->lock, g->cell->monitor));
	case ASPECT_WAITER_STACK:
	case ASPECT_OWNER_STACK:
		return group_stack(stacks, g)
			       ? chain_json(stacks, group_stack(stacks, g))
			       : json_pack("[s]", label_group(labels, stacks, g, buf));
	case ASPECT_WAITER_METHOD:
	case ASPECT_OWNER_METHOD:
		return json_pack("[o]", group_method_json(stacks, g));
	case ASPECT_BEHIND:
		if (!g->cell->behind)
			return json_pack("[s]", "(none)");
		return json_pack("[ss]", name_class(names, g->cell->behind),
				 label_identity(labels, g->cell->behind, buf));
	case ASPECT_COUNT:
		break;
	}
	return json_array();
}

/* Names of threads need not be unique. */
static void set_thread(json_t **o, const struct log_names *names, const struct group *g)
{
	uint64_t thread = g->aspect == ASPECT_WAITER_THREAD  ? g->cell->waiter
			  : g->aspect == ASPECT_OWNER_THREAD ? g->cell->holder
							     : HOLDER_UNKNOWN;
	const struct log_thread *t =
		holder_is_thread(thread) ? log_names_thread(names, thread) : NULL;

	if (!t)
		return;
	json_put(o, "tid", json_integer((json_int_t)t->tid));
	json_put(o, "java_id", json_integer((json_int_t)t->java_id));
}

static json_t *split_json(const struct split *s)
{
	const uint64_t *of = s->reason_ns;
	json_t *reasons = json_pack(
		"{sIsIsIsIsIsIsI}", "lock_ns", (json_int_t)of[BLOCKED_REASON_LOCK], "wait_ns",
		(json_int_t)of[BLOCKED_REASON_WAIT], "park_ns", (json_int_t)of[BLOCKED_REASON_PARK],
		"sleep_ns", (json_int_t)of[BLOCKED_REASON_SLEEP], "io_ns",
		(json_int_t)of[BLOCKED_REASON_IO], "pause_ns", (json_int_t)of[BLOCKED_REASON_PAUSE],
		"other_ns", (json_int_t)split_other(s));

	return json_pack("{sIsIsIsIsIsIso}", "running_ns", (json_int_t)s->running_ns, "stolen_ns",
			 (json_int_t)s->stolen_ns, "runnable_ns", (json_int_t)s->runnable_ns,
			 "throttled_ns", (json_int_t)s->throttled_ns, "blocked_ns",
			 (json_int_t)s->blocked_ns, "not_split_ns", (json_int_t)s->unknown_ns,
			 "blocked", reasons);
}

static json_t *groups_json(const struct labels *labels, const struct stacks *stacks,
			   const struct group *parent)
{
	json_t *groups = json_array();

	for (uint32_t i = 0; i < parent->group_count; i++) {
		const struct group *g = &parent->groups[i];
		json_t *o = json_object();

		json_put(&o, "key", key_json(labels, stacks, g));
		set_thread(&o, stacks_names(stacks), g);
		json_put(&o, "count", json_integer((json_int_t)g->count));
		json_put(&o, "blocked_ns", json_integer((json_int_t)g->blocked_ns));
		json_put(&o, "max_ns", json_integer((json_int_t)g->max_ns));
		json_put(&o, "after_wait_count", json_integer((json_int_t)g->after_wait_count));
		json_put(&o, "after_wait_ns", json_integer((json_int_t)g->after_wait_ns));
		json_put(&o, "split", split_json(&g->split));
		json_put(&o, "groups", groups_json(labels, stacks, g));
		json_add(&groups, o);
	}
	return groups;
}

int by_json(const struct report_input *in, const enum aspect_id *by, unsigned depth, json_t **ret)
{
	const struct stacks *stacks = analysis_stacks(in->log->analysis);
	struct labels *labels = labels_new(stacks_names(stacks));
	json_t *o = json_object(), *aspects = json_array();
	struct group root = {0};
	int err = labels ? by_tree_make(in, by, depth, &root) : -ENOMEM;

	for (unsigned i = 0; i < depth; i++)
		json_add(&aspects, json_string(aspect_get(by[i])->name));
	json_put(&o, "by", aspects);
	if (!err) {
		json_put(&o, "total",
			 json_pack("{sIsIsIsI}", "count", (json_int_t)root.count, "blocked_ns",
				   (json_int_t)root.blocked_ns, "after_wait_count",
				   (json_int_t)root.after_wait_count, "after_wait_ns",
				   (json_int_t)root.after_wait_ns));
		json_put(&o, "groups", groups_json(labels, stacks, &root));
		err = o ? 0 : -ENOMEM;
	}
	groups_free(&root);
	labels_free(labels);
	if (err)
		json_decref(o);
	else
		*ret = o;
	return err;
}

int report_by_json(const struct report_input *in, const enum aspect_id *by, unsigned depth,
		   FILE *out)
{
	json_t *o;
	int err = by_json(in, by, depth, &o);

	if (err)
		return err;
	err = json_dump_write(o, out);
	json_decref(o);
	return err;
}
