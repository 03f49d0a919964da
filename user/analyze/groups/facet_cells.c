/*
 * A blocked interval that has ended comes in parts, one for each holder and call chain. Each part
 * is cut where a window of time or a collection begins or ends, and by what the holder did; a cell
 * for each combination has the sums. Of a part it is known how long its holder did what, but not
 * when: a piece gets of each its share, by the piece's length, so that the sums of all pieces are
 * those of the part.
 *
 * An interval is counted once, as cells have it: where it began, with the holder of then. Of that
 * holder's states it is the one in which the holder was for most of the part.
 */
#include "analyze/groups/facet_cells.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define STATES HOLDER_STATE_COUNT

/* A cell that an interval has time in. */
struct touched_cell {
	uint64_t holder, holder_stack, blocked_on; /* of its key */
	uint64_t ns;
	uint32_t index;
};

struct facet_cells {
	struct facet_options o;
	struct facet_past past;
	struct cells cells;
	struct cell_part *parts; /* of the interval that comes next */
	uint32_t part_count, parts_capacity;
	struct touched_cell *touched; /* of the interval that is dealt with */
	uint32_t touched_count, touched_capacity;
	uint64_t window_ns;
	unsigned lengthened; /* so many times */
	bool full;
	cell_part_observer *observe;
	void *observer;
	int err;
};

struct facet_cells *facet_cells_new(const struct facet_options *o)
{
	struct facet_cells *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->o = *o;
	f->window_ns = o->window_ns ? o->window_ns : FACET_WINDOW_NS;
	return f;
}

void facet_cells_free(struct facet_cells *f)
{
	if (!f)
		return;
	facet_past_free(&f->past);
	cells_free(&f->cells);
	free(f->parts);
	free(f->touched);
	free(f);
}

static enum facet_duration duration_of(uint64_t ns)
{
	enum facet_duration d = DURATION_10US;

	for (uint64_t least_ns = 10000; d < DURATION_MORE && ns >= least_ns; least_ns *= 10)
		d++;
	return d;
}

/* --- windows --- */

static uint32_t window_halved(uint32_t packed)
{
	struct facets f = facets_unpack(packed);

	f.window = f.window ? 1 + (f.window - 1) / 2 : 0;
	return facets_pack(&f);
}

static uint32_t window_fifth(uint32_t packed)
{
	struct facets f = facets_unpack(packed);

	f.window = f.window ? 1 + (f.window - 1) / 5 : 0;
	return facets_pack(&f);
}

/* Lengths are 1 ms, 2 ms, 10 ms, 20 ms, 100 ms, ...: each a multiple of those before. */
static int lengthen(struct facet_cells *f)
{
	bool half = f->lengthened++ % 2 == 0;
	struct cells longer = {.max = f->cells.max, .lengths.max = f->cells.lengths.max};
	int err = cells_merge(&longer, &f->cells, half ? window_halved : window_fifth);

	if (err) {
		cells_free(&longer);
		return err;
	}
	f->window_ns *= half ? 2 : 5;
	cells_free(&f->cells);
	f->cells = longer;
	return 0;
}

/* Before an interval's cells are touched: up to its end there are not too many windows. */
static int windows_reserve(struct facet_cells *f, uint64_t until_ns)
{
	int err = 0;

	while (!err && !f->o.window_ns && until_ns > f->o.begin_ns &&
	       (until_ns - 1 - f->o.begin_ns) / f->window_ns >= FACET_WINDOWS)
		err = lengthen(f);
	return err;
}

/* ret_until_ns: where the next one begins. */
static unsigned window_at(struct facet_cells *f, uint64_t ns, uint64_t *ret_until_ns)
{
	uint64_t since_ns = ns > f->o.begin_ns ? ns - f->o.begin_ns : 0;
	uint64_t index = since_ns / f->window_ns;

	*ret_until_ns = f->o.begin_ns + (index + 1) * f->window_ns;
	if (index < FACET_WINDOWS_MAX)
		return 1 + (unsigned)index;
	f->full = true;
	return FACET_WINDOWS_MAX;
}

