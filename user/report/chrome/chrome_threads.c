/* The threads' tracks: what they are called, their order, and the slices on them. */
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/threads/pool.h"
#include "base/text/strbuf.h"
#include "log/read/names.h"
#include "report/chrome/chrome_internal.h"

#define TID_MAX (1u << 22) /* of the kernel; tracks of other kinds have numbers from here on */

struct order {
	uint64_t thread;
	uint64_t tid;
	const char *name;
	enum thread_group group;
};

static int compare(const void *a, const void *b)
{
	const struct order *x = a, *y = b;
	int by_name = strverscmp(x->name, y->name);

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (by_name)
		return by_name;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return (x->thread > y->thread) - (x->thread < y->thread);
}

static bool is_hidden(const struct chrome *c, uint64_t thread)
{
	char label[LABEL_MAX];

	return c->options.threads &&
	       fnmatch(c->options.threads,
		       name_thread(c->names, thread, label_thread(c->labels, thread, label)), 0);
}

/* A kernel thread id may be used again, by another thread: that one's track has another number. */
static int number_track(struct chrome *c, uint64_t tid, struct chrome_thread *t)
{
	uint32_t index, known = c->track_map.count;
	int err = 0;

	t->track = tid;
	if (tid && tid < TID_MAX) {
		err = keymap_add(&c->track_map, (struct keymap_key){.a = tid}, &index);
		t->again = c->track_map.count == known;
	}
	if (!tid || tid >= TID_MAX || t->again)
		t->track = c->next_track++;
	return err;
}

int chrome_thread(struct chrome *c, uint64_t thread, struct chrome_thread **ret)
{
	const struct log_thread *l = log_names_thread(c->names, thread);
	uint32_t index = keymap_find_number(&c->thread_map, thread);
	struct chrome_thread *t;
	int err;

	if (index != INDEX_NONE) {
		*ret = chrome_thread_at(c, index);
		if ((*ret)->holes != c->holes) {
			(*ret)->unpark = (struct chrome_wake){0};
			(*ret)->sampled = false;
			(*ret)->holes = c->holes;
		}
		return 0;
	}
	err = keymap_add_segment_row(&c->thread_map, (struct keymap_key){.a = thread}, &c->threads,
				     sizeof(*t), &index);
	if (err)
		return err;
	t = *ret = chrome_thread_at(c, index);
	t->thread = (uint32_t)thread;
	t->holes = c->holes;
	t->hidden = is_hidden(c, thread);
	t->sort = CHROME_SORT_THREADS + 3ull * index + 2;
	return number_track(c, l ? l->tid : 0, t);
}

/* In their order, so that those whose names the log does not have come last. */
int chrome_threads_init(struct chrome *c)
{
	unsigned count = log_names_count(c->names, LOG_NAMES_THREAD);
	struct order *orders = calloc(count + 1, sizeof(*orders));
	struct chrome_thread *t;
	int err = orders ? 0 : -ENOMEM;

	for (unsigned i = 0; orders && i < count; i++) {
		uint64_t id = log_names_id(c->names, LOG_NAMES_THREAD, i);
		const struct log_thread *l = log_names_thread(c->names, id);

		orders[i] = (struct order){id, l->tid, l->name,
					   thread_group_of(l->name, l->java_id != 0)};
	}
	if (orders)
		qsort(orders, count, sizeof(*orders), compare);
	for (unsigned i = 0; i < count && !err; i++)
		err = chrome_thread(c, orders[i].thread, &t);
	free(orders);
	return err;
}

void chrome_threads_free(struct chrome *c)
{
	segments_free(&c->threads);
}

char *chrome_thread_label(struct chrome *c, uint64_t thread, char buf[LABEL_MAX])
{
	struct chrome_thread *t;

	label_thread(c->labels, thread, buf);
	if (!chrome_thread(c, thread, &t) && t->again)
		buffer_add(buf, LABEL_MAX, " #%" PRIu64, thread);
	return buf;
}
