#include "report/model/diff/diff_running.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/diff/generated_name.h"
#include "analyze/registry/analysis.h"
#include "base/text/strbuf.h"
#include "log/read/names.h"
#include "report/model/diff/diff_collect.h"
#include "report/model/report.h"
#include "report/model/sections/commands/profile_report.h"
#include "report/model/sections/commands/profile_window.h"

#define WINDOWS_LEAST 0.5 /* of a measure's time its course is known, else it has none */

/* Kinds of keys in diff_running.frames. */
enum { FRAME_OF_METHOD, FRAME_OF_SYMBOL };

/* --- while events come --------------------------------------------------------------------- */

/* The innermost frame of a sample, as a profile names it. false: it has none. */
static bool frame_of(const struct diff_running *r, const struct held_sample *s,
		     struct keymap_key *ret)
{
	const struct log_method *m = NULL;

	if (s->aspect.symbol) {
		*ret = (struct keymap_key){.a = s->aspect.symbol, .b = FRAME_OF_SYMBOL};
		return true;
	}
	for (uint64_t stack = s->stack; stack && (!m || m->hidden);) {
		const struct log_stack *frame = log_names_stack(r->names, stack);

		m = frame ? log_names_method(r->names, frame->method) : NULL;
		if (!m)
			return false;
		*ret = (struct keymap_key){.a = frame->method, .b = FRAME_OF_METHOD};
		stack = frame->caller;
	}
	return m && !m->hidden;
}

/* The CPU time that a sample stands for ends with it. */
static void on_sample(void *ctx, const struct held_sample *s)
{
	struct diff_running *r = ctx;
	struct keymap_key key;
	uint32_t row, index;

	if (r->err || !s->weight || !frame_of(r, s, &key))
		return;
	index = keymap_find(&r->frames, key);
	if (index == INDEX_NONE) {
		if (r->frames.count == TIME_BINS_ROWS_MAX)
			return;
		r->err = time_bins_row(&r->bins, &row);
		if (!r->err)
			r->err = keymap_add(&r->frames, key, &index);
	}
	if (!r->err)
		time_bins_add(&r->bins, index, s->time_ns > s->weight ? s->time_ns - s->weight : 0,
			      s->time_ns);
}

void diff_running_begin(struct diff_running *r, const struct analysis *a, const json_t *header,
			const struct range *range, uint64_t from_ns)
{
	r->names = analysis_names(a);
	r->bins.from_ns = from_ns;
	profile_window_set(&r->profile.options, header, range);
	r->profile.options.names = r->names;
	r->profile.options.sampled = on_sample;
	r->profile.options.sampled_ctx = r;
}

/* --- afterwards ---------------------------------------------------------------------------- */

static struct measure *row_named(const struct diff_collect *c, const char *class, const char *name)
{
	struct measure *m = NULL;
	struct strbuf b = {.most = 0};

	generated_name_add(&b, class);
	strbuf_add(&b, "%s", *class ? "." : "");
	generated_name_add(&b, name);
	if (!b.err)
		m = measures_row(c->measures, MEASURE_RUNNING, strbuf_text(&b));
	strbuf_free(&b);
	return m;
}

static int add_windows(const struct diff_collect *c, const struct diff_running *r)
{
	for (uint32_t i = 0; i < r->frames.count; i++) {
		const struct keymap_key *key = &r->frames.keys[i];
		const struct log_method *m = log_names_method(r->names, key->a);
		const char *symbol = log_names_string(r->names, key->a);
		struct measure *row;

		if (key->b == FRAME_OF_SYMBOL ? !symbol : !m)
			continue;
		row = key->b == FRAME_OF_SYMBOL ? row_named(c, "", symbol)
						: row_named(c, m->class_name, m->name);
		if (!row)
			return -ENOMEM;
		time_bins_windows(&r->bins, i, c->from_ns, c->to_ns, row->windows);
	}
	return 0;
}

/* The course of most of a method's time stands for all of it. */
static void settle(const struct measures *all)
{
	for (uint32_t i = 0; i < all->count; i++) {
		struct measure *m = &all->rows[i];
		double known = 0;

		if (m->part != MEASURE_RUNNING)
			continue;
		for (unsigned w = 0; w < DIFF_WINDOWS; w++)
			known += m->windows[w];
		m->has_windows = known > 0 && known >= WINDOWS_LEAST * (double)m->ns;
		for (unsigned w = 0; w < DIFF_WINDOWS && known > 0; w++)
			m->windows[w] *= (double)m->ns / known;
	}
}

static int add_methods(const struct diff_collect *c, const struct diff_running *r,
		       const struct profile_tree *t)
{
	int err;

	for (uint32_t i = 0; i < t->frame_map.count; i++) {
		const struct profile_frame *f = &t->frames[i];
		struct measure *m = f->self.ns ? row_named(c, "", f->name) : NULL;

		if (f->self.ns && !m)
			return -ENOMEM;
		if (!m)
			continue;
		m->ns += f->self.ns;
		m->count += f->self.samples;
	}
	err = add_windows(c, r);
	settle(c->measures);
	return err;
}

/* What stands in the place of frames: "(walk failed)", "[compiles demo.Table.sort]". */
static bool is_no_method(const char *name)
{
	return *name == '(' || *name == '[';
}

static int add_edges(const struct profile_tree *t, struct call_paths *all, struct call_paths *whole)
{
	uint32_t count = t->node_map.count;
	struct context {
		uint64_t path;
		bool whole;
	} *of = malloc(((size_t)count + 1) * sizeof(*of));
	struct strbuf name = {.most = 0};
	int err = of ? 0 : -ENOMEM;

	if (of)
		of[0] = (struct context){CALL_PATH_ROOT, true};
	for (uint32_t i = 1; i < count && !err; i++) {
		const struct profile_node *n = &t->nodes[i];
		const char *frame = t->frames[n->frame].name;

		strbuf_clear(&name);
		generated_name_add(&name, frame);
		of[i].path = call_path_of(of[n->parent].path, strbuf_text(&name));
		of[i].whole = of[n->parent].whole && !is_no_method(frame);
		err = name.err;
		if (!err && n->self.ns)
			err = call_paths_add(all, of[i].path, n->self.ns, n->self.samples);
		if (!err && n->self.ns && of[i].whole)
			err = call_paths_add(whole, of[i].path, n->self.ns, n->self.samples);
	}
	strbuf_free(&name);
	free(of);
	return err;
}

int diff_running_collect(const struct diff_collect *c, struct diff_running *r,
			 const struct session_log *log, struct call_paths *all,
			 struct call_paths *whole)
{
	const struct report_input input = {.log = log};
	const struct profile_input in = {
		.in = &input, .profile = &r->profile, .states = PROFILE_RUNNING};
	struct profile_tree tree;
	int err = r->err ? r->err : profile_finish(&r->profile, analysis_wall(c->analysis));

	if (err || !r->profile.samples)
		return err;
	err = profile_tree_make(&in, &tree);
	if (!err)
		err = add_methods(c, r, &tree);
	if (!err)
		err = add_edges(&tree, all, whole);
	profile_tree_free(&tree);
	return err;
}

void diff_running_free(struct diff_running *r)
{
	profile_free(&r->profile);
	time_bins_free(&r->bins);
	keymap_free(&r->frames);
}
