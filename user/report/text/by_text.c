#include <errno.h>

#include "analyze/registry/analysis.h"
#include "base/format.h"
#include "report/model/by_tree.h"
#include "report/model/chain.h"
#include "report/model/label.h"
#include "report/text/table.h"

#define INDENT 2
#define CALLERS_INDENT 4 /* more than what the chain's own groups have */
#define ROWS_MAX 20      /* of a chain, unless all are wanted */

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
	struct labels *labels = labels_new(analysis_names(in->log->analysis));
	struct group root = {0};
	int err = labels ? by_tree_make(in, by, depth, &root) : -ENOMEM;
	struct table *table = table_new(columns, root.after_wait_count ? 6 : 5);
	struct tree tree = {in,    labels,          analysis_stacks(in->log->analysis),
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
