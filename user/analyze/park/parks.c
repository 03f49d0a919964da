#include "analyze/park/parks.h"

#include <stdlib.h>

#include "log/read/names.h"

int parks_blocker(struct park_numbered *p, uint64_t lock, uint32_t *ret)
{
	uint32_t known = p->blocker_map.count;
	const struct log_lock *l;
	int err = keymap_add_row(&p->blocker_map, (struct keymap_key){.a = lock}, &p->blockers,
				 &p->blockers_capacity, sizeof(*p->blockers), ret);

	if (err || *ret < known)
		return err;
	l = p->names ? log_names_lock(p->names, lock) : NULL;
	p->blockers[*ret] = (struct park_target){
		.family = park_family_of(l ? log_names_class(p->names, l->class) : NULL),
		.lock = {.lock = lock, .all = p->lines},
		.condition_of = INDEX_NONE};
	return 0;
}

static int thread_add(struct park_numbered *p, uint64_t thread, struct parker **ret)
{
	uint32_t index;
	int err = keymap_add_segment_row(&p->parker_map, (struct keymap_key){.a = thread},
					 &p->parkers, sizeof(struct parker), &index);

	if (err)
		return err;
	*ret = parks_at(p, index);
	**ret = (struct parker){.thread = thread,
				.gaps = p->gaps,
				.blocker = INDEX_NONE,
				.next_lock = INDEX_NONE,
				.await_released = INDEX_NONE};
	return 0;
}

static void forget(struct parker *t, uint32_t gaps)
{
	t->next_lock = t->await_released = INDEX_NONE;
	t->cause = (struct cause){0};
	t->came.known = false;
	if (!t->parked)
		t->by = (struct unpark){0};
	t->gaps = gaps;
}

int parks_thread(struct park_numbered *p, uint64_t thread, struct parker **ret)
{
	uint32_t index = keymap_find_number(&p->parker_map, thread);

	if (index == INDEX_NONE)
		return thread_add(p, thread, ret);
	*ret = parks_at(p, index);
	if ((*ret)->gaps != p->gaps)
		forget(*ret, p->gaps);
	return 0;
}

void parks_free(struct park_numbered *p)
{
	for (uint32_t i = 0; i < p->blocker_map.count; i++)
		park_lock_free(&p->blockers[i].lock);
	park_chains_free(&p->chains);
	free(p->slices.rows);
	keymap_free(&p->blocker_map);
	keymap_free(&p->parker_map);
	free(p->blockers);
	segments_free(&p->parkers);
}
