#include "report/csv/heatmap_csv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "analyze/cells/cell_windows.h"
#include "analyze/groups/contended.h"
#include "analyze/profile/profile_course.h"
#include "base/text/print.h"
#include "log/read/names.h"
#include "report/model/label.h"

/* A box of the map. */
struct box {
	uint64_t window, lock, waiter, holder; /* waiter: of samples the thread */
	uint64_t ns, samples;
};

struct boxes {
	struct keymap map;
	struct box *rows;
	uint32_t capacity;
};

static int compare(const void *a, const void *b)
{
	const struct box *x = a, *y = b;

	if (x->window != y->window)
		return x->window < y->window ? -1 : 1;
	if (x->lock != y->lock)
		return x->lock < y->lock ? -1 : 1;
	if (x->waiter != y->waiter)
		return x->waiter < y->waiter ? -1 : 1;
	return (x->holder > y->holder) - (x->holder < y->holder);
}

static int box_add(struct boxes *to, const struct box *box)
{
	const struct keymap_key key = {
		.a = box->window, .b = box->lock, .c = box->waiter, .d = box->holder};
	uint32_t count = to->map.count, at;
	int err = keymap_add_row(&to->map, key, &to->rows, &to->capacity, sizeof(*to->rows), &at);

	if (err)
		return err;
	if (at == count)
		to->rows[at] = *box;
	else {
		to->rows[at].ns += box->ns;
		to->rows[at].samples += box->samples;
	}
	return 0;
}

static void boxes_sort(struct boxes *b)
{
	if (b->map.count)
		qsort(b->rows, b->map.count, sizeof(*b->rows), compare);
}

static void boxes_free(struct boxes *b)
{
	keymap_free(&b->map);
	free(b->rows);
}

/* A thread's name and tid; of no thread what stands for it. */
static void thread_write(const struct heatmap_input *in, uint64_t thread, FILE *out)
{
	const struct log_thread *t =
		holder_is_thread(thread) ? log_names_thread(in->names, thread) : NULL;

	print_csv(out, ",%s,", name_thread(in->names, thread, "(unknown)"));
	if (t && !t->is_virtual)
		fprintf(out, "%" PRIu64, (uint64_t)t->tid);
}

static void times_write(const struct heatmap_input *in, uint64_t begin_ns, const struct box *box,
			uint64_t length_ns, FILE *out)
{
	uint64_t from_ns = begin_ns + box->window * length_ns;

	fprintf(out, ",%" PRIu64 ",%" PRIu64, from_ns - in->start_ns,
		from_ns + length_ns - in->start_ns);
}

/* Locks of mere parking are none: their time is no contention. */
static int contended_make(const struct heatmap_input *in, struct keymap *ret)
{
	uint32_t at;
	int err = 0;

	for (uint32_t i = 0; i < in->cell_count && !err; i++)
		if (lock_is_contended(in->names, in->cells[i].lock, in->cells[i].monitor))
			err = keymap_add_number(ret, in->cells[i].lock, &at);
	return err;
}

/* The cells whose time is asked for: by what identifies them but for facets, then with these. */
struct chosen {
	struct keymap cells, cuts;
};

static int chosen_make(const struct heatmap_input *in, struct chosen *ret)
{
	uint32_t at, cut;
	int err = 0;

	for (uint32_t i = 0; i < in->cell_count && !err; i++) {
		const struct cell_key key = cell_key_of(&in->cells[i]);

		err = keymap_add(&ret->cells, cell_windows_key(&key), &at);
		if (!err)
			err = keymap_add(&ret->cuts,
					 (struct keymap_key){.a = at, .b = key.facets}, &cut);
	}
	return err;
}

static bool is_chosen(const struct chosen *c, const struct cell_key *key)
{
	const struct keymap_key cell = cell_windows_key(key);
	uint32_t at = keymap_find(&c->cells, cell);

	return at != INDEX_NONE &&
	       keymap_find(&c->cuts, (struct keymap_key){.a = at, .b = key->facets}) != INDEX_NONE;
}

static int blocked_collect(const struct heatmap_input *in, struct boxes *ret)
{
	const struct cell_windows *w = in->windows;
	struct keymap contended = {0};
	struct chosen chosen = {0};
	int err = contended_make(in, &contended);

	if (in->chosen && !err)
		err = chosen_make(in, &chosen);
	for (uint32_t i = 0; i < w->entries.count && !err; i++) {
		const struct cell_window entry = cell_windows_entry(w, i);
		const struct cell_key cell = cell_windows_cut(w, entry.cut);
		const struct box box = {.window = entry.window,
					.lock = cell.lock,
					.waiter = cell.waiter,
					.holder = cell.holder,
					.ns = entry.ns};

		if (entry.ns && keymap_find_number(&contended, cell.lock) != INDEX_NONE &&
		    (!in->chosen || is_chosen(&chosen, &cell)))
			err = box_add(ret, &box);
	}
	keymap_free(&contended);
	keymap_free(&chosen.cells);
	keymap_free(&chosen.cuts);
	return err;
}

static int blocked_write(const struct heatmap_input *in, const struct labels *labels, FILE *out)
{
	struct boxes boxes = {.capacity = 0};
	char label[LABEL_MAX];
	int err = blocked_collect(in, &boxes);

	boxes_sort(&boxes);
	for (uint32_t i = 0; i < boxes.map.count && !err && !ferror(out); i++) {
		const struct box *box = &boxes.rows[i];

		fputs("contention", out);
		times_write(in, in->windows->begin_ns, box, in->windows->length_ns, out);
		print_csv(out, ",%s,%s", name_class(in->names, box->lock),
			  label_identity(labels, box->lock, label));
		thread_write(in, box->waiter, out);
		thread_write(in, box->holder, out);
		fprintf(out, ",%" PRIu64 ",\n", box->ns);
	}
	boxes_free(&boxes);
	return err;
}

static int samples_collect(const struct heatmap_input *in, struct boxes *ret)
{
	int err = 0;

	for (uint32_t i = 0; i < in->course->count && !err; i++) {
		const struct course_step *step = &in->course->steps[i];
		struct box box = {.waiter = in->course->threads.keys[step->thread].a,
				  .ns = step->weight,
				  .samples = 1};

		if (step->cell == INDEX_NONE || step->time_ns < in->windows->begin_ns)
			continue;
		box.window = (step->time_ns - in->windows->begin_ns) / HEATMAP_SLOT_NS;
		err = box_add(ret, &box);
	}
	return err;
}

static int samples_write(const struct heatmap_input *in, FILE *out)
{
	struct boxes boxes = {.capacity = 0};
	int err = samples_collect(in, &boxes);

	boxes_sort(&boxes);
	for (uint32_t i = 0; i < boxes.map.count && !err && !ferror(out); i++) {
		const struct box *box = &boxes.rows[i];

		fputs("samples", out);
		times_write(in, in->windows->begin_ns, box, HEATMAP_SLOT_NS, out);
		fputs(",,", out);
		thread_write(in, box->waiter, out);
		fprintf(out, ",,,%" PRIu64 ",%" PRIu64 "\n", box->ns, box->samples);
	}
	boxes_free(&boxes);
	return err;
}

int heatmap_csv(const struct heatmap_input *in, FILE *out)
{
	struct labels *labels = labels_new(in->names);
	int err = labels ? 0 : -ENOMEM;

	if (!err)
		fputs("what,from_ns,to_ns,lock_class,lock,thread,tid,owner,owner_tid,ns,samples\n",
		      out);
	err = err ?: blocked_write(in, labels, out);
	err = err ?: samples_write(in, out);
	labels_free(labels);
	return err;
}
