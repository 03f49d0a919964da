#include "analyze/park/parks.h"

#include <stdlib.h>

#include "log/read/names.h"

int parks_blocker(struct park_exact *p, uint64_t lock, uint32_t *ret)
{
	uint32_t known = p->blocker_places.count;
	const struct log_lock *l;
	int err = places_add_row(&p->blocker_places, (struct place_key){.a = lock}, &p->blockers,
				 &p->blockers_capacity, sizeof(*p->blockers), ret);

	if (err || *ret < known)
		return err;
	l = p->names ? log_names_lock(p->names, lock) : NULL;
	p->blockers[*ret] = (struct park_target){
		.family = park_family_of(l ? log_names_class(p->names, l->class) : NULL),
		.lock = {.lock = lock, .all = p->lines},
		.condition_of = PLACE_NONE};
	return 0;
}

static int thread_add(struct park_exact *p, uint64_t thread, struct parker **ret)
{
	uint32_t place;
	int err = places_add_segment_row(&p->parker_places, (struct place_key){.a = thread},
					 &p->parkers, sizeof(struct parker), &place);

	if (err)
		return err;
	*ret = parks_at(p, place);
	**ret = (struct parker){.thread = thread,
				.gaps = p->gaps,
				.blocker = PLACE_NONE,
				.wants = PLACE_NONE,
				.await_released = PLACE_NONE};
	return 0;
}

static void forget(struct parker *t, uint32_t gaps)
{
	t->wants = t->await_released = PLACE_NONE;
	t->cause = (struct cause){0};
	t->came.known = false;
	if (!t->parked)
		t->by = (struct unpark){0};
	t->gaps = gaps;
}

int parks_thread(struct park_exact *p, uint64_t thread, struct parker **ret)
{
	uint32_t place = places_find_number(&p->parker_places, thread);

	if (place == PLACE_NONE)
		return thread_add(p, thread, ret);
	*ret = parks_at(p, place);
	if ((*ret)->gaps != p->gaps)
		forget(*ret, p->gaps);
	return 0;
}

void parks_free(struct park_exact *p)
{
	for (uint32_t i = 0; i < p->blocker_places.count; i++)
		park_lock_free(&p->blockers[i].lock);
	park_chains_free(&p->chains);
	free(p->parts.rows);
	places_free(&p->blocker_places);
	places_free(&p->parker_places);
	free(p->blockers);
	segments_free(&p->parkers);
}
