/* A profile of threads in messages of protobuf: a frame of its tree is one of theirs. */
#include <errno.h>
#include <stdlib.h>

#include "report/flame/profile_flame.h"
#include "report/flame/profile_head.h"
#include "report/model/report.h"
#include "report/model/sections/commands/profile_basis.h"
#include "report/model/sections/commands/profile_report.h"
#include "report/protobuf/profile_format.h"

static int put_samples(const struct profile_format *format, void *profile,
		       const struct profile_tree *t, uint32_t *chain)
{
	int err = 0;

	for (uint32_t i = profile_tree_next(t, 0, true); i && !err;
	     i = profile_tree_next(t, i, true)) {
		const struct profile_time *self = &t->nodes[i].self;
		struct profile_sample s = {.frames = chain, .values = {self->samples, self->ns}};

		if (!self->ns && !self->samples)
			continue;
		s.count = profile_chain_of(t, i, chain);
		err = format->sample(profile, &s);
	}
	return err;
}

static int put_all(const struct profile_format *format, void *profile, const struct profile_tree *t,
		   uint32_t *chain)
{
	int err = put_samples(format, profile, t, chain);

	for (uint32_t i = 0; i < t->frame_map.count && !err; i++) {
		const struct profile_frame *f = &t->frames[i];

		err = format->frame(profile,
				    &(struct profile_frame_text){f->name, f->file, f->line});
	}
	return err ? err : format->end(profile);
}

int profile_messages(const struct profile_input *in, const struct profile_format *format, FILE *out)
{
	const char *type = profile_only_running(in) ? "cpu" : "time";
	struct profile_head head = {.values = {{"samples", "count"}, {type, "nanoseconds"}},
				    .period_unit = {type, "nanoseconds"},
				    .period = profile_period_ns(in),
				    .what = profile_only_running(in)
						    ? "running: where threads were on a CPU"
						    : "where threads were, running or not"};
	struct profile_tree t;
	int err = profile_tree_make(in, &t);
	uint32_t *chain = err ? NULL : profile_chain_new(&t);
	void *profile = NULL;

	profile_head_set(&head, in->in->log);
	if (chain)
		profile = format->open(&head, out);
	if (!err)
		err = profile ? put_all(format, profile, &t, chain) : -ENOMEM;
	format->free(profile);
	free(chain);
	profile_tree_free(&t);
	return err;
}
