/*
 * One JSON object: facts, the text report, the cells by columns with what their numbers mean, the
 * time of cells by window, and the tables of the report. Numbers are exact up to 2^53, which is 104
 * days in ns.
 */
#include "report/web/page_data.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cells/cell_windows.h"
#include "analyze/gc/gc_series.h"
#include "analyze/registry/analysis.h"
#include "base/text/print.h"
#include "base/text/strbuf.h"
#include "log/format/event.h"
#include "log/format/header_fields.h"
#include "log/read/names.h"
#include "report/model/attribution_basis.h"
#include "report/model/chain.h"
#include "report/model/label.h"
#include "report/model/report.h"
#include "report/model/sections/commands/gc_report.h"
#include "report/model/sections/sections.h"
#include "report/web/page.h"
#include "report/web/page_aligned.h"
#include "report/web/page_cells.h"
#include "report/web/page_compare.h"
#include "report/web/page_findings.h"
#include "report/web/page_kinds.h"
#include "session/session_log.h"

#define NUMBER_MAX ((1ull << 53) - 1)

struct writer {
	const struct page_input *in;
	const struct section_input *s;
	const struct page_cells *p;
	struct keymap nodes;   /* by stack */
	struct keymap methods; /* by number */
	uint32_t *ranks;       /* of locks, in a page that compares; else NULL */
	FILE *out;
};

/* Faster than fprintf(), by which most of the time would go. */
static void number(FILE *out, uint64_t n)
{
	char digits[24];
	int at = sizeof(digits);

	n = n < NUMBER_MAX ? n : NUMBER_MAX;
	do
		digits[--at] = (char)('0' + n % 10);
	while (n /= 10);
	fwrite_unlocked(digits + at, 1, sizeof(digits) - (size_t)at, out);
}

static void name(FILE *out, const char *key)
{
	print_json(out, ",%s:", key);
}

#define LIST(w, key, count, ...)                                                                   \
	do {                                                                                       \
		name((w)->out, (key));                                                             \
		putc('[', (w)->out);                                                               \
		for (uint32_t i = 0; i < (count); i++) {                                           \
			if (i)                                                                     \
				putc(',', (w)->out);                                               \
			__VA_ARGS__;                                                               \
		}                                                                                  \
		putc(']', (w)->out);                                                               \
	} while (0)

#define NUMBERS(w, key, count, value) LIST(w, key, count, number((w)->out, value))
#define TEXTS(w, key, count, value) LIST(w, key, count, print_json_string((w)->out, value))

/* --- what the numbers mean --- */

static void aspects_write(struct writer *w)
{
	name(w->out, "aspects");
	putc('[', w->out);
	for (int i = 0, n = 0; i < ASPECT_COUNT; i++) {
		const struct aspect *a = aspect_get(i);

		if (!page_has_aspect(w->in->in, i))
			continue;
		if (n++)
			putc(',', w->out);
		print_json(w->out, "{\"name\":%s,\"doc\":%s", a->name, a->doc);
		fprintf(w->out, ",\"max\":%d}", a->max);
	}
	putc(']', w->out);
}

static const char *thread_text(struct writer *w, uint32_t i, char buf[LABEL_MAX])
{
	uint64_t thread = w->p->threads.keys[i].a;

	return w->ranks ? page_aligned_thread(w->s, thread, buf)
			: label_thread(w->s->labels, thread, buf);
}

static const char *class_text(struct writer *w, uint32_t i, char buf[LABEL_MAX])
{
	const struct keymap_key *key = &w->p->locks.keys[i];
	const char *class = key->b ? log_names_class(w->s->names, key->a) : NULL;

	if (!key->b)
		return w->ranks ? page_aligned_class(w->s, key->a, buf)
				: label_class(w->s->labels, key->a, buf);
	return label_clean(class ? class : "(unknown class)", buf);
}

