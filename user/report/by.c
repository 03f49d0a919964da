/* The tree of --by, as text and as JSON. */
#include "report/report.h"

#include <errno.h>

#include "analyze/analysis.h"
#include "analyze/contention.h"
#include "log/names.h"
#include "report/by.h"
#include "report/format.h"
#include "report/label.h"
#include "report/table.h"

#define INDENT 2

static int make(const struct report_input *in, const enum aspect_id *by, unsigned depth,
		struct group *ret)
{
	const struct cell *cells;
	uint32_t count;

	cells = contention_cells(analysis_contention(in->analysis), &count);
	return groups_make(analysis_names(in->analysis), cells, count, by, depth, ret);
}

static void add_groups(struct table *table, const struct labels *labels, const struct group *parent,
		       uint64_t all_ns, unsigned top, unsigned level)
{
	char label[LABEL_MAX], buf[FORMAT_MAX];
	uint64_t blocked_ns = 0, count = 0;
	uint32_t shown = parent->group_count < top ? parent->group_count : top;

	for (uint32_t i = 0; i < parent->group_count; i++) {
		const struct group *g = &parent->groups[i];

		if (i >= shown) {
			blocked_ns += g->blocked_ns;
			count += g->count;
			continue;
		}
		table_add(table, "%*s%s", (int)(level * INDENT), "", label_group(labels, g, label));
		table_add(table, "%s", count_format(g->count, buf));
		table_add(table, "%s", time_format(g->blocked_ns, buf));
		table_add(table, "%s", share_format(g->blocked_ns, all_ns, buf));
		table_add(table, "%s", time_format(g->max_ns, buf));
		add_groups(table, labels, g, all_ns, top, level + 1);
	}
	if (shown == parent->group_count)
		return;
	table_add(table, "%*s(%u more)", (int)(level * INDENT), "", parent->group_count - shown);
	table_add(table, "%s", count_format(count, buf));
	table_add(table, "%s", time_format(blocked_ns, buf));
	table_add(table, "%s", share_format(blocked_ns, all_ns, buf));
	table_add(table, "%s", "");
}

int report_by_text(const struct report_input *in, const enum aspect_id *by, unsigned depth,
		   FILE *out)
{
	char title[256];
	const struct table_column columns[] = {{title, true, 40, 72, false},
					       {"count", false, 9, 0, false},
					       {"blocked", false, 8, 0, false},
					       {"share", false, 7, 0, false},
					       {"max", false, 8, 0, false}};
	struct labels *labels = labels_new(analysis_names(in->analysis));
	struct table *table = table_new(columns, 5);
	struct group root = {0};
	char buf[FORMAT_MAX];
	size_t length = 0;
	int err = labels ? make(in, by, depth, &root) : -ENOMEM;

	*title = '\0';
	for (unsigned i = 0; i < depth && length < sizeof(title); i++)
		length += (size_t)snprintf(title + length, sizeof(title) - length, "%s%s",
					   i ? " > " : "", aspect_get(by[i])->name);
	if (!err) {
		table_add(table, "all contentions");
		table_add(table, "%s", count_format(root.count, buf));
		table_add(table, "%s", time_format(root.blocked_ns, buf));
		table_add(table, "%s", share_format(root.blocked_ns, root.blocked_ns, buf));
		table_add(table, "%s", time_format(root.max_ns, buf));
		add_groups(table, labels, &root, root.blocked_ns, in->top, 1);
		err = table_print(table, 0, out);
	}
	groups_free(&root);
	table_free(table);
	labels_free(labels);
	return err;
}

static json_t *key_json(const struct labels *labels, const struct log_names *names,
			const struct group *g)
{
	char identity[LABEL_MAX];

	switch (g->aspect) {
	case ASPECT_LOCK_CLASS:
		return json_pack("[s]", name_class(names, g->cell->lock));
	case ASPECT_LOCK:
		return json_pack("[ss]", name_class(names, g->cell->lock),
				 label_identity(labels, g->cell->lock, identity));
	case ASPECT_WAITER_THREAD:
		return json_pack("[s]", name_thread(names, g->cell->waiter, "(unknown)"));
	case ASPECT_OWNER_THREAD:
		return json_pack("[s]", name_thread(names, g->cell->holder, "(unknown)"));
	case ASPECT_GROUP:
		return json_pack("[s]", name_group(names, g->cell->lock, g->cell->monitor));
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
	return json_pack("{sIsIsIsIsI}", "running_ns", (json_int_t)s->running_ns, "stolen_ns",
			 (json_int_t)s->stolen_ns, "runnable_ns", (json_int_t)s->runnable_ns,
			 "blocked_ns", (json_int_t)s->blocked_ns, "not_split_ns",
			 (json_int_t)s->unknown_ns);
}

static json_t *groups_json(const struct labels *labels, const struct log_names *names,
			   const struct group *parent)
{
	json_t *groups = json_array();

	for (uint32_t i = 0; i < parent->group_count; i++) {
		const struct group *g = &parent->groups[i];
		json_t *o = json_object();

		json_object_set_new(o, "key", key_json(labels, names, g));
		set_thread(o, names, g);
		json_object_set_new(o, "count", json_integer((json_int_t)g->count));
		json_object_set_new(o, "blocked_ns", json_integer((json_int_t)g->blocked_ns));
		json_object_set_new(o, "max_ns", json_integer((json_int_t)g->max_ns));
		json_object_set_new(o, "split", split_json(&g->split));
		json_object_set_new(o, "groups", groups_json(labels, names, g));
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

	json_array_foreach(groups, i, g)
	{
		if (json_object_size(g) < 6 || !group_complete(g))
			return false;
	}
	return groups;
}

int by_json(const struct report_input *in, const enum aspect_id *by, unsigned depth, json_t **ret)
{
	const struct log_names *names = analysis_names(in->analysis);
	struct labels *labels = labels_new(names);
	json_t *o = json_object(), *aspects = json_array();
	struct group root = {0};
	int err = labels && o && aspects ? make(in, by, depth, &root) : -ENOMEM;

	for (unsigned i = 0; i < depth && !err; i++)
		err = json_array_append_new(aspects, json_string(aspect_get(by[i])->name)) ? -ENOMEM
											   : 0;
	if (!err) {
		json_object_set(o, "by", aspects);
		json_object_set_new(o, "total",
				    json_pack("{sIsI}", "count", (json_int_t)root.count,
					      "blocked_ns", (json_int_t)root.blocked_ns));
		json_object_set_new(o, "groups", groups_json(labels, names, &root));
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
