#include "heap/classify/heap_filter.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>

#include "heap/state/heap_state.h"

enum known { KNOWN_NO = 1, KNOWN_YES };

struct heap_filter {
	const struct condition *condition;
	struct heap_view *view;
	uint8_t *descs; /* enum known; NULL: it depends on more than the description */
	struct heap_keys keys;
	struct strbuf label;
	const struct heap_item *item;
};

static int find(const void *own, const char *name, size_t length)
{
	return heap_classifier_number(own, heap_classifier_any(own, name, length));
}

static const char *name(const void *own, int n)
{
	const struct heap_classifier *c = heap_classifier_get(own, (unsigned)n);

	return c ? c->name : NULL;
}

int heap_condition_parse(const char *text, const struct heap_own_classifiers *own,
			 struct condition **ret, char error[CONDITION_ERROR_MAX])
{
	struct condition_names names = {.noun = "a classifier",
					.example = "type=*Order",
					.ctx = own,
					.find = find,
					.name = name};

	return condition_parse(text, &names, ret, error);
}

unsigned heap_condition_needs(const struct condition *c, const struct heap_own_classifiers *own)
{
	unsigned needs = HEAP_NEEDS_DESC;
	unsigned at = 0;
	int n;

	while (c && (n = condition_next_name(c, &at)) >= 0)
		needs |= heap_classifier_get(own, (unsigned)n)->needs;
	return needs;
}

int heap_filter_new(const struct condition *c, struct heap_view *v, struct heap_filter **ret)
{
	struct heap_filter *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	f->condition = c;
	f->view = v;
	if (c && heap_condition_needs(c, v->own) == HEAP_NEEDS_DESC) {
		f->descs = calloc(v->state->desc_count + 1ul, 1);
		if (!f->descs) {
			free(f);
			return -ENOMEM;
		}
	}
	*ret = f;
	return 0;
}

void heap_filter_free(struct heap_filter *f)
{
	if (!f)
		return;
	free(f->descs);
	free(f->keys.all);
	strbuf_free(&f->label);
	free(f);
}

unsigned heap_filter_needs(const struct heap_filter *f)
{
	return heap_condition_needs(f->condition, f->view->own);
}

static bool is(void *ctx, int classifier, const char *glob)
{
	struct heap_filter *f = ctx;
	const struct heap_classifier *c = heap_classifier_get(f->view->own, (unsigned)classifier);
	bool any = false;

	f->keys.count = 0;
	heap_classify(c, f->view, f->item, &f->keys);
	for (uint32_t i = 0; i < f->keys.count && !any; i++) {
		strbuf_clear(&f->label);
		c->label(f->view, f->keys.all[i], &f->label);
		any = !fnmatch(glob, strbuf_text(&f->label), 0);
		if (f->label.err)
			f->keys.err = f->label.err;
	}
	return any;
}

int heap_filter_holds(struct heap_filter *f, const struct heap_item *item)
{
	bool holds;

	if (!f->condition)
		return 1;
	if (f->descs && f->descs[item->desc])
		return f->descs[item->desc] == KNOWN_YES;
	f->item = item;
	holds = condition_holds(f->condition, is, f);
	if (f->keys.err || f->view->err)
		return f->keys.err ? f->keys.err : f->view->err;
	if (f->descs)
		f->descs[item->desc] = holds ? KNOWN_YES : KNOWN_NO;
	return holds;
}
