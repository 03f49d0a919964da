/* The first log after has the page; of each other log the cells are in it, too. */
#include "cmd/read/diff_page.h"

#include <errno.h>
#include <stdlib.h>

#include "base/text/msg.h"
#include "base/text/print.h"
#include "cmd/read/page_log.h"
#include "report/model/diff/diff_report.h"
#include "report/web/page.h"
#include "report/web/page_compare.h"
#include "session/log_source.h"
#include "session/max_memory.h"

#define TITLE_MAX 600

struct work {
	const struct diff_page *in;
	struct page_compare compare;
	struct page_other *others;
	uint32_t cells_max; /* of each log */
	FILE *out;
};

static int page_end(const struct page_input *page, int err)
{
	if (err)
		msg_error("%s: cannot make a page of it: %s", page->source, max_memory_error(err));
	return err;
}

static int cells_write(void *ctx, struct page_input *page)
{
	struct work *w = ctx;
	char *text = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&text, &size);
	int err = to ? 0 : -ENOMEM;

	page->windows = NULL;
	page->aligned = true;
	page->cells_max = w->cells_max;
	err = err ? err : page_cells_json(page, to);
	if (to && fclose(to) && !err)
		err = -ENOMEM;
	if (err) {
		free(text);
		return page_end(page, err);
	}
	w->others[w->compare.other_count].json = text;
	w->others[w->compare.other_count++].size = size;
	return 0;
}

static int page_write(void *ctx, struct page_input *page)
{
	struct work *w = ctx;
	const struct diff_page *in = w->in;
	char title[TITLE_MAX];

	print_buffer(title, sizeof(title), "%s compared with %s", page->source,
		     log_source_title(&in->sources[0]));
	page->title = in->title ? in->title : title;
	page->aligned = true;
	page->cells_max = w->cells_max;
	page->compare = &w->compare;
	page->parts = NULL; /* of one log they compare nothing */
	/* Several recordings have no common course. */
	if (in->count - in->before_count > 1)
		page->windows = NULL;
	return page_end(page, report_page(page, w->out));
}

/* What a log lacks is reported by the comparison, and no failure. */
static int read_log(struct work *w, unsigned log, int (*write)(void *ctx, struct page_input *page))
{
	const struct page_log l = {.source = &w->in->sources[log],
				   .where_text = w->in->where_text,
				   .where = w->in->where,
				   .write = write,
				   .ctx = w};
	int err = page_log_read(&l);

	return err == -EBADMSG ? 0 : err;
}

int diff_page_write(const struct diff_page *p, FILE *out)
{
	struct work w = {.in = p, .compare = {.diff = p->diff}, .out = out};
	uint32_t share = 2 * PAGE_CELLS_MAX / p->count;
	int err;

	w.cells_max = share < PAGE_CELLS_MAX ? share : PAGE_CELLS_MAX;
	w.others = calloc(p->count, sizeof(*w.others));
	w.compare.others = w.others;
	err = w.others ? 0 : -ENOMEM;
	for (unsigned i = 0; i < p->count && !err; i++) {
		if (i == p->before_count)
			continue;
		w.others[w.compare.other_count].after = i > p->before_count;
		err = read_log(&w, i, cells_write);
	}
	err = err ? err : read_log(&w, p->before_count, page_write);
	for (unsigned i = 0; i < w.compare.other_count; i++)
		free(w.others[i].json);
	free(w.others);
	return err;
}