static const char *lock_text(struct writer *w, uint32_t i, char buf[LABEL_MAX])
{
	uint64_t lock = w->p->locks.keys[i].a;

	if (!w->p->locks.keys[i].b)
		return w->ranks ? page_aligned_lock(w->s, lock, w->ranks[i], buf)
				: label_lock(w->s->labels, lock, buf);
	class_text(w, i, buf);
	buffer_add(buf, LABEL_MAX, " (other locks)");
	return buf;
}

static const char *method_text(struct writer *w, uint32_t i, char buf[LABEL_MAX])
{
	uint64_t method = w->methods.keys[i].a;
	const struct log_method *m = NULL;

	if (method == UINT32_MAX)
		return label_thread(w->s->labels, HOLDER_HAND_OVER, buf);
	if (w->ranks)
		m = stacks_method(w->s->stacks, (uint32_t)method);
	if (m)
		return page_aligned_method(m, buf);
	return label_method(w->s->stacks, (uint32_t)method, buf);
}

/* What looks alike need not be one class. */
static int class_keys_write(struct writer *w)
{
	struct keymap keys = {0};
	uint32_t at = 0;
	int err = 0;

	LIST(w, "lock_class_keys", w->p->locks.count,
	     err = err ?: keymap_add_number(&keys,
					    (uintptr_t)page_cells_class(w->s->names,
									&w->p->locks.keys[i]),
					    &at);
	     number(w->out, at));
	keymap_free(&keys);
	return err;
}

static int names_write(struct writer *w)
{
	const struct page_cells *p = w->p;
	char buf[LABEL_MAX];

	TEXTS(w, "threads", p->threads.count, thread_text(w, i, buf));
	NUMBERS(w, "thread_rank", p->threads.count, p->thread_rank[i]);
	TEXTS(w, "locks", p->locks.count, lock_text(w, i, buf));
	TEXTS(w, "lock_classes", p->locks.count, class_text(w, i, buf));
	NUMBERS(w, "lock_rank", p->locks.count, p->lock_rank[i]);
	TEXTS(w, "methods", w->methods.count, method_text(w, i, buf));
	NUMBERS(w, "method_numbers", w->methods.count, w->methods.keys[i].a);
	return class_keys_write(w);
}

/* --- chains: as nodes, each with the node that called it --- */

static int nodes_add(struct writer *w, uint64_t stack)
{
	struct stacks_frame f;
	uint32_t at;

	while (stack && keymap_find_number(&w->nodes, stack) == INDEX_NONE) {
		int err = keymap_add_number(&w->nodes, stack, &at);

		if (err)
			return err;
		if (!stacks_next(w->s->stacks, &stack, &f))
			break;
	}
	return 0;
}

/* What a frame is called, without its line: as --where has it. */
static const char *node_method(struct writer *w, uint64_t stack, char buf[LABEL_MAX])
{
	struct stacks_frame f;

	return stacks_next(w->s->stacks, &stack, &f) && f.method ? label_method_name(f.method, buf)
								 : "";
}

/* That as logs are aligned by it, in a page that compares. */
static const char *node_text(struct writer *w, uint64_t stack, char buf[LABEL_MAX])
{
	struct stacks_frame f;
	uint64_t at = stack;

	if (w->ranks && stacks_next(w->s->stacks, &at, &f) && f.method)
		return page_aligned_method(f.method, buf);
	return node_method(w, stack, buf);
}

/* What follows on that, or all. */
static const char *node_rest(struct writer *w, uint64_t stack, char buf[LABEL_MAX])
{
	struct chain chain = {.stacks = w->s->stacks, .stack = stack, .full = true};
	char method[LABEL_MAX];
	size_t length = strlen(node_method(w, stack, method));

	if (!chain_next(&chain, buf))
		return "";
	return strncmp(buf, method, length) ? "" : buf + length;
}

enum node_flag { NODE_INTERNAL = 1, NODE_JDK = 2, NODE_END = 4, NODE_INFERRED = 8 };

