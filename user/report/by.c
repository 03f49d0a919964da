/* The tree of --by, as text and as JSON. */
#include "report/report.h"

#include <errno.h>

#include "analyze/analysis.h"
#include "analyze/contention.h"
#include "log/names.h"
#include "report/by.h"
#include "report/chain.h"
#include "report/format.h"
#include "report/label.h"
#include "report/table.h"

#define INDENT 2
#define CALLERS_INDENT 4 /* more than what the chain's own groups have */
#define ROWS_MAX 20      /* of a chain, unless all are wanted */

static int make(const struct report_input *in, const enum aspect_id *by, unsigned depth,
		struct group *ret)
{
	const struct cell *cells;
	uint32_t count;

	cells = contention_cells(analysis_contention(in->analysis), &count);
	return (in->parked ? groups_make_parked : groups_make)(analysis_stacks(in->analysis), cells,
							       count, by, depth, ret);
}

struct tree {
	const struct report_input *in;
	const struct labels *labels;
	const struct stacks *stacks;
	struct table *table;
	uint64_t all_ns;
	bool after_wait; /* there is something to tell of it */
};

static void add_figures(const struct tree *t, const struct group *g, const char *max)
{
	char buf[FORMAT_MAX];

	table_add(t->table, "%s", count_format(g->count, buf));
	table_add(t->table, "%s", time_format(g->blocked_ns, buf));
	table_add(t->table, "%s", share_format(g->blocked_ns, t->all_ns, buf));
	table_add(t->table, "%s", max);
	if (t->after_wait)
		table_add(t->table, "%s",
			  g->after_wait_count ? time_format(g->after_wait_ns, buf) : "");
}

/* Callers have a row each, without figures. */
static void add_callers(const struct tree *t, struct chain *chain, unsigned level)
{
	int indent = (int)(level * INDENT + CALLERS_INDENT);
	char row[LABEL_MAX];
	unsigned rows = 1, more = 0;

	while (chain_next(chain, row)) {
		if (rows++ >= ROWS_MAX && !t->in->full && !chain->end) {
			more++;
			continue;
		}
		if (more)
			break;
		table_add(t->table, "%*s%s", indent, "", row);
		table_end_row(t->table);
	}
	if (!more)
		return;
	table_add(t->table, "%*s... %u more%s%s", indent, "", more, chain->end ? " " : "",
		  chain->end ? row : "");
	table_end_row(t->table);
}

static void add_groups(const struct tree *t, const struct group *parent, unsigned level)
{
	uint32_t shown = parent->group_count < t->in->top ? parent->group_count : t->in->top;
	char label[LABEL_MAX], max[FORMAT_MAX];
	struct group rest = {0};

	for (uint32_t i = 0; i < parent->group_count; i++) {
		const struct group *g = &parent->groups[i];
		struct chain chain = {.stacks = t->stacks,
				      .stack = group_stack(t->stacks, g),
				      .full = t->in->full};

		if (i >= shown) {
			rest.blocked_ns += g->blocked_ns;
			rest.count += g->count;
			rest.after_wait_ns += g->after_wait_ns;
			rest.after_wait_count += g->after_wait_count;
			continue;
		}
		if (!chain_next(&chain, label))
			label_group(t->labels, t->stacks, g, label);
		table_add(t->table, "%*s%s", (int)(level * INDENT), "", label);
		add_figures(t, g, time_format(g->max_ns, max));
		add_callers(t, &chain, level);
		add_groups(t, g, level + 1);
	}
	if (shown == parent->group_count)
		return;
	table_add(t->table, "%*s(%u more)", (int)(level * INDENT), "", parent->group_count - shown);
	add_figures(t, &rest, "");
}

/* Names of methods are not cut: the end matters, and so does the beginning. */
static bool has_methods(const enum aspect_id *by, unsigned depth)
{
	while (depth-- > 0) {
		if (by[depth] >= ASPECT_WAITER_STACK && by[depth] != ASPECT_BEHIND)
			return true;
	}
	return false;
}