/* --- a piece of a part --- */

/* Of value, which a part has in all of its length, what is in a piece of it. */
struct share {
	uint64_t from, to, of;
};

static uint64_t upto(uint64_t value, uint64_t at, uint64_t of)
{
	return (uint64_t)((unsigned __int128)value * at / of);
}

static uint64_t take(const struct share *s, uint64_t value)
{
	return upto(value, s->to, s->of) - upto(value, s->from, s->of);
}

/* Of figures that add up to `whole`, each becomes its share, and they add up to the share of the
 * whole: the largest takes what rounding leaves, so that none is made of nothing. */
static void take_all(const struct share *s, uint64_t *const figures[], unsigned count,
		     uint64_t whole)
{
	unsigned most = 0;

	for (unsigned i = 0; i < count; i++) {
		most = *figures[i] > *figures[most] ? i : most;
	}
	for (unsigned i = 0; i < count; i++) {
		if (i == most)
			continue;
		*figures[i] = take(s, *figures[i]);
		*figures[i] = *figures[i] < whole ? *figures[i] : whole;
		whole -= *figures[i];
	}
	*figures[most] = whole;
}

static void split_share(struct split *s, const struct share *share, uint64_t ns)
{
	uint64_t *const all[] = {&s->running_ns,   &s->stolen_ns,  &s->runnable_ns,
				 &s->throttled_ns, &s->blocked_ns, &s->unknown_ns};
	uint64_t *reasons[BLOCKED_REASON_COUNT], other_ns = split_other(s);

	/* Reason 0 is not used: the others of blocked_ns have no figure. */
	for (unsigned i = 1; i < BLOCKED_REASON_COUNT; i++)
		reasons[i] = &s->reason_ns[i];
	reasons[0] = &other_ns;
	take_all(share, all, sizeof(all) / sizeof(*all), ns);
	take_all(share, reasons, BLOCKED_REASON_COUNT, s->blocked_ns);
}

static void stack_from_share(uint64_t *from_ns, const struct share *share, uint64_t ns)
{
	uint64_t *all[HOLDER_STACK_FROM_COUNT];

	for (unsigned i = 0; i < HOLDER_STACK_FROM_COUNT; i++)
		all[i] = &from_ns[i];
	take_all(share, all, HOLDER_STACK_FROM_COUNT, ns);
}

static struct cell_part piece_of(const struct cell_part *part, uint64_t from_ns, uint64_t to_ns,
				 bool split)
{
	struct cell_part piece = *part;
	struct share share = {from_ns - part->from_ns, to_ns - part->from_ns,
			      part->to_ns - part->from_ns};

	if (from_ns == part->from_ns && to_ns == part->to_ns)
		return piece;
	piece.from_ns = from_ns;
	piece.to_ns = to_ns;
	piece.first_reader_ns = take(&share, part->first_reader_ns);
	if (split)
		split_share(&piece.split, &share, to_ns - from_ns);
	if (holder_is_thread(part->key.holder))
		stack_from_share(piece.stack_from_ns, &share, to_ns - from_ns);
	return piece;
}

static int touch(struct facet_cells *f, uint32_t index, uint64_t ns)
{
	struct cell *cell = &f->cells.rows[index];
	int err;

	if (!cell->pending) {
		err = array_grow(&f->touched, &f->touched_capacity, f->touched_count,
				 sizeof(*f->touched));
		if (err)
			return err;
		f->touched[f->touched_count++] =
			(struct touched_cell){.holder = cell->holder,
					      .holder_stack = cell->holder_stack,
					      .blocked_on = cell->blocked_on,
					      .index = index};
		cell->pending = f->touched_count;
	}
	f->touched[cell->pending - 1].ns += ns;
	return 0;
}

/* The cells are of no use to who has set their bound. */
static bool given_up(const struct facet_cells *f)
{
	return f->o.cells_max && f->cells.count >= f->o.cells_max;
}

