#include "report/model/chain.h"

#include <stdio.h>
#include <string.h>

#include "base/text/strbuf.h"
#include "log/format/event.h"
#include "log/read/names.h"

/* What stands for the callers that are missing. */
static bool is_end(const struct stacks_frame *f)
{
	return f->kind == STACKS_MISSING || f->kind == STACKS_CUT || f->kind == STACKS_IN_HEAP;
}

/* A frame that could have called others. */
static bool next_frame(const struct chain *c, uint64_t *stack, struct stacks_frame *ret)
{
	return stacks_next(c->stacks, stack, ret) && !is_end(ret);
}

static void frame_label(const struct stacks_frame *f, char buf[LABEL_MAX])
{
	static const char *const texts[] = {
		[STACKS_UNKNOWN_METHOD] = "(unknown method)",
		[STACKS_UNLOADED] = "(unloaded code)",
		[STACKS_CUT] = "(more than 512 frames)",
		[STACKS_MISSING] = "(frames below are missing)",
		[STACKS_IN_HEAP] = "(frames below are in the heap)",
		[STACKS_OTHERS] = "(other chains)",
	};

	if (f->kind != STACKS_METHOD) {
		snprintf(buf, LABEL_MAX, "%s", texts[f->kind]);
		return;
	}
	label_method_name(f->method, buf);
	if (f->frame->frame == FRAME_TYPE_NATIVE)
		buffer_add(buf, LABEL_MAX, " (native)");
	else if (f->frame->line)
		buffer_add(buf, LABEL_MAX, ":%s%llu", f->frame->inferred ? "~" : "",
			   (unsigned long long)f->frame->line);
}

bool chain_next(struct chain *c, char buf[LABEL_MAX])
{
	struct stacks_frame f, caller;
	uint64_t next;
	unsigned folded = 0;

	if (!stacks_next(c->stacks, &c->stack, &f))
		return false;
	for (next = c->stack; !c->full && f.internal && next_frame(c, &next, &caller);
	     next = c->stack) {
		f = caller;
		c->stack = next;
		folded++;
	}
	c->end = is_end(&f);
	frame_label(&f, buf);
	if (folded)
		buffer_add(buf, LABEL_MAX, " [+%u]", folded);
	return true;
}

/* What a later version of spoor calls by a number unknown here stays a number. */
static void add_type(const struct stacks_frame *f, struct findings *frames)
{
	const struct field_desc *d = &schema_event(EVENT_STACK)->fields[STACK_FRAME];
	bool named = !f->frame || f->kind == STACKS_OTHERS || f->frame->frame < d->enum_count;

	findings_text(frames,
		      f->kind == STACKS_OTHERS ? "others"
		      : !f->frame              ? "missing"
		      : named                  ? d->enum_names[f->frame->frame]
					       : NULL,
		      NULL);
	findings_maybe(frames, !named, named ? 0 : f->frame->frame);
}

static void add_frame(const struct stacks_frame *f, struct findings *frames)
{
	const struct log_method *m = f->method;
	bool at = m || f->kind == STACKS_UNKNOWN_METHOD;

	findings_row(frames, FINDINGS_PROGRAMS);
	findings_text(frames, m ? m->class_name : NULL, NULL);
	findings_text(frames, m ? m->name : NULL, NULL);
	findings_text(frames, m ? m->signature : NULL, NULL);
	findings_text(frames, m ? m->source : NULL, NULL);
	findings_maybe(frames, at, at ? f->frame->line : 0);
	findings_maybe(frames, at, at ? f->frame->bci : 0);
	add_type(f, frames);
	findings_maybe(frames, m && m->hidden, true);
	findings_maybe(frames, f->frame && f->frame->inferred, true);
}

struct findings *chain_findings(const struct stacks *s, uint64_t stack)
{
	static const struct findings_column columns[] = {
		{.key = "class"},
		{.key = "method"},
		{.key = "signature"},
		{.key = "source"},
		{.key = "line", .unit = FINDINGS_NUMBER},
		{.key = "bci", .unit = FINDINGS_NUMBER},
		{.key = "type"},
		{.key = "type", .unit = FINDINGS_NUMBER},
		{.key = "hidden", .unit = FINDINGS_BOOL},
		{.key = "inferred", .unit = FINDINGS_BOOL},
	};
	struct findings *frames = FINDINGS_NEW(columns);
	struct stacks_frame f;

	while (stacks_next(s, &stack, &f))
		add_frame(&f, frames);
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
