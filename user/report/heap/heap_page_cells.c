#include "report/heap/heap_page_cells.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/tables/array.h"
#include "base/tables/hash.h"
#include "base/tables/saturate.h"
#include "heap/classify/heap_classifier.h"
#include "heap/replay/object_replay.h"
#include "heap/state/heap_state.h"
#include "jvm-hooks/objects.h"
#include "report/heap/heap_page_refs.h"

#define NAME_BYTES 4200
#define OTHERS "(others, of few bytes)"

/* A kind of objects before it is a cell: of a log, of its names; of a dump, a description. */
struct source {
	uint32_t kind;
	uint64_t bytes;
};

struct maker {
	const struct heap_page_input *in;
	struct page_heap *to;
	struct source *sources; /* the most bytes first */
	uint32_t count;
	uint32_t *cell;        /* by kind */
	struct page_refs refs; /* kinds of objects, if the page has references */
	struct heap_keys keys;
};

static int by_bytes(const void *a, const void *b)
{
	const struct source *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	return (x->kind > y->kind) - (x->kind < y->kind);
}

static uint32_t kind_count(const struct maker *m)
{
	if (m->in->log)
		return object_replay_names(m->in->log)->kind_count;
	return m->in->references ? m->refs.keys.count : m->in->view->state->desc_count;
}

/* Of a kind that is no log's. */
static uint32_t desc_of(const struct maker *m, uint32_t kind)
{
	return m->in->references ? m->refs.rows[kind].desc : kind;
}

static uint64_t objects_of(const struct maker *m, uint32_t kind)
{
	return m->in->references ? m->refs.rows[kind].objects
				 : m->in->view->state->descs[kind].count;
}

static void add_bytes(struct maker *m)
{
	const struct object_lifetimes *l = m->in->log ? object_replay_lifetimes(m->in->log) : NULL;

	for (uint32_t i = 0; l && i < l->count; i++)
		m->sources[l->rows[i].kind].bytes =
			sum_saturated(m->sources[l->rows[i].kind].bytes, l->rows[i].bytes);
	for (uint32_t i = 0; !l && i < m->count; i++) {
		const struct heap_desc *d = &m->in->view->state->descs[desc_of(m, i)];

		if (__builtin_mul_overflow(d->bytes, objects_of(m, i), &m->sources[i].bytes))
			m->sources[i].bytes = UINT64_MAX;
	}
}

/* Which kind is which cell. */
static int choose(struct maker *m)
{
	uint32_t max = m->in->cells_max ? m->in->cells_max : HEAP_PAGE_CELLS_MAX, n = 0;

	m->count = kind_count(m);
	m->sources = calloc(m->count + 1ul, sizeof(*m->sources));
	m->cell = calloc(m->count + 1ul, sizeof(*m->cell));
	if (!m->sources || !m->cell)
		return -ENOMEM;
	for (uint32_t i = 0; i < m->count; i++)
		m->sources[i].kind = i;
	add_bytes(m);
	qsort(m->sources, m->count, sizeof(*m->sources), by_bytes);
	while (n < m->count && m->sources[n].bytes)
		n++;
	m->to->others = n > max ? n - max + 1 : 0;
	m->to->cell_count = n > max ? max : n;
	for (uint32_t i = 0; i < n; i++)
		m->cell[m->sources[i].kind] = i < m->to->cell_count ? i : m->to->cell_count - 1;
	return 0;
}

/* --- what people call them ---------------------------------------------------------------- */

static int text_add(struct page_aspect *a, const char *text, uint32_t *ret)
{
	size_t length = strlen(text);
	struct keymap_key key = {.a = hash_bytes(text, length), .b = length + 1};
	uint32_t known = a->keys.count;
	int err = keymap_add_row(&a->keys, key, &a->at, &a->at_capacity, sizeof(*a->at), ret);

	if (!err && *ret == known) {
		a->at[*ret] = a->all.used;
		strbuf_put(&a->all, text, length + 1);
	}
	return err ? err : a->all.err;
}

static const char *tier_name(const struct object_names *n, uint32_t site)
{
	static const char *const names[] = {
		[SPOOR_TIER_VM] = "the JVM's runtime",
		[SPOOR_TIER_INTERPRETER] = "interpreter",
		[SPOOR_TIER_C1] = "C1",
		[SPOOR_TIER_C2] = "C2",
	};
	uint32_t tier = site == INDEX_NONE ? UINT32_MAX : n->sites[site].tier;

	return tier < sizeof(names) / sizeof(*names) ? names[tier] : "(unknown)";
}

