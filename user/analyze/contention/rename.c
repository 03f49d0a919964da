#include "analyze/contention/rename.h"

static void pending_add(struct pending *p, const struct pending *more)
{
	if (more->begin_ns < p->begin_ns)
		p->begin_ns = more->begin_ns;
	p->ns += more->ns;
	p->first_reader_ns += more->first_reader_ns;
	split_add(&p->split, &more->split);
	for (int i = 0; i < HOLDER_STACK_FROM_COUNT; i++)
		p->from_ns[i] += more->from_ns[i];
}

/* The cell like this one, but with another holder. */
static int cell_like(struct holds *h, uint32_t cell, uint64_t holder, uint32_t *ret)
{
	struct cell_key key = cell_key_of(&h->cells.rows[cell]);
	bool monitor = h->cells.rows[cell].monitor;
	int err;

	key.holder = holder;
	err = cells_add(&h->cells, &key, ret);
	if (!err)
		h->cells.rows[*ret].monitor |= monitor;
	return err;
}

/* The piece at *link, of a contention that goes on, goes to another cell, and is one with what the
 * contention has there. *ret: the next link. */
static void pending_move(struct holds *h, uint32_t *link, uint32_t cell, uint32_t holder,
			 uint32_t **ret)
{
	uint32_t i = *link, there = h->cells.rows[cell].pending;
	struct pending *p = &h->pending[i];

	h->cells.rows[p->cell].pending = 0;
	*ret = &p->next;
	if (!there) {
		p->cell = cell;
		p->holder = holder;
		h->cells.rows[cell].pending = i + 1;
		return;
	}
	pending_add(&h->pending[there - 1], p);
	*link = p->next;
	*ret = link;
	p->next = h->pending_free;
	h->pending_free = i + 1;
}

int rename_holder(struct holds *h, struct waiter_state *t, uint64_t from, uint64_t to,
		  uint32_t to_index)
{
	uint32_t *link = &t->pending, cell;
	int err = 0;

	if (t->first_cell != INDEX_NONE && h->cells.rows[t->first_cell].holder == from)
		err = cell_like(h, t->first_cell, to, &t->first_cell);
	while (*link != INDEX_NONE && !err) {
		uint32_t was = h->pending[*link].cell;

		cell = was;
		if (h->cells.rows[was].holder == from && !cell_is_shared(&h->cells.rows[was]))
			err = cell_like(h, was, to, &cell);
		if (cell == was || cell_is_shared(&h->cells.rows[cell]))
			link = &h->pending[*link].next;
		else
			pending_move(h, link, cell, to_index, &link);
	}
	return err;
}
