#include "report/model/sections/by_section.h"

#include <errno.h>
#include <stdio.h>

#include "analyze/contention/contention.h"
#include "analyze/registry/analysis.h"
#include "base/text/strbuf.h"
#include "report/model/chain.h"
#include "report/model/label.h"
#include "report/model/sections/by_figures.h"

#define ROWS_MAX 20 /* of a chain, unless all are wanted */

const enum aspect_id by_default[BY_DEFAULT_DEPTH] = {ASPECT_LOCK_CLASS, ASPECT_LOCK,
						     ASPECT_OWNER_THREAD, ASPECT_WAITER_THREAD};

int by_section_open(const struct report_input *in, const enum aspect_id *by, unsigned depth,
		    struct by_section *ret)
{
	struct by_section b = {.by = by, .depth = depth};
	int err = section_open(in, &b.section);

	if (err)
		return err;
	err = report_groups(in, by, depth, &b.root);
	if (err) {
		section_close(&b.section);
		return err;
	}
	for (unsigned i = 0; i < depth; i++)
		buffer_add(b.title, BY_TITLE_MAX, "%s%s", i ? " > " : "", aspect_get(by[i])->name);
	*ret = b;
	return 0;
}

void by_section_close(struct by_section *b)
{
	groups_free(&b->root);
	section_close(&b->section);
}

/* Names of methods are not cut: the end matters, and so does the beginning. */
static bool has_methods(const struct by_section *b)
{
	for (unsigned i = 0; i < b->depth; i++) {
		if (aspect_get(b->by[i])->method)
			return true;
	}
	return false;
}

#define KEYS 3 /* key, tid and java_id */
#define FIGURES_AT (1 + KEYS)
#define GROUPS_AT (FIGURES_AT + BY_FIGURES)

struct findings *by_section_groups(const struct by_section *b)
{
	struct findings_column columns[GROUPS_AT + 1] = {
		{.title = b->title, .least = 30, .most = has_methods(b) ? 0 : 72},
		{.key = "key",
		 .meaning = "One text, of a lock two: its class and what tells it from others; of "
			    "a call chain its frames.",
		 .unit = FINDINGS_ROWS},
		{.key = "tid",
		 .meaning = "Of a thread, as names need not be unique.",
		 .unit = FINDINGS_NUMBER},
		{.key = "java_id", .meaning = "Likewise.", .unit = FINDINGS_NUMBER},
		[GROUPS_AT] = {.key = "groups", .unit = FINDINGS_ROWS, .flags = FINDINGS_TREE},
	};

	by_figures_columns(b->section.in->parked ? "parked" : "blocked", columns + FIGURES_AT);
	by_figures_show(columns + FIGURES_AT, b->section.in->full);
	return FINDINGS_NEW(columns);
}

/* A chain has a line for each caller, below that of its innermost frame. */
static void add_label(const struct by_section *b, const struct group *g, struct findings *f)
{
	bool full = b->section.in->full;
	struct chain chain = {.stacks = b->section.stacks,
			      .stack = group_stack(b->section.stacks, g),
			      .full = full};
	struct strbuf lines = {.most = 0};
	unsigned rows = 1, more = 0;
	char row[LABEL_MAX];

	if (!chain_next(&chain, row)) {
		findings_text(f, NULL, label_group(b->section.labels, b->section.stacks, g, row));
		return;
	}
	strbuf_add(&lines, "%s", row);
	while (chain_next(&chain, row)) {
		if (rows++ >= ROWS_MAX && !full && !chain.end)
			more++;
		else if (more)
			break;
		else
			strbuf_add(&lines, "\n%s", row);
	}
	if (more)
		strbuf_add(&lines, "\n... %u more%s%s", more, chain.end ? " " : "",
			   chain.end ? row : "");
	findings_text(f, NULL, strbuf_text(&lines));
	if (lines.err && f && !f->err)
		f->err = lines.err;
	strbuf_free(&lines);
}

static void add_others(const struct group *parent, uint32_t shown, struct findings *f)
{
	struct group others = {0};
	char label[LABEL_MAX];

	for (uint32_t i = shown; i < parent->group_count; i++) {
		const struct group *g = &parent->groups[i];

		others.count += g->count;
		others.blocked_ns += g->blocked_ns;
		others.parent_ns = g->parent_ns;
		others.idle_ns += g->idle_ns;
		others.after_wait_count += g->after_wait_count;
		others.after_wait_ns += g->after_wait_ns;
		split_add(&others.split, &g->split);
	}
	snprintf(label, sizeof(label), "(%u more)", parent->group_count - shown);
	findings_row(f, FINDINGS_PEOPLE);
	findings_text(f, NULL, label);
	findings_skip(f, KEYS);
	by_figures_add(f, &others, false);
}

/* Those within g, as rows of a table of the same columns as like. */
static struct findings *groups_within(const struct by_section *b, const struct group *g,
				      const struct findings *like)
{
	uint32_t shown = g->group_count < b->section.in->top ? g->group_count : b->section.in->top;
	struct findings *f = findings_within(like, shown + (shown < g->group_count));

	for (uint32_t i = 0; i < shown && f && !f->err; i++) {
		const struct group *one = &g->groups[i];

		findings_row(f, FINDINGS_PEOPLE);
		add_label(b, one, f);
		findings_skip(f, KEYS);
		by_figures_add(f, one, true);
		if (one->group_count)
			findings_rows(f, groups_within(b, one, f));
	}
	if (shown < g->group_count)
		add_others(g, shown, f);
	return f;
}

struct findings *by_section_tree(const struct by_section *b)
{
	struct findings *f = by_section_groups(b);

	findings_row(f, FINDINGS_PEOPLE);
	findings_text(f, NULL, b->section.in->parked ? "all parking" : "all contentions");
	findings_skip(f, KEYS);
	by_figures_add(f, &b->root, true);
	if (b->root.group_count)
		findings_rows(f, groups_within(b, &b->root, f));
	return f;
}
