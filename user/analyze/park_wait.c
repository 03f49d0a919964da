#include "analyze/park_wait.h"

#include <stdlib.h>

static const struct hold nobody = {.holder = HOLDER_HAND_OVER};

static struct timeline *line_find(const struct park_waits *w, uint64_t lock, uint64_t thread)
{
	return w->lines[places_find(&w->places, (struct place_key){.a = lock, .b = thread})];
}

int park_wait_begin(struct park_waits *w, uint64_t lock, uint64_t ns, const struct blocked *who)
{
	struct place_key key = {.a = lock, .b = who->thread};
	uint32_t place;
	int err =
		places_add_row(&w->places, key, &w->lines, &w->capacity, sizeof(*w->lines), &place);

	if (!err && !w->lines[place])
		err = timeline_part(w->all, lock, TIMELINE_PART_THREADS + who->thread, 0,
				    &w->lines[place]);
	if (!err)
		err = timeline_extend(w->lines[place], ns, &nobody);
	return err ? err : timeline_block(w->lines[place], ns, who);
}

int park_wait_end(struct park_waits *w, uint64_t lock, uint64_t thread, uint64_t ns,
		  const struct hold *by, uint64_t done_ns)
{
	struct timeline *line = line_find(w, lock, thread);
	int err = timeline_extend(line, done_ns < ns ? done_ns : ns, by);

	if (!err)
		err = timeline_extend(line, ns, &nobody);
	return err ? err : timeline_unblock(line, thread, ns, true);
}

int park_wait_drop(struct park_waits *w, uint64_t lock, uint64_t thread)
{
	return timeline_unblock(line_find(w, lock, thread), thread, 0, false);
}

void park_waits_free(struct park_waits *w)
{
	places_free(&w->places);
	free(w->lines);
}