static void piece_tell(const struct facet_cells *f, const struct cell_part *piece, uint32_t facets)
{
	struct cell_part told = *piece;

	told.key.facets = facets;
	if (f->observe)
		f->observe(f->observer, &told);
}

static int piece_add(struct facet_cells *f, const struct cell_part *piece, const struct facets *at)
{
	struct cell_key key = piece->key;
	struct cell *cell;
	uint32_t index;
	int err;

	if (given_up(f)) {
		piece_tell(f, piece, 0);
		return 0;
	}
	key.facets = facets_pack(at);
	err = cells_add(&f->cells, &key, &index);
	if (err)
		return err;
	piece_tell(f, piece, key.facets);
	cell = &f->cells.rows[index];
	cell->monitor |= piece->monitor;
	cell->numbered |= piece->numbered;
	cell->blocked_ns += piece->to_ns - piece->from_ns;
	cell->first_reader_ns += piece->first_reader_ns;
	split_add(&cell->split, &piece->split);
	for (int i = 0; i < HOLDER_STACK_FROM_COUNT; i++)
		cell->stack_from_ns[i] += piece->stack_from_ns[i];
	return touch(f, index, piece->to_ns - piece->from_ns);
}

/* --- what the holder did --- */

/* Where a state's time is in a split; of those within blocked_ns, only the reason. */
static uint64_t *state_ns(struct split *s, enum facet_state state)
{
	switch (state) {
	case HOLDER_STATE_RUNNING:
		return &s->running_ns;
	case HOLDER_STATE_STOLEN:
		return &s->stolen_ns;
	case HOLDER_STATE_RUNNABLE:
		return &s->runnable_ns;
	case HOLDER_STATE_THROTTLED:
		return &s->throttled_ns;
	case HOLDER_STATE_LOCK:
		return &s->reason_ns[BLOCKED_REASON_LOCK];
	case HOLDER_STATE_WAIT:
		return &s->reason_ns[BLOCKED_REASON_WAIT];
	case HOLDER_STATE_PARK:
		return &s->reason_ns[BLOCKED_REASON_PARK];
	case HOLDER_STATE_SLEEP:
		return &s->reason_ns[BLOCKED_REASON_SLEEP];
	case HOLDER_STATE_IO:
		return &s->reason_ns[BLOCKED_REASON_IO];
	case HOLDER_STATE_PAUSE:
		return &s->reason_ns[BLOCKED_REASON_PAUSE];
	default:
		return NULL;
	}
}

static void states_of_part(const struct cell_part *part, uint64_t ret[STATES])
{
	struct split s = part->split;

	memset(ret, 0, STATES * sizeof(*ret));
	if (!holder_is_thread(part->key.holder)) {
		ret[HOLDER_STATE_NOBODY] = part->to_ns - part->from_ns;
		return;
	}
	for (enum facet_state i = 0; i < STATES; i++)
		ret[i] = state_ns(&s, i) ? *state_ns(&s, i) : 0;
	ret[HOLDER_STATE_OTHER] = split_other(&s);
	ret[HOLDER_STATE_NOT_SPLIT] = s.unknown_ns;
}

/* Nothing but one state. */
static struct split split_of_state(enum facet_state state, uint64_t ns)
{
	struct split s = {0};
	bool blocked = state >= HOLDER_STATE_LOCK && state <= HOLDER_STATE_OTHER;

	if (blocked)
		s.blocked_ns = ns;
	if (state_ns(&s, state))
		*state_ns(&s, state) = ns;
	else if (!blocked)
		s.unknown_ns = ns;
	return s;
}

