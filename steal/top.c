#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "steal/top_internal.h"

int top_init(struct top *w, size_t keep)
{
	w->keep = keep ? keep : 1;
	w->intervals = calloc(w->keep, sizeof(*w->intervals));
	w->thefts = calloc(w->keep, sizeof(*w->thefts));
	return w->intervals && w->thefts ? 0 : -ENOMEM;
}

void top_free(struct top *w)
{
	free(w->intervals);
	free(w->thefts);
}

void top_begin(struct top *w, const struct steal_sample *s)
{
	memcpy(w->histogram_base, s->histogram, sizeof(w->histogram_base));
	w->lost_base = w->lost = s->thefts_lost;
	w->threads_lost_base = w->threads_lost = s->threads_lost;
}

/* Later ones of the same size come after. */
void top_add_interval(struct top *w, const struct steal_span *s)
{
	enum steal_method m = s->exact ? STEAL_EXACT : STEAL_PROPORTIONAL;
	size_t at = w->interval_count;
	struct steal_measure measure = steal_measure(s, m);
	struct steal_top one = {s->from_ns, s->to_ns, measure.stolen_ns, measure.wanted_ns, {0}};

	if (!one.stolen_ns)
		return;
	if (s->thread_count && s->threads[0].stolen_ns[m])
		one.victim = s->threads[0];
	while (at && w->intervals[at - 1].stolen_ns < one.stolen_ns)
		at--;
	if (at == w->keep)
		return;
	if (w->interval_count < w->keep)
		w->interval_count++;
	memmove(&w->intervals[at + 1], &w->intervals[at],
		(w->interval_count - 1 - at) * sizeof(one));
	w->intervals[at] = one;
}

/* The order in which they come decides nothing. */
static bool is_longer(const struct steal_theft *a, const struct steal_theft *b)
{
	if (a->ns != b->ns)
		return a->ns > b->ns;
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns;
	return a->cpu < b->cpu;
}

static void add_theft(struct top *w, const struct steal_theft *t)
{
	size_t at = w->theft_count;

	while (at && is_longer(t, &w->thefts[at - 1]))
		at--;
	if (at == w->keep)
		return;
	if (w->theft_count < w->keep)
		w->theft_count++;
	memmove(&w->thefts[at + 1], &w->thefts[at], (w->theft_count - 1 - at) * sizeof(*t));
	w->thefts[at] = *t;
}

void top_add_thefts(struct top *w, const struct steal_sample *s)
{
	for (size_t i = 0; i < s->theft_count; i++)
		add_theft(w, &s->thefts[i]);
	memcpy(w->histogram, s->histogram, sizeof(w->histogram));
	w->lost = s->thefts_lost;
	w->threads_lost = s->threads_lost;
}