static void cut_package(char *name)
{
	char *last = memrchr(name, '.', strcspn(name, "[/"));

	strcpy(last ? last : name, last ? "" : "(no package)");
}

enum log_aspect { BY_TYPE, BY_PACKAGE, BY_SITE, BY_METHOD, BY_CALLER, BY_CODE };

static const char *log_text(const struct object_names *n, uint32_t kind, enum log_aspect by,
			    char name[NAME_BYTES])
{
	const struct object_kind *k = &n->kinds[kind];
	uint32_t frames = k->site == INDEX_NONE ? 0 : n->sites[k->site].frame_count;
	char *colon;

	if (!kind)
		return OTHERS;
	if (by == BY_CODE)
		return tier_name(n, k->site);
	if (by == BY_TYPE || by == BY_PACKAGE) {
		object_class_text(n, k->class, name, NAME_BYTES);
		if (by == BY_PACKAGE)
			cut_package(name);
		return name;
	}
	object_frame_text(n, k->site, by == BY_CALLER && frames ? frames - 1 : 0, name, NAME_BYTES);
	colon = by == BY_SITE ? NULL : strrchr(name, ':');
	if (colon)
		*colon = '\0';
	return name;
}

/* The innermost group; NULL: none. */
static const char *dump_text(struct maker *m, uint32_t kind, const char *by)
{
	const struct heap_classifier *c = heap_classifier_find(by, strlen(by));
	const struct heap_item item = {desc_of(m, kind), HEAP_NONE};
	struct heap_view *v = m->in->view;

	for (unsigned i = 0; m->in->references && i < PAGE_REFS_ASPECTS; i++)
		if (!strcmp(by, page_refs_names[i]))
			return page_refs_text(&m->refs, kind, i);
	m->keys.count = 0;
	heap_classify(c, v, &item, &m->keys);
	if (!m->keys.count)
		return NULL;
	strbuf_clear(&v->label);
	c->label(v, m->keys.all[m->keys.count - 1], &v->label);
	return strbuf_text(&v->label);
}

static int name_cells(struct maker *m, struct page_aspect *a, unsigned by)
{
	const struct object_names *n = m->in->log ? object_replay_names(m->in->log) : NULL;
	char name[NAME_BYTES];
	int err = 0;

	a->of_cell = calloc(m->to->cell_count + 1ul, sizeof(*a->of_cell));
	if (!a->of_cell)
		return -ENOMEM;
	for (uint32_t i = 0; i < m->to->cell_count && !err; i++) {
		uint32_t kind = m->sources[i].kind;
		const char *text = n ? log_text(n, kind, (enum log_aspect)by, name)
				     : dump_text(m, kind, a->name);

		if (m->to->others && i + 1 == m->to->cell_count)
			text = OTHERS;
		err = text_add(a, text ? text : "(none)", &a->of_cell[i]);
		if (!err && !n)
			err = m->keys.err ? m->keys.err : m->in->view->err;
	}
	return err;
}

struct aspect {
	const char *name, *doc; /* name NULL: no more */
};

static int name_each(struct maker *m, const struct aspect *all)
{
	int err = 0;

	for (unsigned i = 0; all[i].name && !err; i++) {
		unsigned at = m->to->aspect_count++;

		m->to->aspects[at].name = all[i].name;
		m->to->aspects[at].doc = all[i].doc;
		err = name_cells(m, &m->to->aspects[at], i);
	}
	return err;
}

static int name_all(struct maker *m)
{
	static const struct aspect
		log[] = {[BY_TYPE] = {"type", "class of the object"},
			 [BY_PACKAGE] = {"package", "package of its class"},
			 [BY_SITE] = {"site", "bytecode that has allocated it"},
			 [BY_METHOD] = {"method", "method that has allocated it"},
			 [BY_CALLER] = {"caller", "outermost caller that the compiler has inlined"},
			 [BY_CODE] = {"code", "interpreter, C1, C2 or the JVM's runtime"},
			 {NULL, NULL}},
		dump[] = {{"type", "class of the object"},
			  {"package", "package of its class"},
			  {"loader", "class loader of its class"},
			  {"kind", "instance, object array, primitive array or class"},
			  {"size", "bytes of the object, by powers of two"},
			  {"array_length", "elements of an array, by powers of two"},
			  {NULL, NULL}},
		moment[] = {{"type", "class of the object"},
			    {"package", "package of its class"},
			    {"site", "bytecode that has allocated it"},
			    {"method", "method that has allocated it"},
			    {"code", "interpreter, C1, C2 or the JVM's runtime"},
			    {"age", "collections that have found it alive"},
			    {NULL, NULL}},
		references[] = {{"pointed_from", "fields that refer to it"},
				{"points_to", "classes of what it refers to"},
				{"reached", "the strongest way from a root"},
				{NULL, NULL}};
	int err = name_each(m, m->in->log ? log : m->in->view->state->is_log ? moment : dump);

	return !err && m->in->references ? name_each(m, references) : err;
}

