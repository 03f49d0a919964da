#include "analyze/profile/profile_cells.h"

#include "analyze/profile/profile.h"
#include "base/tables/array.h"

int profile_thread_get(struct profile *p, uint64_t thread, struct profile_thread **ret)
{
	uint32_t index, before = p->thread_map.count;
	int err = keymap_add_row(&p->thread_map, (struct keymap_key){.a = thread}, &p->threads,
				 &p->threads_capacity, sizeof(*p->threads), &index);

	if (err)
		return err;
	*ret = &p->threads[index];
	if (index == before) {
		(*ret)->thread = thread;
		(*ret)->known = p->options.from_begin;
	}
	return 0;
}

int profile_aspect_get(struct profile *p, const struct profile_aspect *a, uint32_t *ret)
{
	const struct keymap_key none = {0};
	const struct keymap_key key = {
		.a = a->span ? a->span : a->lock,
		.b = a->symbol,
		.c = a->callers << 8 | (uint64_t)a->work << 1 | (a->span != 0),
		.d = a->work_id,
	};
	int err = p->aspect_map.count
			  ? 0
			  : keymap_add_row(&p->aspect_map, none, &p->aspects, &p->aspects_capacity,
					   sizeof(*p->aspects), ret);

	if (!err)
		err = keymap_add_row(&p->aspect_map, key, &p->aspects, &p->aspects_capacity,
				     sizeof(*p->aspects), ret);
	if (!err)
		p->aspects[*ret] = *a;
	return err;
}

int profile_cell_get(struct profile *p, const struct profile_cell *like, struct profile_cell **ret)
{
	const struct keymap_key key = {
		.a = like->thread,
		.b = like->stack,
		.c = like->aspect,
		.d = like->mode << 32 | (uint64_t)like->state << 2 | (uint64_t)like->rest << 1 |
		     like->failed,
	};
	uint32_t index, before = p->cell_map.count;
	int err = keymap_add_row(&p->cell_map, key, &p->cells, &p->cells_capacity,
				 sizeof(*p->cells), &index);

	if (err)
		return err;
	*ret = &p->cells[index];
	if (index == before)
		**ret = *like;
	return 0;
}

int profile_charge(struct profile *p, uint64_t thread, enum state state, uint64_t stack,
		   uint64_t ns)
{
	const struct profile_cell like = {.thread = thread, .state = state, .stack = stack};
	struct profile_cell *c;
	int err = profile_cell_get(p, &like, &c);

	if (!err)
		c->ns += ns;
	return err;
}