static unsigned node_flags(struct writer *w, uint64_t stack)
{
	struct stacks_frame f;

	if (!stacks_next(w->s->stacks, &stack, &f))
		return 0;
	return (f.internal ? NODE_INTERNAL : 0) | (f.jdk ? NODE_JDK : 0) |
	       (f.kind == STACKS_MISSING || f.kind == STACKS_CUT || f.kind == STACKS_IN_HEAP
			? NODE_END
			: 0) |
	       (f.frame && f.frame->inferred ? NODE_INFERRED : 0);
}

/* 1 + the index of the caller's node; 0: there is none. */
static uint64_t node_caller(struct writer *w, uint64_t stack)
{
	struct stacks_frame f;

	if (!stacks_next(w->s->stacks, &stack, &f) || !stack)
		return 0;
	return keymap_find_number(&w->nodes, stack) + 1ull;
}

static int chains_write(struct writer *w)
{
	const struct page_chain *chains = w->p->chains;
	uint32_t count = w->p->chain_keys.count, at,
		 *waiter = malloc((count + 1) * sizeof(*waiter)),
		 *holder = malloc((count + 1) * sizeof(*holder));
	char buf[LABEL_MAX];
	int err = waiter && holder ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < count && !err; i++) {
		err = nodes_add(w, chains[i].stack);
		err = err ?: keymap_add_number(&w->methods, chains[i].waiter_method, &at);
		waiter[i] = err ? 0 : at;
		err = err ?: keymap_add_number(&w->methods, chains[i].holder_method, &at);
		holder[i] = err ? 0 : at;
	}
	if (!err) {
		NUMBERS(w, "chain_numbers", count, chains[i].number);
		NUMBERS(w, "chain_nodes", count,
			chains[i].stack ? keymap_find_number(&w->nodes, chains[i].stack) + 1ull
					: 0);
		NUMBERS(w, "chain_waiter_methods", count, waiter[i]);
		NUMBERS(w, "chain_holder_methods", count, holder[i]);
		TEXTS(w, "node_methods", w->nodes.count, node_text(w, w->nodes.keys[i].a, buf));
		TEXTS(w, "node_rest", w->nodes.count, node_rest(w, w->nodes.keys[i].a, buf));
		NUMBERS(w, "node_flags", w->nodes.count, node_flags(w, w->nodes.keys[i].a));
		NUMBERS(w, "node_callers", w->nodes.count, node_caller(w, w->nodes.keys[i].a));
	}
	free(waiter);
	free(holder);
	return err;
}

/* --- cells --- */

static void cells_write(struct writer *w)
{
	static const char *const splits[] = {"running",   "stolen",  "runnable",
					     "throttled", "blocked", "unknown"};
	/* As name_group() has them. */
	static const char *const groups[LOCK_GROUP_COUNT] = {
		[LOCK_GROUP_OTHER] = "other",
		[LOCK_GROUP_MONITOR] = "monitor",
		[LOCK_GROUP_JUC] = "juc",
	};
	const struct page_cell *c = w->p->cells;
	uint32_t count = w->p->cell_count;

	fputs(",\"cells\":{\"merged\":", w->out);
	fprintf(w->out, "%" PRIu32, w->p->merged);
	name(w->out, "merged_ns");
	fprintf(w->out, "%" PRIu64, w->p->merged_ns);
	NUMBERS(w, "lock", count, c[i].lock);
	NUMBERS(w, "group", count, c[i].group);
	NUMBERS(w, "waiter", count, c[i].waiter);
	NUMBERS(w, "holder", count, c[i].holder);
	NUMBERS(w, "waiter_chain", count, c[i].waiter_chain);
	NUMBERS(w, "holder_chain", count, c[i].holder_chain);
	NUMBERS(w, "behind", count, c[i].blocked_on == PAGE_NONE ? 0 : c[i].blocked_on + 1ull);
	NUMBERS(w, "after_wait", count, c[i].sum.after_wait);
	NUMBERS(w, "count", count, c[i].sum.count);
	NUMBERS(w, "blocked", count, c[i].sum.blocked_ns);
	NUMBERS(w, "idle", count, c[i].idle_ns);
	NUMBERS(w, "max", count, c[i].sum.max_ns);
	NUMBERS(w, "max_held", count, c[i].sum.max_held_ns);
	NUMBERS(w, "max_part", count, c[i].sum.max_part_ns);
	NUMBERS(w, "first_reader", count, c[i].sum.first_reader_ns);
	for (size_t k = 0; k < sizeof(splits) / sizeof(*splits); k++) {
		char key[32] = "split_";

		buffer_add(key, sizeof(key), "%s", splits[k]);
		NUMBERS(w, key, count, (&c[i].sum.split.running_ns)[k]);
	}
	TEXTS(w, "group_names", LOCK_GROUP_COUNT, groups[i]);
	putc('}', w->out);
}

