#include "steal/compare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "steal/use.h"

int steal_span_join(const struct steal_span *exact, const struct steal_span *other,
		    struct steal_span *ret)
{
	size_t exact_count = exact->thread_count, count = exact_count;
	struct steal_use *rows = malloc((exact_count + other->thread_count + 1) * sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	if (exact_count)
		memcpy(rows, exact->threads, exact_count * sizeof(*rows));
	for (size_t i = 0; i < exact_count; i++)
		rows[i].stolen_ns[STEAL_PROPORTIONAL] = 0;
	use_sort_by_key(rows, exact_count);
	for (size_t i = 0; i < other->thread_count; i++) {
		const struct steal_use *u = &other->threads[i];
		struct steal_use *row = use_find(rows, exact_count, u);

		if (!row) {
			row = &rows[count++];
			*row = *u;
			row->stolen_ns[STEAL_EXACT] = 0;
			row->cpu_ns = 0; /* the other source's, which is not counted alike */
		}
		row->stolen_ns[STEAL_PROPORTIONAL] = u->stolen_ns[STEAL_PROPORTIONAL];
	}
	use_sort(rows, count, true);
	*ret = *exact;
	ret->threads = rows;
	ret->thread_count = count;
	ret->threads_ns[STEAL_PROPORTIONAL] = other->threads_ns[STEAL_PROPORTIONAL];
	ret->others_ns[STEAL_PROPORTIONAL] = other->others_ns[STEAL_PROPORTIONAL];
	return 0;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* Not reported by both sources: the thread has ended between two samples. */
static bool is_pooled(const struct steal_use *u)
{
	return !u->tid || !u->stolen_ns[STEAL_PROPORTIONAL];
}

static int compare_pid(const void *a, const void *b)
{
	const struct steal_use *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

/* Twice what is misplaced among the threads. v is sorted by process. */
static uint64_t differences(const struct steal_use *v, size_t count)
{
	uint64_t sum = 0, exact = 0, proportional = 0;

	for (size_t i = 0; i < count; i++) {
		if (is_pooled(&v[i])) {
			exact += v[i].stolen_ns[STEAL_EXACT];
			proportional += v[i].stolen_ns[STEAL_PROPORTIONAL];
		} else {
			sum += distance(v[i].stolen_ns[STEAL_EXACT],
					v[i].stolen_ns[STEAL_PROPORTIONAL]);
		}
		if (i + 1 == count || v[i + 1].pid != v[i].pid) {
			sum += distance(exact, proportional);
			exact = proportional = 0;
		}
	}
	return sum;
}

static int compare_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static uint64_t ppm(uint64_t part, uint64_t whole)
{
	unsigned __int128 of = (unsigned __int128)part * 1000000 / whole;

	return of > UINT64_MAX ? UINT64_MAX : (uint64_t)of;
}

/* The distribution over single threads. */
static void distribution(const struct steal_span *both, uint64_t least_ns, uint64_t *numbers,
			 struct steal_error *e)
{
	for (size_t i = 0; i < both->thread_count; i++) {
		const struct steal_use *u = &both->threads[i];
		uint64_t corrected_ns = steal_corrected_ns(both, u, STEAL_EXACT), of;

		if (is_pooled(u) || !corrected_ns || corrected_ns < least_ns)
			continue;
		of = ppm(distance(u->stolen_ns[STEAL_EXACT], u->stolen_ns[STEAL_PROPORTIONAL]),
			 corrected_ns);
		if (!e->threads || of > e->max_ppm) {
			e->max_ppm = of;
			e->top = *u;
		}
		numbers[e->threads++] = of;
	}
	if (!e->threads)
		return;
	qsort(numbers, e->threads, sizeof(*numbers), compare_number);
	e->median_ppm = numbers[(e->threads - 1) / 2];
	e->p90_ppm = numbers[(e->threads * 9 + 9) / 10 - 1];
}

int steal_compare(const struct steal_span *both, uint64_t least_ns, struct steal_error *ret)
{
	struct steal_error e = {.exact_ns = both->threads_ns[STEAL_EXACT],
				.proportional_ns = both->threads_ns[STEAL_PROPORTIONAL]};
	struct steal_use *rows = malloc((both->thread_count + 1) * sizeof(*rows));
	uint64_t *numbers = malloc((both->thread_count + 1) * sizeof(*numbers));
	int err = rows && numbers ? 0 : -ENOMEM;

	if (!err) {
		if (both->thread_count) {
			memcpy(rows, both->threads, both->thread_count * sizeof(*rows));
			qsort(rows, both->thread_count, sizeof(*rows), compare_pid);
		}
		e.misplaced_ns = (differences(rows, both->thread_count) +
				  distance(e.exact_ns, e.proportional_ns)) /
				 2;
		distribution(both, least_ns, numbers, &e);
		*ret = e;
	}
	free(rows);
	free(numbers);
	return err;
}