int report_by_text(const struct report_input *in, const enum aspect_id *by, unsigned depth,
		   FILE *out)
{
	char title[256];
	const struct table_column columns[] = {
		{title, true, 40, has_methods(by, depth) ? 0 : 72, false},
		{"count", false, 9, 0, false},
		{in->parked ? "parked" : "blocked", false, 8, 0, false},
		{"share", false, 7, 0, false},
		{"max", false, 8, 0, false},
		{"after wait", false, 8, 0, false}};
	struct labels *labels = labels_new(analysis_names(in->analysis));
	struct group root = {0};
	int err = labels ? make(in, by, depth, &root) : -ENOMEM;
	struct table *table = table_new(columns, root.after_wait_count ? 6 : 5);
	struct tree tree = {in,    labels,          analysis_stacks(in->analysis),
			    table, root.blocked_ns, root.after_wait_count};
	char buf[FORMAT_MAX];
	size_t length = 0;

	*title = '\0';
	for (unsigned i = 0; i < depth && length < sizeof(title); i++)
		length += (size_t)snprintf(title + length, sizeof(title) - length, "%s%s",
					   i ? " > " : "", aspect_get(by[i])->name);
	if (!err) {
		table_add(table, in->parked ? "all parking" : "all contentions");
		add_figures(&tree, &root, time_format(root.max_ns, buf));
		add_groups(&tree, &root, 1);
		err = table_print(table, 0, out);
	}
	groups_free(&root);
	table_free(table);
	labels_free(labels);
	return err;
}

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
static void set_thread(json_t *o, const struct log_names *names, const struct group *g)
{
	uint64_t thread = g->aspect == ASPECT_WAITER_THREAD  ? g->cell->waiter
			  : g->aspect == ASPECT_OWNER_THREAD ? g->cell->holder
							     : HOLDER_UNKNOWN;
	const struct log_thread *t =
		holder_is_thread(thread) ? log_names_thread(names, thread) : NULL;

	if (!t)
		return;
	json_object_set_new(o, "tid", json_integer((json_int_t)t->tid));
	json_object_set_new(o, "java_id", json_integer((json_int_t)t->java_id));
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

		json_object_set_new(o, "key", key_json(labels, stacks, g));
		set_thread(o, stacks_names(stacks), g);
		json_object_set_new(o, "count", json_integer((json_int_t)g->count));
		json_object_set_new(o, "blocked_ns", json_integer((json_int_t)g->blocked_ns));
		json_object_set_new(o, "max_ns", json_integer((json_int_t)g->max_ns));
		json_object_set_new(o, "after_wait_count",
				    json_integer((json_int_t)g->after_wait_count));
		json_object_set_new(o, "after_wait_ns", json_integer((json_int_t)g->after_wait_ns));
		json_object_set_new(o, "split", split_json(&g->split));
		json_object_set_new(o, "groups", groups_json(labels, stacks, g));
		if (json_array_append_new(groups, o)) {
			json_decref(groups);
			return NULL;
		}
	}
	return groups;
}

/* jansson's setters take NULL for an error of the value's maker: only what is missing at the end
 * tells. */
static bool group_complete(const json_t *group)
{
	const json_t *groups = json_object_get(group, "groups"), *g;
	size_t i;

	json_array_foreach (groups, i, g) {
		if (json_object_size(g) < 8 || !group_complete(g))
			return false;
	}
	return groups;
}

int by_json(const struct report_input *in, const enum aspect_id *by, unsigned depth, json_t **ret)
{
	const struct stacks *stacks = analysis_stacks(in->analysis);
	struct labels *labels = labels_new(stacks_names(stacks));
	json_t *o = json_object(), *aspects = json_array();
	struct group root = {0};
	int err = labels && o && aspects ? make(in, by, depth, &root) : -ENOMEM;

	for (unsigned i = 0; i < depth && !err; i++)
		err = json_array_append_new(aspects, json_string(aspect_get(by[i])->name)) ? -ENOMEM
											   : 0;
	if (!err) {
		json_object_set(o, "by", aspects);
		json_object_set_new(o, "total",
				    json_pack("{sIsIsIsI}", "count", (json_int_t)root.count,
					      "blocked_ns", (json_int_t)root.blocked_ns,
					      "after_wait_count", (json_int_t)root.after_wait_count,
					      "after_wait_ns", (json_int_t)root.after_wait_ns));
		json_object_set_new(o, "groups", groups_json(labels, stacks, &root));
		err = json_object_size(o) == 3 && group_complete(o) ? 0 : -ENOMEM;
	}
	json_decref(aspects);
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
