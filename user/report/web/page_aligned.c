#include "report/web/page_aligned.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/diff/generated_name.h"
#include "base/text/strbuf.h"
#include "log/read/names.h"
#include "report/model/diff/diff_name.h"
#include "report/model/sections/sections.h"
#include "report/web/page_cells.h"

struct ranked_lock {
	const char *class;
	uint64_t lock, ns;
	uint32_t index;
};

static int by_class(const void *a, const void *b)
{
	const struct ranked_lock *x = a, *y = b;
	int order = strcmp(x->class, y->class);

	if (order)
		return order;
	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return (x->lock > y->lock) - (x->lock < y->lock);
}

uint32_t *page_aligned_ranks(const struct section_input *s, const struct page_cells *p)
{
	uint32_t count = p->locks.count;
	struct ranked_lock *rows = calloc(count + 1ul, sizeof(*rows));
	uint32_t *ranks = calloc(count + 1ul, sizeof(*ranks));

	if (!rows || !ranks) {
		free(rows);
		free(ranks);
		return NULL;
	}
	for (uint32_t i = 0; i < count; i++) {
		uint64_t lock = p->locks.keys[i].a;

		rows[i] = (struct ranked_lock){name_class(s->names, lock), lock, 0, i};
	}
	for (uint32_t i = 0; i < p->cell_count; i++)
		rows[p->cells[i].lock].ns += p->cells[i].sum.blocked_ns - p->cells[i].idle_ns;
	qsort(rows, count, sizeof(*rows), by_class);
	for (uint32_t i = 0, n = 0; i < count; i++) {
		n = i && !strcmp(rows[i].class, rows[i - 1].class) ? n + 1 : 1;
		ranks[rows[i].index] = n;
	}
	free(rows);
	return ranks;
}

/* Cleans and frees b; what there is no memory for is "". */
static char *finish(struct strbuf *b, char buf[LABEL_MAX])
{
	label_clean(b->err ? "" : strbuf_text(b), buf);
	strbuf_free(b);
	return buf;
}

char *page_aligned_class(const struct section_input *s, uint64_t lock, char buf[LABEL_MAX])
{
	struct strbuf b = {.most = 0};

	generated_name_add(&b, name_class(s->names, lock));
	return finish(&b, buf);
}

char *page_aligned_lock(const struct section_input *s, uint64_t lock, uint32_t rank,
			char buf[LABEL_MAX])
{
	struct strbuf b = {.most = 0};

	diff_name_lock(&b, name_class(s->names, lock), rank);
	return finish(&b, buf);
}

char *page_aligned_thread(const struct section_input *s, uint64_t thread, char buf[LABEL_MAX])
{
	return label_clean(name_thread(s->names, thread, "(unknown)"), buf);
}

char *page_aligned_method(const struct log_method *m, char buf[LABEL_MAX])
{
	struct strbuf b = {.most = 0};

	diff_name_method(&b, m);
	return finish(&b, buf);
}
