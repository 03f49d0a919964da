#include "report/flame/export_frames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/stacks/stacks.h"
#include "log/format/event.h"
#include "log/format/text.h"
#include "log/read/names.h"
#include "report/model/label.h"

static const char *const mark_texts[] = {
	[EXPORT_UNKNOWN] = "(unknown)",
	[EXPORT_MISSING] = "(frames missing)",
	[EXPORT_CUT] = "(more than 512 frames)",
	[EXPORT_IN_HEAP] = "(frames in the heap)",
	[EXPORT_UNLOADED] = "(unloaded code)",
	[EXPORT_UNKNOWN_METHOD] = "(unknown method)",
	[EXPORT_ALL_HIDDEN] = "(hidden frames)",
	[EXPORT_HAND_OVER] = "(hand-over)",
	[EXPORT_UNKNOWN_HOLDER] = "(unknown holder)",
	[EXPORT_BLOCKED_BY] = "(blocked by)",
	[EXPORT_OTHERS] = "(other chains)",
};
_Static_assert(sizeof(mark_texts) / sizeof(*mark_texts) == EXPORT_MARK_COUNT, "every mark");

/* The first number of a frame's key; that of a method is the address of its class's name. */
enum { KEY_MARK, KEY_THREAD, KEY_LOCK };

int export_frames_init(struct export_frames *f, const struct export_input *in)
{
	*f = (struct export_frames){.in = in, .labels = labels_new(in->names)};
	return f->labels ? 0 : -ENOMEM;
}

void export_frames_free(struct export_frames *f)
{
	labels_free(f->labels);
	text_set_free(&f->texts);
	keymap_free(&f->map);
	keymap_free(&f->step_map);
	free(f->rows);
	free(f->steps);
	*f = (struct export_frames){0};
}

static int add(struct export_frames *f, struct keymap_key key, const struct export_frame *frame,
	       uint32_t *ret)
{
	uint32_t known = f->map.count;
	int err = keymap_add_row(&f->map, key, &f->rows, &f->capacity, sizeof(*f->rows), ret);

	if (!err && *ret == known)
		f->rows[*ret] = *frame;
	return err;
}

int export_frames_mark(struct export_frames *f, enum export_mark mark, uint32_t *ret)
{
	struct export_frame frame = {mark_texts[mark], "", "", "", "", "", 0};

	return add(f, (struct keymap_key){.a = KEY_MARK, .b = mark}, &frame, ret);
}

int export_frames_thread(struct export_frames *f, uint64_t thread, uint32_t *ret)
{
	struct keymap_key key = {.a = KEY_THREAD, .b = thread};
	struct export_frame frame = {"", "", "", NULL, "", "", 0};
	char label[LABEL_MAX];

	*ret = keymap_find(&f->map, key);
	if (*ret != INDEX_NONE)
		return 0;
	label_thread(f->labels, thread, label);
	frame.name = text_set_add(&f->texts, label, strlen(label));
	return frame.name ? add(f, key, &frame, ret) : -ENOMEM;
}

int export_frames_lock(struct export_frames *f, uint64_t lock, uint32_t *ret)
{
	const struct log_lock *l = log_names_lock(f->in->names, lock);
	const char *class = l ? log_names_class(f->in->names, l->class) : NULL;
	struct keymap_key key = {.a = KEY_LOCK, .b = (uintptr_t) class};
	struct export_frame frame = {"(lock ", "", "", class, ")", "", 0};

	if (!class)
		frame = (struct export_frame){"(lock of unknown class)", "", "", "", "", "", 0};
	return add(f, key, &frame, ret);
}

/* Equal texts have one address in log_names. */
static int add_method(struct export_frames *f, const struct log_method *m, uint64_t line,
		      uint32_t *ret)
{
	struct export_frame frame = {"",        m->class_name,          ".", m->name, "",
				     m->source, f->in->lines ? line : 0};
	struct keymap_key key = {
		.a = (uintptr_t)m->class_name, .b = (uintptr_t)m->name, .c = frame.line};

	return add(f, key, &frame, ret);
}

/* s: NULL if the log does not define it. */
static int add_stack(struct export_frames *f, const struct log_stack *s, uint32_t *ret)
{
	const struct log_method *m = s ? log_names_method(f->in->names, s->method) : NULL;

	if (!s || s->frame == FRAME_TYPE_BROKEN)
		return export_frames_mark(f, EXPORT_MISSING, ret);
	if (s->frame == FRAME_TYPE_CUT)
		return export_frames_mark(f, EXPORT_CUT, ret);
	if (s->frame == FRAME_TYPE_IN_HEAP)
		return export_frames_mark(f, EXPORT_IN_HEAP, ret);
	if (s->frame == FRAME_TYPE_UNRESOLVED)
		return export_frames_mark(f, EXPORT_UNLOADED, ret);
	if (!m)
		return export_frames_mark(f, EXPORT_UNKNOWN_METHOD, ret);
	if (!m->hidden || f->in->hidden)
		return add_method(f, m, s->line, ret);
	*ret = INDEX_NONE;
	return 0;
}

int export_frames_chain(struct export_frames *f, uint64_t stack, uint32_t *ret)
{
	uint32_t index, callee = INDEX_NONE, known, frame;
	const struct log_stack *s;
	int err;

	for (; stack; stack = s ? s->caller : 0) {
		s = log_names_stack(f->in->names, stack);
		known = f->step_map.count;
		err = keymap_add_row(&f->step_map, (struct keymap_key){.a = stack}, &f->steps,
				     &f->steps_capacity, sizeof(*f->steps), &index);
		if (err)
			return err;
		if (callee == INDEX_NONE)
			*ret = index;
		else
			f->steps[callee].caller = index;
		if (index < known)
			return 0;
		err = stack == STACK_OTHERS ? export_frames_mark(f, EXPORT_OTHERS, &frame)
					    : add_stack(f, s, &frame);
		if (err)
			return err;
		f->steps[index] = (struct export_step){frame, INDEX_NONE};
		callee = index;
	}
	return 0;
}