/* --- how long they lived ------------------------------------------------------------------ */

static int life_add(struct page_heap *p, struct page_life life)
{
	struct keymap_key key = {.a = life.cell, .b = 1 + (uint64_t)life.birth, .c = life.death};
	uint32_t known = p->life_keys.count, at;
	int err = keymap_add_row(&p->life_keys, key, &p->lives, &p->life_capacity,
				 sizeof(*p->lives), &at);

	if (err)
		return err;
	if (at == known) {
		p->lives[at] = life;
		return 0;
	}
	p->lives[at].objects = sum_saturated(p->lives[at].objects, life.objects);
	p->lives[at].bytes = sum_saturated(p->lives[at].bytes, life.bytes);
	return 0;
}

/* Of every step-th moment an object is alive at the same ones as of all. -E2BIG: too many rows. */
static int lives_of_log(struct maker *m, uint32_t max)
{
	const struct object_lifetimes *l = object_replay_lifetimes(m->in->log);
	uint32_t step = m->to->step;
	int err = 0;

	for (uint32_t i = 0; i < l->count && !err; i++) {
		const struct object_lifetime *row = &l->rows[i];
		bool alive = row->death == LIFETIME_ALIVE;

		err = life_add(m->to, (struct page_life){m->cell[row->kind], row->birth / step,
							 alive ? HEAP_PAGE_ALIVE
							       : (row->death + step - 1) / step,
							 row->objects, row->bytes});
		if (!err && m->to->life_keys.count > max)
			err = -E2BIG;
	}
	return err;
}

static int lives_of_dump(struct maker *m)
{
	int err = 0;

	for (uint32_t i = 0; i < m->count && !err; i++) {
		const struct source *s = &m->sources[i];

		if (s->bytes)
			err = life_add(m->to,
				       (struct page_life){m->cell[s->kind], 0, HEAP_PAGE_ALIVE,
							  objects_of(m, s->kind), s->bytes});
	}
	return err;
}

static int add_lives(struct maker *m)
{
	uint32_t max = m->in->lives_max ? m->in->lives_max : HEAP_PAGE_LIVES_MAX;
	uint32_t collections;
	int err;

	m->to->step = 1;
	if (!m->in->log)
		return lives_of_dump(m);
	object_replay_collections(m->in->log, &collections);
	/* There may be more cells than that: then no moment is left but the end. */
	while ((err = lives_of_log(m, max)) == -E2BIG) {
		keymap_free(&m->to->life_keys);
		free(m->to->lives);
		m->to->lives = NULL;
		m->to->life_capacity = 0;
		m->to->life_keys = (struct keymap){0};
		m->to->step *= 2;
		if (m->to->step > collections)
			max = UINT32_MAX;
	}
	return err;
}

int page_heap_make(const struct heap_page_input *in, struct page_heap *ret)
{
	struct maker m = {.in = in, .to = ret};
	int err = 0;

	*ret = (struct page_heap){0};
	if (in->references)
		err = page_refs_make(in->view, &m.refs);
	if (!err)
		err = choose(&m);
	if (!err)
		err = name_all(&m);
	if (!err)
		err = add_lives(&m);
	free(m.sources);
	free(m.cell);
	free(m.keys.all);
	page_refs_free(&m.refs);
	return err;
}

void page_heap_free(struct page_heap *p)
{
	for (unsigned i = 0; i < p->aspect_count; i++) {
		keymap_free(&p->aspects[i].keys);
		strbuf_free(&p->aspects[i].all);
		free(p->aspects[i].at);
		free(p->aspects[i].of_cell);
	}
	keymap_free(&p->life_keys);
	free(p->lives);
	*p = (struct page_heap){0};
}
