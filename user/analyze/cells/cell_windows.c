#include "analyze/cells/cell_windows.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_LENGTH_NS 1000000ull /* of a window */
#define WAIT_FLAG (1ull << 32)     /* threads have 32 bits, but for those that are no thread */

void cell_windows_init(struct cell_windows *w, uint64_t begin_ns)
{
	*w = (struct cell_windows){.begin_ns = begin_ns, .length_ns = FIRST_LENGTH_NS};
}

void cell_windows_free(struct cell_windows *w)
{
	keymap_free(&w->keys);
	keymap_free(&w->cuts);
	keymap_free(&w->entries);
	free(w->ns);
	*w = (struct cell_windows){0};
}

struct keymap_key cell_windows_key(const struct cell_key *key)
{
	return (struct keymap_key){
		key->lock,         key->waiter ^ (key->after_wait ? WAIT_FLAG : 0),
		key->holder,       key->waiter_stack,
		key->holder_stack, key->blocked_on};
}

struct cell_key cell_windows_cell(const struct keymap_key *key)
{
	bool others = key->b >> 33;
	bool after_wait = others ? !(key->b & WAIT_FLAG) : (key->b & WAIT_FLAG) != 0;

	return (struct cell_key){.lock = key->a,
				 .waiter = key->b ^ (after_wait ? WAIT_FLAG : 0),
				 .holder = key->c,
				 .waiter_stack = key->d,
				 .holder_stack = key->e,
				 .blocked_on = key->f,
				 .after_wait = after_wait};
}

struct cell_key cell_windows_cut(const struct cell_windows *w, uint32_t cut)
{
	struct cell_key key = cell_windows_cell(&w->keys.keys[w->cuts.keys[cut].a]);

	key.facets = (uint32_t)w->cuts.keys[cut].b;
	return key;
}

struct cell_window cell_windows_entry(const struct cell_windows *w, uint32_t index)
{
	uint64_t key = w->entries.keys[index].a;

	return (struct cell_window){.cut = (uint32_t)(key / CELL_WINDOWS_MAX),
				    .window = (uint32_t)(key % CELL_WINDOWS_MAX),
				    .ns = w->ns[index]};
}

static void give_up(struct cell_windows *w, int err)
{
	keymap_free(&w->keys);
	keymap_free(&w->cuts);
	keymap_free(&w->entries);
	w->keys = w->cuts = w->entries = (struct keymap){0};
	w->err = err;
	w->full = true;
}

static int entry_add(struct cell_windows *w, uint32_t key, uint32_t window, uint64_t ns)
{
	struct keymap_key entry = {.a = (uint64_t)key * CELL_WINDOWS_MAX + window};
	uint32_t at;
	int err = keymap_add_row(&w->entries, entry, &w->ns, &w->ns_capacity, sizeof(*w->ns), &at);

	if (!err)
		w->ns[at] += ns;
	return err;
}

/* Two windows become one. */
static void lengthen(struct cell_windows *w)
{
	struct keymap old = w->entries;
	uint64_t *ns = w->ns;
	int err = 0;

	w->entries = (struct keymap){0};
	w->ns = NULL;
	w->ns_capacity = 0;
	for (uint32_t i = 0; i < old.count && !err; i++)
		err = entry_add(w, (uint32_t)(old.keys[i].a / CELL_WINDOWS_MAX),
				(uint32_t)(old.keys[i].a % CELL_WINDOWS_MAX / 2), ns[i]);
	keymap_free(&old);
	free(ns);
	w->length_ns *= 2;
	w->count = (w->count + 1) / 2;
	if (err)
		give_up(w, err);
}

/* Room for the entries of an interval that ends in a window. */
static void make_room(struct cell_windows *w, uint64_t last)
{
	uint32_t most = w->entries_max ? w->entries_max : CELL_WINDOWS_ENTRIES_MAX;

	while (!w->full && last / w->length_ns >= CELL_WINDOWS_MAX)
		lengthen(w);
	while (!w->full && w->entries.count >= most) {
		if (w->count < 2 * CELL_WINDOWS_LEAST)
			give_up(w, 0);
		else
			lengthen(w);
	}
}

static int spread(struct cell_windows *w, uint32_t key, uint64_t from, uint64_t to)
{
	int err = 0;

	while (from < to && !err) {
		uint64_t window = from / w->length_ns, end = (window + 1) * w->length_ns;

		end = end < to ? end : to;
		err = entry_add(w, key, (uint32_t)window, end - from);
		if (window >= w->count)
			w->count = (uint32_t)window + 1;
		from = end;
	}
	return err;
}

void cell_windows_observe(void *context, const struct cell_part *part)
{
	struct cell_windows *w = context;
	uint64_t from_ns = part->from_ns, to_ns = part->to_ns;
	uint32_t at;
	int err;

	if (w->full || to_ns <= from_ns)
		return;
	if (!w->begin_ns)
		w->begin_ns = from_ns;
	/* What was before the begin is left out. */
	to_ns -= to_ns < w->begin_ns ? to_ns : w->begin_ns;
	from_ns -= from_ns < w->begin_ns ? from_ns : w->begin_ns;
	make_room(w, to_ns ? to_ns - 1 : 0);
	if (w->full)
		return;
	err = keymap_add(&w->keys, cell_windows_key(&part->key), &at);
	if (!err)
		err = keymap_add(&w->cuts, (struct keymap_key){.a = at, .b = part->key.facets},
				 &at);
	err = err ? err : spread(w, at, from_ns, to_ns);
	if (err)
		give_up(w, err);
}
