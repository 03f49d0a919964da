#include "heap/replay/heap_lives.h"

static const uint32_t age_most[HEAP_LIVES_AGES] = {0, 1, 2, 4, 8, 16, UINT32_MAX};

const char *heap_lives_age_name(unsigned age)
{
	static const char *const names[HEAP_LIVES_AGES] = {
		"0", "1", "2", "3 to 4", "5 to 8", "9 to 16", "17 and more"};

	return names[age];
}

/* The moment of a point of a curve. */
static uint32_t point_moment(uint32_t from, uint32_t to, unsigned point)
{
	return from + (uint32_t)((uint64_t)(to - from) * point / (HEAP_LIVES_POINTS - 1));
}

static void sum_add(struct heap_lives_sum *s, const struct object_lifetime *l)
{
	s->objects += l->objects;
	s->bytes += l->bytes;
}

static bool is_old(const struct object_lifetime *l, uint32_t moment)
{
	return moment >= HEAP_LIVES_OLD && l->birth <= moment - HEAP_LIVES_OLD && l->death > moment;
}

static void add_age(struct heap_lives *g, const struct object_lifetime *l)
{
	uint32_t survived = l->death - l->birth - 1;
	unsigned age = 0;

	while (survived > age_most[age])
		age++;
	sum_add(&g->age[age], l);
	g->survived += l->objects * survived;
}

static uint64_t micros(uint64_t objects, uint64_t ns)
{
	return (uint64_t)((__uint128_t)objects * ns / 1000);
}

/* A birth is after one collection's end and before the next one's begin. */
static void add_time(struct heap_lives *g, const struct object_lifetime *l,
		     const struct heap_lives_times *t)
{
	uint64_t after, before, death;

	if (!t || t->untimed[l->kind] || l->death >= t->count)
		return;
	after = t->end_ns[l->birth];
	before = t->begin_ns[l->birth + 1];
	death = t->begin_ns[l->death];
	if (!after || before < after || death < before)
		return;
	g->timed += l->objects;
	g->least_us += micros(l->objects, death - before);
	g->most_us += micros(l->objects, death - after);
}

void heap_lives_add(const struct object_lifetimes *all, const uint32_t *group,
		    const struct heap_lives_interval *interval, struct heap_lives *groups)
{
	uint32_t from = interval->from, to = interval->to;

	for (uint32_t i = 0; i < all->count; i++) {
		const struct object_lifetime *l = &all->rows[i];
		struct heap_lives *g = &groups[group[l->kind]];
		enum lifetime_class class = object_lifetime_class(l, from, to);

		if (class == LIFETIME_OUTSIDE)
			continue;
		sum_add(&g->of[class], l);
		if (class == LIFETIME_DIED || class == LIFETIME_TEMPORARY) {
			add_age(g, l);
			add_time(g, l, interval->times);
		}
		if (is_old(l, from))
			sum_add(&g->old_from, l);
		if (is_old(l, to))
			sum_add(&g->old_to, l);
		for (unsigned p = 0; p < HEAP_LIVES_POINTS; p++)
			if (is_old(l, point_moment(from, to, p)))
				g->curve[p] += l->bytes;
	}
}

enum heap_lives_trend heap_lives_trend(const struct heap_lives *g)
{
	const unsigned last = HEAP_LIVES_POINTS - 1;
	uint64_t from = g->curve[0], third = g->curve[last - last / 3], to = g->curve[last];

	if (to < from)
		return from - to > from / 10 ? HEAP_LIVES_SHRINKS : HEAP_LIVES_FLAT;
	if (to - from <= to / 10)
		return HEAP_LIVES_FLAT;
	return to > third && to - third >= (to - from) / 6 ? HEAP_LIVES_GROWS : HEAP_LIVES_GREW;
}
