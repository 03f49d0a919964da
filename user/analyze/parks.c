#include "analyze/parks.h"

#include <stdlib.h>

#include "log/names.h"

bool blocker_is_lock(const struct blocker *b)
{
	return b->family == PARK_FAMILY_EXCLUSIVE || b->family == PARK_FAMILY_READ_WRITE ||
	       b->family == PARK_FAMILY_OWNED;
}

int parks_blocker(struct park_exact *p, uint64_t lock, uint32_t *ret)
{
	uint32_t known = p->blocker_places.count;
	const struct log_lock *l = p->names ? log_names_lock(p->names, lock) : NULL;
	int err = places_add_row(&p->blocker_places, (struct place_key){.a = lock}, &p->blockers,
				 &p->blockers_capacity, sizeof(*p->blockers), ret);

	if (err || *ret < known)
		return err;
	p->blockers[*ret] = (struct blocker){
		.family = park_family_of(l ? log_names_class(p->names, l->class) : NULL),
		.lock = {.lock = lock, .all = p->lines},
		.condition_of = PLACE_NONE};
	return 0;
}

int parks_thread(struct park_exact *p, uint64_t thread, struct parker **ret)
{
	uint32_t known = p->parker_places.count, place;
	struct parker *t;
	int err = places_add_row(&p->parker_places, (struct place_key){.a = thread}, &p->parkers,
				 &p->parkers_capacity, sizeof(*p->parkers), &place);

	if (err)
		return err;
	t = &p->parkers[place];
	if (place == known)
		*t = (struct parker){.thread = thread,
				     .blocker = PLACE_NONE,
				     .wants = PLACE_NONE,
				     .await_released = PLACE_NONE};
	if (t->gaps != p->gaps) {
		t->wants = t->await_released = PLACE_NONE;
		t->cause = (struct cause){0};
		t->came.known = false;
		if (!t->parked)
			t->by = (struct unpark){0};
		t->gaps = p->gaps;
	}
	*ret = t;
	return 0;
}

void parks_free(struct park_exact *p)
{
	for (uint32_t i = 0; i < p->blocker_places.count; i++)
		park_lock_free(&p->blockers[i].lock);
	park_chains_free(&p->chains);
	park_waits_free(&p->waits);
	places_free(&p->blocker_places);
	places_free(&p->parker_places);
	free(p->blockers);
	free(p->parkers);
}