static int states_add(struct facet_cells *f, const struct cell_part *piece, struct facets at)
{
	uint64_t ns[STATES], from_ns = piece->from_ns;
	int err = 0;

	if (!(f->o.facets & FACET_STATE))
		return piece_add(f, piece, &at);
	states_of_part(piece, ns);
	for (enum facet_state state = 0; state < STATES && !err; state++) {
		struct cell_part one;

		if (!ns[state])
			continue;
		one = piece_of(piece, from_ns, from_ns + ns[state], false);
		one.split = split_of_state(state, ns[state]);
		from_ns += ns[state];
		at.state = state;
		err = piece_add(f, &one, &at);
	}
	return err;
}

/* --- a part, an interval --- */

/* Window and collection of a moment, and up to when they stay. */
static void facets_at(struct facet_cells *f, uint64_t ns, struct facets *ret,
		      uint64_t *ret_until_ns)
{
	uint64_t gc_ns = UINT64_MAX, window_ns = UINT64_MAX;

	if (f->o.facets & FACET_WINDOW)
		ret->window = window_at(f, ns, &window_ns);
	if (f->o.facets & FACET_GC)
		ret->gc = facet_past_gc(&f->past, ns, &gc_ns) ? GC_WITHIN : GC_OUTSIDE;
	*ret_until_ns = gc_ns < window_ns ? gc_ns : window_ns;
}

static int part_add(struct facet_cells *f, const struct cell_part *part, struct facets at)
{
	uint64_t from_ns = part->from_ns, until_ns;
	int err = 0;

	while (from_ns < part->to_ns && !err) {
		struct cell_part piece;

		facets_at(f, from_ns, &at, &until_ns);
		until_ns = until_ns < part->to_ns ? until_ns : part->to_ns;
		piece = piece_of(part, from_ns, until_ns, true);
		err = states_add(f, &piece, at);
		from_ns = until_ns;
	}
	return err;
}

/* The part that an interval began with; NULL: it was over at once. */
static const struct cell_part *first_part(const struct facet_cells *f,
					  const struct cell_interval *interval)
{
	for (uint32_t i = 0; i < f->part_count; i++) {
		const struct cell_key *key = &f->parts[i].key;

		if (key->holder == interval->key.holder &&
		    key->holder_stack == interval->key.holder_stack &&
		    key->blocked_on == interval->key.blocked_on)
			return &f->parts[i];
	}
	return NULL;
}

static enum facet_state first_state(const struct cell_part *first, uint64_t holder)
{
	enum facet_state most = HOLDER_STATE_NONE;
	uint64_t ns[STATES];

	if (!first)
		return holder_is_thread(holder) ? HOLDER_STATE_NOT_SPLIT : HOLDER_STATE_NOBODY;
	states_of_part(first, ns);
	for (enum facet_state i = 0; i < STATES; i++)
		most = ns[i] > ns[most] ? i : most;
	return most;
}

static int interval_count(struct facet_cells *f, const struct cell_interval *interval,
			  struct facets at)
{
	const struct cell_part *first = first_part(f, interval);
	struct cell_key key = first ? first->key : interval->key;
	uint64_t until_ns;
	uint32_t index;
	int err;

	if (given_up(f))
		return 0;
	facets_at(f, interval->since_ns, &at, &until_ns);
	if (f->o.facets & FACET_STATE)
		at.state = first_state(first, key.holder);
	key.facets = facets_pack(&at);
	err = cells_add(&f->cells, &key, &index);
	if (err)
		return err;
	f->cells.rows[index].monitor |= interval->monitor;
	f->cells.rows[index].numbered |= first && first->numbered;
	return cells_count(&f->cells, index, interval->until_ns - interval->since_ns);
}

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* Cells that differ in their facets only are neighbours, and so are those of a holder. */
static int compare_touched(const void *a, const void *b)
{
	const struct touched_cell *x = a, *y = b;

	return compare_u64(x->holder, y->holder)
		       ?: compare_u64(x->holder_stack, y->holder_stack)
		       ?: compare_u64(x->blocked_on, y->blocked_on);
}