/* From the first window's begin to the last event. */
static uint64_t watched_ns(const struct page_input *in)
{
	return in->end_ns > in->windows->begin_ns ? in->end_ns - in->windows->begin_ns : 0;
}

/* By which there are at most CELL_WINDOWS_MAX windows, also where nobody was blocked. */
static uint64_t window_least_ns(const struct page_input *in)
{
	uint64_t length_ns = in->windows ? in->windows->length_ns : 0;

	while (length_ns &&
	       (length_ns < in->window_ns || watched_ns(in) / length_ns >= CELL_WINDOWS_MAX))
		length_ns *= 2;
	return length_ns;
}

static int parts_write(struct writer *w)
{
	const struct cell_windows *windows = w->in->windows;
	struct page_axis axis = {.start_ns = w->in->start_ns};

	if (!w->in->parts)
		return 0;
	if (windows && !windows->full) {
		axis.begin_ns = windows->begin_ns;
		axis.length_ns = windows->length_ns << w->p->window_shift;
	}
	return w->in->parts(w->in->parts_ctx, w->in->in, &axis, w->out);
}

static void windows_write(struct writer *w)
{
	const struct cell_windows *windows = w->in->windows;
	const struct page_window *e = w->p->windows;
	uint32_t count = w->p->window_count;

	if (!windows || windows->full)
		return;
	fprintf(w->out,
		",\"windows\":{\"length_ns\":%" PRIu64 ",\"begin_ns\":%" PRIu64
		",\"count\":%" PRIu64,
		windows->length_ns << w->p->window_shift,
		windows->begin_ns > w->in->start_ns ? windows->begin_ns - w->in->start_ns : 0,
		watched_ns(w->in) / (windows->length_ns << w->p->window_shift) + 1);
	NUMBERS(w, "cell", count, i ? e[i].cell - e[i - 1].cell : e[i].cell);
	NUMBERS(w, "window", count, e[i].window);
	NUMBERS(w, "ns", count, e[i].ns);
	putc('}', w->out);
}

/* --- the rest --- */

static void facts_write(struct writer *w)
{
	const struct session_log *log = w->in->in->log;
	struct attribution_basis basis = basis_of(w->in->in);
	struct analysis_facts f;
	uint64_t lost = 0;

	analysis_facts(w->s->analysis, &f);
	for (uint32_t i = 0; i < f.lost_count; i++)
		lost += f.lost[i].count;
	fprintf(w->out,
		"\"facts\":{\"start_wall_ns\":%" PRIu64 ",\"start_mono_ns\":%" PRIu64
		",\"duration_ns\":%" PRIu64 ",\"from_ns\":%" PRIu64 ",\"to_ns\":%" PRIu64
		",\"lost\":%" PRIu64 ",\"damaged\":%d,\"exact\":%d,\"chains\":%d",
		header_number(log->header, NULL, "start_wall_ns"), w->in->start_ns,
		session_log_duration(log), log->from_ns ? log->from_ns - w->in->start_ns : 0,
		log->to_ns ? log->to_ns - w->in->start_ns : 0, lost, log->damaged, basis.exact,
		w->p->chain_keys.count > 1);
	print_json(w->out, ",\"title\":%s,\"source\":%s,\"where\":%s}", w->in->title, w->in->source,
		   w->in->in->where ? w->in->in->where : "");
}

