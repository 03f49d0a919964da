#include "report/flame/contention_messages.h"

#include <errno.h>
#include <stdlib.h>

#include "base/text/strbuf.h"
#include "report/flame/export_frames.h"
#include "report/flame/profile_head.h"
#include "report/model/attribution_basis.h"
#include "report/model/label.h"
#include "report/model/report.h"

struct writer {
	const struct profile_format *format;
	void *profile;
	struct export_frames frames;
	enum export_side side;
	bool exact;
	uint32_t *path;
	uint32_t count, capacity;
};

static int push(struct writer *w, uint32_t frame)
{
	int err = array_grow(&w->path, &w->capacity, w->count, sizeof(*w->path));

	if (!err)
		w->path[w->count++] = frame;
	return err;
}

static int push_mark(struct writer *w, enum export_mark mark)
{
	uint32_t frame;
	int err = export_frames_mark(&w->frames, mark, &frame);

	return err ? err : push(w, frame);
}

static int push_chain(struct writer *w, uint64_t stack)
{
	uint32_t step, before = w->count;
	int err;

	if (!stack)
		return push_mark(w, EXPORT_UNKNOWN);
	err = export_frames_chain(&w->frames, stack, &step);
	if (err)
		return err;
	for (; step != INDEX_NONE && !err; step = w->frames.steps[step].caller)
		if (w->frames.steps[step].frame != INDEX_NONE)
			err = push(w, w->frames.steps[step].frame);
	return err || w->count > before ? err : push_mark(w, EXPORT_ALL_HIDDEN);
}

static int push_holder(struct writer *w, const struct cell *cell)
{
	if (cell->holder == HOLDER_HAND_OVER)
		return push_mark(w, EXPORT_HAND_OVER);
	if (cell->holder == HOLDER_UNKNOWN)
		return push_mark(w, EXPORT_UNKNOWN_HOLDER);
	return push_chain(w, cell->holder_stack);
}

/* Innermost first. */
static int push_cell(struct writer *w, const struct cell *cell)
{
	int err = 0;

	w->count = 0;
	if (w->side != EXPORT_WAITER)
		err = push_holder(w, cell);
	if (!err && w->side == EXPORT_BOTH)
		err = push_mark(w, EXPORT_BLOCKED_BY);
	if (!err && w->side != EXPORT_OWNER)
		err = push_chain(w, cell->waiter_stack);
	return err;
}

static const char *owner_is(const struct writer *w, const struct cell *cell)
{
	if (cell->holder == HOLDER_HAND_OVER)
		return "hand-over";
	if (cell->holder == HOLDER_UNKNOWN)
		return "unknown";
	return w->exact ? "recorded" : "inferred";
}

static int put_cell(struct writer *w, const struct cell *cell)
{
	char class[LABEL_MAX], waiter[LABEL_MAX], owner[LABEL_MAX];
	const struct labels *l = w->frames.labels;
	bool of_owner = w->side == EXPORT_OWNER;
	const struct profile_label labels[] = {
		{"lock_class", label_class(l, cell->lock, class)},
		{of_owner ? "waiter" : "thread", label_thread(l, cell->waiter, waiter)},
		{of_owner ? "thread" : "owner", label_thread(l, cell->holder, owner)},
		{"owner_is", owner_is(w, cell)},
	};
	struct profile_sample s = {.values = {cell->count, cell->blocked_ns},
				   .labels = labels,
				   .label_count = sizeof(labels) / sizeof(*labels)};
	int err = push_cell(w, cell);

	s.frames = w->path;
	s.count = w->count;
	return err ? err : w->format->sample(w->profile, &s);
}

static int put_frames(struct writer *w)
{
	struct strbuf name = {0};
	int err = 0;

	for (uint32_t i = 0; i < w->frames.map.count && !err; i++) {
		const struct export_frame *f = &w->frames.rows[i];

		strbuf_clear(&name);
		strbuf_add(&name, "%s%s%s%s%s", f->before, f->outer, f->joint, f->name, f->after);
		err = name.err;
		if (!err)
			err = w->format->frame(
				w->profile,
				&(struct profile_frame_text){strbuf_text(&name), f->file, f->line});
	}
	strbuf_free(&name);
	return err;
}

static int put_all(struct writer *w, const struct export_input *in)
{
	int err = 0;

	for (uint32_t i = 0; i < in->cell_count && !err; i++)
		if ((in->cells[i].count || in->cells[i].blocked_ns) &&
		    export_selects(in, &in->cells[i]))
			err = put_cell(w, &in->cells[i]);
	if (!err)
		err = put_frames(w);
	return err ? err : w->format->end(w->profile);
}

void contention_options_set(struct contention_options *o, const struct session_log *log)
{
	o->exact = basis_of(&(struct report_input){.log = log}).exact;
	profile_head_set(&o->head, log);
}

int contention_messages(const struct export_input *in, const struct contention_options *o,
			FILE *out)
{
	static const char *const what[EXPORT_SIDE_COUNT] = {
		"waiters: where threads were blocked",
		"owners: where the holders of the locks were meanwhile",
		"waiters, and on top of each the owners it was blocked by"};
	struct profile_head head = o->head;
	struct writer w = {.format = o->format, .side = o->side, .exact = o->exact};
	int err = export_frames_init(&w.frames, in);

	head.period_unit = (struct profile_unit){"contentions", "count"};
	head.values[0] = (struct profile_unit){"contentions", "count"};
	head.values[1] = (struct profile_unit){"delay", "nanoseconds"};
	head.period = 1;
	head.what = what[o->side];
	if (!err)
		w.profile = w.format->open(&head, out);
	if (!err)
		err = w.profile ? put_all(&w, in) : -ENOMEM;
	w.format->free(w.profile);
	export_frames_free(&w.frames);
	free(w.path);
	return err;
}