static void maxima_of_holder(struct facet_cells *f, uint32_t first, uint32_t end, uint64_t held_ns)
{
	const struct touched_cell *t = f->touched;
	uint32_t next;

	for (uint32_t i = first; i < end; i = next) {
		uint64_t part_ns = 0;

		for (next = i; next < end && !compare_touched(&t[i], &t[next]); next++)
			part_ns += t[next].ns;
		for (uint32_t k = i; k < next; k++) {
			struct cell *cell = &f->cells.rows[t[k].index];

			cell->pending = 0;
			if (held_ns > cell->max_held_ns)
				cell->max_held_ns = held_ns;
			if (part_ns > cell->max_part_ns)
				cell->max_part_ns = part_ns;
		}
	}
}

/* The most that one interval was charged to one holder, and to it in one call chain: of that all
 * pieces have the whole, so that it does not depend on what cells are cut by. */
static void maxima(struct facet_cells *f)
{
	struct touched_cell *t = f->touched;
	uint32_t end;

	if (f->touched_count)
		qsort(t, f->touched_count, sizeof(*t), compare_touched);
	for (uint32_t i = 0; i < f->touched_count; i = end) {
		uint64_t held_ns = 0;

		for (end = i; end < f->touched_count && t[end].holder == t[i].holder; end++)
			held_ns += t[end].ns;
		maxima_of_holder(f, i, end, held_ns);
	}
	f->touched_count = 0;
}

static int interval_add(struct facet_cells *f, const struct cell_interval *interval)
{
	struct facets at = {0};
	int err;

	if (!f->o.begin_ns)
		f->o.begin_ns = interval->since_ns;
	err = f->o.facets & FACET_WINDOW ? windows_reserve(f, interval->until_ns) : 0;
	if (f->o.facets & FACET_DURATION)
		at.duration = duration_of(interval->until_ns - interval->since_ns);
	if (f->o.facets & FACET_SPAN)
		at.span = facet_past_span(&f->past, interval->key.waiter, interval->since_ns);
	for (uint32_t i = 0; i < f->part_count && !err; i++)
		err = part_add(f, &f->parts[i], at);
	err = err ? err : interval_count(f, interval, at);
	maxima(f);
	return err;
}

void facet_cells_part(void *cells, const struct cell_part *part)
{
	struct facet_cells *f = cells;

	if (!f->err && part->to_ns > part->from_ns)
		f->err =
			array_grow(&f->parts, &f->parts_capacity, f->part_count, sizeof(*f->parts));
	if (!f->err && part->to_ns > part->from_ns)
		f->parts[f->part_count++] = *part;
}

void facet_cells_observe(struct facet_cells *f, cell_part_observer *observe, void *context)
{
	f->observe = observe;
	f->observer = context;
}

void facet_cells_interval(void *cells, const struct cell_interval *interval)
{
	struct facet_cells *f = cells;

	if (!f->err)
		f->err = interval_add(f, interval);
	f->part_count = 0;
}

int facet_cells_add(struct facet_cells *f, const struct event *e)
{
	return f->err ? f->err : facet_past_add(&f->past, e);
}

int facet_cells_hole(struct facet_cells *f, uint64_t from_ns)
{
	return f->err ? f->err : facet_past_hole(&f->past, from_ns);
}

/* --- what has come of it --- */

int facet_cells_error(const struct facet_cells *f)
{
	return f->err;
}

const struct cells *facet_cells(const struct facet_cells *f)
{
	return &f->cells;
}

bool facet_cells_full(const struct facet_cells *f)
{
	return f->full;
}

void facet_cells_window(const struct facet_cells *f, unsigned window, uint64_t *ret_from_ns,
			uint64_t *ret_to_ns)
{
	*ret_from_ns = f->o.begin_ns + (window - 1ull) * f->window_ns - f->o.start_ns;
	*ret_to_ns = *ret_from_ns + f->window_ns;
}

uint64_t facet_cells_span(const struct facet_cells *f, unsigned span)
{
	return span < FACET_SPAN_MORE ? facet_past_name(&f->past, span) : 0;
}
