/*
 * One JSON object: facts, aspects with the texts and columns of cells, lifetimes by columns, and
 * the moments at which objects are counted. Numbers are exact up to 2^53.
 */
#include "report/heap/heap_page.h"

#include <inttypes.h>

#include "base/text/print.h"
#include "heap/classify/heap_classifier.h"
#include "heap/replay/object_replay.h"
#include "heap/state/heap_state.h"
#include "report/heap/heap_agreement.h"
#include "report/heap/heap_page_cells.h"
#include "report/heap/heap_template.h"
#include "report/web/page_shell.h"

#define NUMBER_MAX ((1ull << 53) - 1)

struct writer {
	const struct heap_page_input *in;
	const struct page_heap *p;
};

static void number(FILE *out, uint64_t n)
{
	fprintf(out, "%" PRIu64, n < NUMBER_MAX ? n : (uint64_t)NUMBER_MAX);
}

#define LIST(out, key, count, ...)                                                                 \
	do {                                                                                       \
		print_json(out, ",%s:", key);                                                      \
		putc('[', out);                                                                    \
		for (uint32_t i = 0; i < (count); i++) {                                           \
			if (i)                                                                     \
				putc(',', out);                                                    \
			__VA_ARGS__;                                                               \
		}                                                                                  \
		putc(']', out);                                                                    \
	} while (0)

static void aspects_write(const struct page_heap *p, FILE *out)
{
	print_json(out, ",%s:[", "aspects");
	for (unsigned k = 0; k < p->aspect_count; k++) {
		const struct page_aspect *a = &p->aspects[k];

		print_json(out, k ? ",{\"name\":%s,\"doc\":%s" : "{\"name\":%s,\"doc\":%s", a->name,
			   a->doc);
		LIST(out, "texts", a->keys.count, print_json_string(out, a->all.text + a->at[i]));
		LIST(out, "of_cell", p->cell_count, number(out, a->of_cell[i]));
		putc('}', out);
	}
	putc(']', out);
}

static void lives_write(const struct page_heap *p, FILE *out)
{
	const struct page_life *l = p->lives;
	uint32_t count = p->life_keys.count;

	fputs(",\"lives\":{\"step\":", out);
	number(out, p->step);
	LIST(out, "cell", count, number(out, l[i].cell));
	LIST(out, "birth", count, number(out, l[i].birth));
	LIST(out, "death", count, number(out, l[i].death == HEAP_PAGE_ALIVE ? 0 : l[i].death));
	LIST(out, "objects", count, number(out, l[i].objects));
	LIST(out, "bytes", count, number(out, l[i].bytes));
	putc('}', out);
}

static void moments_write(const struct writer *w, FILE *out)
{
	uint32_t count = 0, step = w->p->step, kept;
	const struct object_collection *c = NULL;
	uint64_t begin = 0;

	if (w->in->log) {
		c = object_replay_collections(w->in->log, &count);
		begin = object_replay_sums(w->in->log)->begin_ns;
	}
	kept = count / step; /* moments step, 2 * step, ...; the end is one more */
	LIST(out, "moment_gc", kept, number(out, c[(i + 1) * step - 1].id));
	LIST(out, "moment_ns", kept, {
		uint64_t end = c[(i + 1) * step - 1].end_ns;

		number(out, end > begin ? end - begin : 0);
	});
	LIST(out, "moment_cause", kept, print_json_string(out, c[(i + 1) * step - 1].cause));
}

static int data_write(void *ctx, FILE *out)
{
	const struct writer *w = ctx;
	char agreement[HEAP_AGREEMENT_MAX];

	print_json(out, "{\"title\":%s,\"source\":%s", w->in->title, w->in->source);
	fputs(w->in->log ? ",\"is_log\":true" : ",\"is_log\":false", out);
	print_json(out, ",\"agreement\":%s", heap_agreement_text(w->in->agreement, agreement));
	fputs(",\"others\":", out);
	number(out, w->p->others);
	aspects_write(w->p, out);
	moments_write(w, out);
	lives_write(w->p, out);
	putc('}', out);
	return 0;
}

int heap_report_page(const struct heap_page_input *in, FILE *out)
{
	struct page_heap p;
	struct writer w = {in, &p};
	const struct page_shell shell = {
		.template = heap_template, .title = in->title, .data = data_write, .ctx = &w};
	int err = page_heap_make(in, &p);

	if (!err)
		err = page_shell_write(&shell, out);
	page_heap_free(&p);
	return err;
}
