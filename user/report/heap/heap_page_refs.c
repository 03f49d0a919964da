/*
 * A page's groups do not overlap. So objects that several fields refer to are of one kind, called
 * after all of these fields: "A.x, B.y".
 */
#include "report/heap/heap_page_refs.h"

#include <stdlib.h>
#include <string.h>

#include "heap/classify/heap_classifier.h"
#include "heap/state/heap_state.h"

#define NAMES_MAX 4 /* the others are counted */

const char *const page_refs_names[PAGE_REFS_ASPECTS] = {
	[PAGE_POINTED_FROM] = "pointed_from",
	[PAGE_POINTS_TO] = "points_to",
	[PAGE_REACHED] = "reached",
};

struct maker {
	struct heap_view *view;
	struct page_refs *to;
	const struct heap_classifier *by[PAGE_REFS_ASPECTS];
	struct heap_keys keys;
	struct strbuf text;
};

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static int text_add(struct page_refs *r, const char *text, uint32_t *ret)
{
	size_t length = strlen(text);
	struct keymap_key key = {.a = hash_bytes(text, length), .b = length + 1};
	uint32_t known = r->text_keys.count;
	int err = keymap_add_row(&r->text_keys, key, &r->text_at, &r->text_capacity,
				 sizeof(*r->text_at), ret);

	if (!err && *ret == known) {
		r->text_at[*ret] = r->texts.used;
		strbuf_put(&r->texts, text, length + 1);
	}
	return err ? err : r->texts.err;
}

static int name_groups(struct maker *m, unsigned aspect, const struct heap_item *item,
		       uint32_t *ret)
{
	struct heap_keys *k = &m->keys;

	k->count = 0;
	heap_classify(m->by[aspect], m->view, item, k);
	if (k->err || m->view->err)
		return k->err ? k->err : m->view->err;
	if (k->count)
		qsort(k->all, k->count, sizeof(*k->all), compare);
	strbuf_clear(&m->text);
	for (uint32_t i = 0; i < k->count && i < NAMES_MAX; i++) {
		strbuf_add(&m->text, "%s", i ? ", " : "");
		m->by[aspect]->label(m->view, k->all[i], &m->text);
	}
	if (k->count > NAMES_MAX)
		strbuf_add(&m->text, " and %u more", k->count - NAMES_MAX);
	return m->text.err ? m->text.err
			   : text_add(m->to, k->count ? strbuf_text(&m->text) : "(none)", ret);
}

static int add_object(struct maker *m, uint32_t object)
{
	struct page_ref row = {.desc = m->view->state->objects.desc[object]};
	const struct heap_item item = {row.desc, object};
	struct keymap_key key = {.a = row.desc};
	uint32_t at;
	int err = 0;

	for (unsigned i = 0; i < PAGE_REFS_ASPECTS && !err; i++)
		err = name_groups(m, i, &item, &row.text[i]);
	key.b = 1 + (uint64_t)row.text[0];
	key.c = 1 + (uint64_t)row.text[1];
	key.d = 1 + (uint64_t)row.text[2];
	if (!err)
		err = keymap_add_row(&m->to->keys, key, &m->to->rows, &m->to->row_capacity,
				     sizeof(row), &at);
	if (err)
		return err;
	row.objects = m->to->rows[at].objects + 1;
	m->to->rows[at] = row;
	return 0;
}

int page_refs_make(struct heap_view *v, struct page_refs *ret)
{
	struct maker m = {.view = v, .to = ret};
	int err = 0;

	*ret = (struct page_refs){0};
	for (unsigned i = 0; i < PAGE_REFS_ASPECTS; i++)
		m.by[i] = heap_classifier_find(page_refs_names[i], strlen(page_refs_names[i]));
	for (uint32_t i = 0; i < v->state->objects.count && !err; i++)
		err = add_object(&m, i);
	free(m.keys.all);
	strbuf_free(&m.text);
	return err;
}

void page_refs_free(struct page_refs *r)
{
	keymap_free(&r->keys);
	keymap_free(&r->text_keys);
	strbuf_free(&r->texts);
	free(r->rows);
	free(r->text_at);
	*r = (struct page_refs){0};
}
