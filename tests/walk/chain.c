#include "chain.h"

void chain_resolve(const struct hs_walk *w, struct chain *ret)
{
	struct code_frame frames[CODE_FRAMES_MAX];

	ret->count = 0;
	ret->astray = ret->stale = false;
	for (uint32_t i = 0; i < w->stack.count; i++) {
		const struct wire_frame *f = &w->stack.frames[i];
		int n = f->kind == WIRE_FRAME_INTERPRETED
				? code_interpreted(vm.resolver, f->code, f->id, frames)
				: code_compiled(vm.resolver, f->code, f->id,
						f->kind == WIRE_FRAME_COMPILED ? CODE_AT_RETURN
						: f->kind == WIRE_FRAME_UNLOCK ? CODE_AT_UNLOCK
									       : CODE_AT_ANY,
						frames);

		if (f->kind == WIRE_FRAME_INTERPRETED && !n)
			n = 1;
		ret->astray |= n == -EPROTO;
		ret->stale |= n == -ESTALE;
		if (n < 0) {
			frames[0] = (struct code_frame){0};
			n = 1;
		}
		for (int k = 0; k < n && ret->count < CHAIN_MAX; k++)
			ret->links[ret->count++] = (struct link){frames[k].method, frames[k].bci,
								 frames[k].inferred, i};
	}
}

void chain_of_jvm(const struct agct *a, struct chain *ret)
{
	struct code_frame frame;

	ret->count = 0;
	for (int32_t i = 0; i < a->count && i < CHAIN_MAX; i++) {
		const struct agct_frame *f = &a->frames[i];
		struct link *l = &ret->links[ret->count++];

		*l = (struct link){.bci = f->bci, .group = (uint32_t)i};
		if (f->method && !code_interpreted(vm.resolver, f->method,
						   f->bci > 0 ? (uint32_t)f->bci : 0, &frame))
			l->method = frame.method;
	}
}

/* The interpreter's bytecode pointer is in r13, where AsyncGetCallTrace does not look. */
static bool link_same(const struct hs_walk *w, uint64_t pc, const struct link *ours,
		      const struct link *jvms)
{
	if (!ours->method || !jvms->method)
		return true; /* its code has gone meanwhile, or it has no jmethodID */
	if (ours->method != jvms->method)
		return false;
	return jvms->bci < 0 || ours->bci == jvms->bci ||
	       (!ours->group && w->stack.frames[0].kind == WIRE_FRAME_INTERPRETED &&
		vm_in_java(pc));
}

/* How many links are of an interrupted compiled method. */
static uint32_t inner_count(const struct hs_walk *w, const struct chain *ours, bool lenient)
{
	uint32_t n = 0;

	if (w->stack.count && (lenient || w->stack.frames[0].kind == WIRE_FRAME_INTERRUPTED))
		while (n < ours->count && !ours->links[n].group)
			n++;
	return n;
}

/* From i and k on they are the same, as far as the shorter one goes. */
static bool links_same(const struct hs_walk *w, uint64_t pc, const struct chain *ours, uint32_t i,
		       const struct chain *jvms, uint32_t k)
{
	for (; i < ours->count && k < jvms->count; i++, k++)
		if (!link_same(w, pc, &ours->links[i], &jvms->links[k]))
			return false;
	return true;
}

/* One is the inner part of the other. *ret: how many more the JVM has. */
static bool chain_begins(const struct hs_walk *w, uint64_t pc, const struct chain *ours,
			 const struct chain *jvms, bool lenient, int64_t *ret)
{
	uint32_t inner = inner_count(w, ours, lenient);

	*ret = (int64_t)jvms->count - ours->count;
	if (!inner)
		return links_same(w, pc, ours, 0, jvms, 0);
	for (uint32_t k = 1; k <= jvms->count && k <= CODE_FRAMES_MAX; k++) {
		const struct code_method *own = ours->links[inner - 1].method;

		*ret = ((int64_t)jvms->count - k) - ((int64_t)ours->count - inner);
		if ((!own || own == jvms->links[k - 1].method) &&
		    links_same(w, pc, ours, inner, jvms, k) &&
		    (*ret == 0 || w->stack.result != WIRE_WALK_COMPLETE))
			return true;
	}
	return false;
}

bool chain_same(const struct hs_walk *w, uint64_t pc, const struct chain *ours,
		const struct chain *jvms, bool lenient)
{
	int64_t more;

	return chain_begins(w, pc, ours, jvms, lenient, &more) &&
	       (more == 0 || (more > 0 && w->stack.result != WIRE_WALK_COMPLETE));
}

bool chain_cut(const struct hs_walk *w, uint64_t pc, const struct chain *ours,
	       const struct chain *jvms)
{
	uint32_t inner = inner_count(w, ours, true);

	for (uint32_t k = 1; k <= jvms->count && k <= CODE_FRAMES_MAX; k++)
		if (jvms->count - k < ours->count - inner &&
		    links_same(w, pc, ours, inner, jvms, k) &&
		    (!inner || jvms->links[k - 1].method == ours->links[inner - 1].method))
			return true;
	return false;
}

void chain_print(FILE *out, const char *title, const struct chain *c)
{
	fprintf(out, "    %s, %u:\n", title, c->count);
	for (uint32_t i = 0; i < c->count && i < 60; i++) {
		const struct link *l = &c->links[i];

		fprintf(out, "      %2u %s.%s %lld\n", l->group,
			l->method ? l->method->class_name : "?", l->method ? l->method->name : "?",
			(long long)l->bci);
	}
}
