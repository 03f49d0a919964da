#include "report/model/chain.h"

#include <stdio.h>
#include <string.h>

#include "log/format/event.h"
#include "log/read/names.h"

/* A frame that could have called others, not what stands for those that are missing. */
static bool next_frame(const struct chain *c, uint64_t *stack, struct stacks_frame *ret)
{
	return stacks_next(c->stacks, stack, ret) && ret->kind != STACKS_MISSING &&
	       ret->kind != STACKS_CUT;
}

static void frame_label(const struct stacks_frame *f, char buf[LABEL_MAX])
{
	static const char *const texts[] = {
		[STACKS_UNKNOWN_METHOD] = "(unknown method)",
		[STACKS_UNLOADED] = "(unloaded code)",
		[STACKS_CUT] = "(more than 512 frames)",
		[STACKS_MISSING] = "(frames below are missing)",
		[STACKS_OTHERS] = "(other chains)",
	};
	size_t length;

	if (f->kind != STACKS_METHOD) {
		snprintf(buf, LABEL_MAX, "%s", texts[f->kind]);
		return;
	}
	length = strlen(label_method_name(f->method, buf));
	if (f->frame->frame == FRAME_TYPE_NATIVE)
		snprintf(buf + length, LABEL_MAX - length, " (native)");
	else if (f->frame->line)
		snprintf(buf + length, LABEL_MAX - length, ":%s%llu", f->frame->inferred ? "~" : "",
			 (unsigned long long)f->frame->line);
}

bool chain_next(struct chain *c, char buf[LABEL_MAX])
{
	struct stacks_frame f, caller;
	uint64_t next;
	unsigned folded = 0;
	size_t length;

	if (!stacks_next(c->stacks, &c->stack, &f))
		return false;
	for (next = c->stack; !c->full && f.internal && next_frame(c, &next, &caller);
	     next = c->stack) {
		f = caller;
		c->stack = next;
		folded++;
	}
	c->end = f.kind == STACKS_MISSING || f.kind == STACKS_CUT;
	frame_label(&f, buf);
	length = strlen(buf);
	if (folded)
		snprintf(buf + length, LABEL_MAX - length, " [+%u]", folded);
	return true;
}

static json_t *type_json(const struct log_stack *frame)
{
	const struct field_desc *d = &schema_event(EVENT_STACK)->fields[STACK_FRAME];

	if (!frame)
		return json_string("missing");
	return frame->frame < d->enum_count ? json_string(d->enum_names[frame->frame])
					    : json_integer((json_int_t)frame->frame);
}

static json_t *frame_json(const struct stacks_frame *f)
{
	const struct log_method *m = f->method;
	json_t *o = m ? json_pack("{ssssssss}", "class", m->class_name, "method", m->name,
				  "signature", m->signature, "source", m->source)
		      : json_object();
	int err = 0;

	if (m || f->kind == STACKS_UNKNOWN_METHOD) {
		err |= json_object_set_new(o, "line", json_integer((json_int_t)f->frame->line));
		err |= json_object_set_new(o, "bci", json_integer((json_int_t)f->frame->bci));
	}
	err |= json_object_set_new(
		o, "type", f->kind == STACKS_OTHERS ? json_string("others") : type_json(f->frame));
	if (m && m->hidden)
		err |= json_object_set_new(o, "hidden", json_true());
	if (f->frame && f->frame->inferred)
		err |= json_object_set_new(o, "inferred", json_true());
	if (!err)
		return o;
	json_decref(o);
	return NULL;
}

json_t *chain_json(const struct stacks *s, uint64_t stack)
{
	json_t *frames = json_array();
	struct stacks_frame f;

	while (frames && stacks_next(s, &stack, &f)) {
		if (!json_array_append_new(frames, frame_json(&f)))
			continue;
		json_decref(frames);
		frames = NULL;
	}
	return frames;
}

json_t *method_json(const struct stacks *s, uint32_t method)
{
	const struct log_method *m = stacks_method(s, method);
	char buf[LABEL_MAX];

	return m ? json_sprintf("%s.%s", m->class_name, m->name)
		 : json_string(label_method(s, method, buf));
}

json_t *group_method_json(const struct stacks *s, const struct group *g)
{
	if (g->aspect == ASPECT_OWNER_METHOD && g->cell->holder == HOLDER_HAND_OVER)
		return json_string("(hand-over)");
	return method_json(s, group_method(s, g));
}
