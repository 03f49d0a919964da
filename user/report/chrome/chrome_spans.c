/* What the application marks, and the names that its threads give themselves: tracks of their own
 * above that of the thread. */
#include <errno.h>
#include <stdio.h>

#include "report/chrome/chrome_internal.h"

#define DEPTH_MAX 64 /* spans that are open in a thread; with more of them, ends must be lost */

static void put_states(struct chrome *c, const struct states *from, const struct states *to)
{
	struct states spent = states_since(from, to);
	char key[32];

	for (int i = 0; i < STATE_COUNT; i++) {
		if (!spent.ns[i])
			continue;
		snprintf(key, sizeof(key), "%s_ms", state_name((enum state)i));
		chrome_ms(&c->out, key, spent.ns[i]);
	}
}

static void name_row(struct chrome *c, const struct chrome_row *r)
{
	char text[LABEL_MAX];

	chrome_text(&c->out, "name", label_string(c->labels, r->name, "(unknown)", text));
}

static void put_row(struct chrome *c, const struct chrome_row *r, const char *category)
{
	chrome_text(&c->out, "cat", category);
	chrome_args(&c->out);
	if (r->lost)
		chrome_text(&c->out, "end", "not seen: not later than this");
	else if (r->open_end)
		chrome_text(&c->out, "end", "not before the thread's, or the recording's");
	else
		put_states(c, &r->from, &r->to);
}

static void put_span(struct chrome *c, const struct chrome_row *r)
{
	put_row(c, r, "span");
}

static void put_thread_name(struct chrome *c, const struct chrome_row *r)
{
	put_row(c, r, "name");
}

static const struct chrome_putter span_putter = {name_row, put_span};
static const struct chrome_putter name_putter = {name_row, put_thread_name};

static int group_of(struct chrome *c, uint32_t thread, bool names, struct chrome_group **ret)
{
	struct chrome_group **at;
	struct chrome_thread *t;
	char label[LABEL_MAX + 16], name[LABEL_MAX];
	int err = chrome_thread(c, thread, &t);

	if (err)
		return err;
	at = names ? &t->names : &t->spans;
	if (!*at) {
		snprintf(label, sizeof(label), "%s %s", chrome_thread_label(c, thread, name),
			 names ? "names" : "spans");
		*at = chrome_group_new(c, label, t->sort - (names ? 2 : 1),
				       names ? &name_putter : &span_putter);
		if (!*at)
			return -ENOMEM;
		(*at)->hidden = t->hidden;
	}
	*ret = *at;
	return 0;
}

static int on_begin(struct chrome *c, const struct event *e)
{
	struct chrome_row row = {.begin_ns = c->now_ns, .open = true};
	struct chrome_group *g;
	int err = group_of(c, e->thread, false, &g);

	if (err)
		return err;
	if (g->open == DEPTH_MAX) {
		c->facts.half_seen += chrome_group_lose(g, g->rows, c->now_ns);
		err = chrome_group_settle(c, g);
	}
	row.name = e->v[SPAN_BEGIN_NAME].u;
	states_of(e, &row.from);
	return err ? err : chrome_group_add(g, &row);
}

static int on_end(struct chrome *c, const struct event *e)
{
	struct chrome_group *g;
	struct chrome_row *row;
	int err = group_of(c, e->thread, false, &g);

	if (err)
		return err;
	row = chrome_group_open(g, 0);
	if (!row) {
		c->facts.half_seen++;
		return 0;
	}
	states_of(e, &row->to);
	chrome_group_close(g, row, c->now_ns);
	return chrome_group_settle(c, g);
}

static int on_rename(struct chrome *c, const struct event *e)
{
	struct chrome_row row = {.begin_ns = c->now_ns, .open = true}, *before;
	struct chrome_group *g;
	int err = group_of(c, e->thread, true, &g);

	if (err)
		return err;
	states_of(e, &row.from);
	row.name = e->v[THREAD_RENAME_NAME].u;
	before = chrome_group_open(g, 0);
	if (before) {
		before->to = row.from;
		chrome_group_close(g, before, c->now_ns);
		err = chrome_group_settle(c, g);
	}
	return err ? err : chrome_group_add(g, &row);
}

static int on_thread_end(struct chrome *c, const struct event *e)
{
	struct chrome_group *groups[2];
	struct chrome_thread *t;
	int err = chrome_thread(c, e->thread, &t);

	if (err)
		return err;
	groups[0] = t->spans;
	groups[1] = t->names;
	for (int i = 0; i < 2 && !err; i++)
		err = groups[i] ? chrome_group_finish(c, groups[i], c->now_ns) : 0;
	return err;
}

int chrome_spans_add(struct chrome *c, const struct event *e)
{
	if (!e->thread)
		return 0;
	switch (e->id) {
	case EVENT_SPAN_BEGIN:
		return on_begin(c, e);
	case EVENT_SPAN_END:
		return on_end(c, e);
	case EVENT_THREAD_RENAME:
		return on_rename(c, e);
	case EVENT_THREAD_END:
		return on_thread_end(c, e);
	default:
		return 0;
	}
}