/* All that the text report says: the page begins with its first part. */
static int text_write(struct writer *w)
{
	char *text = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&text, &size);
	int err = to ? report_text(w->in->in, to) : -ENOMEM;

	if (to && fclose(to) && !err)
		err = -ENOMEM;
	if (!err) {
		name(w->out, "text");
		print_json_string(w->out, text);
	}
	free(text);
	return err;
}

static int table_write(struct writer *w, const char *key, struct findings *f, unsigned *count)
{
	if (!f)
		return -ENOMEM;
	if (!f->err && !findings_has_rows(f, FINDINGS_PEOPLE)) {
		findings_free(f);
		return 0;
	}
	if ((*count)++)
		putc(',', w->out);
	print_json(w->out, "%s:", key);
	return page_findings_take(f, w->out);
}

static int pauses_write(struct writer *w, unsigned *count)
{
	const struct gc_input gc = {
		.in = w->s->in, .series = w->in->series, .start_ns = w->in->start_ns};
	struct gc_model model;
	uint32_t at = 0;
	int err = gc_model_make(&gc, &model);

	if (err)
		return err;
	err = table_write(w, "pauses", gc_section_rows(w->s, &model, GC_WHICH_PAUSES, &at), count);
	err = err ?: table_write(w, "longest_pauses", gc_section_longest(w->s, &model), count);
	gc_model_free(&model);
	return err;
}

static int tables_write(struct writer *w)
{
	static const char *const names[] = {"gc",          "safepoints", "vm_operations",
					    "collections", "phases",     "safepoint_times",
					    "parking",     "waiting",    "threads",
					    "pinned",      "carriers",   "cpus"};
	unsigned count = 0;
	int err = 0;

	fputs(",\"tables\":{", w->out);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !err; i++)
		err = table_write(w, names[i], section_by_name(names[i])(w->s), &count);
	err = err ?: table_write(w, "wall", section_wall(w->s), &count);
	err = err ?: pauses_write(w, &count);
	putc('}', w->out);
	return err;
}

/* What cells are made of, with what their numbers mean. */
static int cells_part_write(struct writer *w)
{
	const struct page_kinds kinds = {.s = w->s, .p = w->p};
	int err;

	aspects_write(w);
	err = chains_write(w);
	err = err ?: names_write(w);
	if (err)
		return err;
	cells_write(w);
	err = page_kinds_write(&kinds, w->out);
	return err ? err : page_lengths_write(w->p, w->out);
}

static int all_write(struct writer *w)
{
	int err;

	putc('{', w->out);
	facts_write(w);
	err = text_write(w);
	err = err ? err : cells_part_write(w);
	if (!err)
		windows_write(w);
	err = err ? err : tables_write(w);
	err = err ? err : parts_write(w);
	if (!err && w->in->compare)
		err = page_compare_write(w->in->compare, w->out);
	fputs("}\n", w->out);
	return err;
}

static int cells_only_write(struct writer *w)
{
	int err;

	putc('{', w->out);
	facts_write(w);
	err = cells_part_write(w);
	putc('}', w->out);
	return err;
}

static int data_write(const struct page_input *in, int (*write)(struct writer *w), FILE *out)
{
	struct report_input tables = *in->in;
	struct section_input s;
	struct page_cells p = {0};
	struct writer w = {.in = in, .s = &s, .p = &p, .out = out};
	int err;

	tables.top = PAGE_ROWS_MAX;
	err = section_open(&tables, &s);
	if (err)
		return err;
	p.window_ns = window_least_ns(in);
	err = page_cells_make(&s, in->windows, in->cells_max, &p);
	if (!err && in->aligned) {
		w.ranks = page_aligned_ranks(&s, &p);
		err = w.ranks ? 0 : -ENOMEM;
	}
	err = err ? err : write(&w);
	keymap_free(&w.nodes);
	keymap_free(&w.methods);
	free(w.ranks);
	page_cells_free(&p);
	section_close(&s);
	return err;
}

int page_data_write(const struct page_input *in, FILE *out)
{
	return data_write(in, all_write, out);
}

int page_cells_json(const struct page_input *in, FILE *out)
{
	return data_write(in, cells_only_write, out);
}
