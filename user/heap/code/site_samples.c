/*
 * A site knows the callers that its compiler has inlined. Samples have whole chains: those in which
 * the site's outermost method is active say who calls it, weighted by the time that threads ran
 * there. Methods of both are the same if class, name and signature are.
 */
#include "heap/code/site_samples.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/strbuf.h"
#include "heap/replay/object_names.h"
#include "log/read/names.h"

#define CALLERS_MAX (1u << 20)
#define STEPS_MAX (1ull << 32) /* then samples are left out: a log may be made up */
#define NAME_BYTES 2048

int stack_samples_add(struct stack_samples *s, uint64_t stack)
{
	uint32_t i;
	int err;

	s->all++;
	if (!stack)
		return 0;
	err = keymap_add_row(&s->stacks, (struct keymap_key){.a = stack}, &s->count, &s->capacity,
			     sizeof(*s->count), &i);
	if (!err)
		s->count[i]++;
	return err;
}

void stack_samples_free(struct stack_samples *s)
{
	keymap_free(&s->stacks);
	free(s->count);
	*s = (struct stack_samples){0};
}

/* --- methods ------------------------------------------------------------------------------ */

struct named {
	char *text;
	uint32_t method; /* of object_names */
};

struct matcher {
	const struct object_names *names;
	const struct log_names *log;
	struct site_samples *ret;
	struct named *named; /* by text */
	uint32_t *first;     /* by method of names: the one that stands for all of its text */
	uint32_t *of_log;    /* by index in the log's methods */
	struct keymap log_methods;
	uint32_t *sites, *site_next; /* by method: 1 + a site that it is the outermost frame of */
	uint32_t *trees;             /* by method, likewise */
	uint32_t *stamp;             /* by site, or tree: 1 + the stack that it was found in last */
	uint32_t *exact;             /* by site: samples at its bytecodes */
	struct keymap tree_map, callers;
	struct frame {
		uint64_t id; /* of the log; 0: not known */
		uint64_t bci;
		uint32_t method; /* of names; INDEX_NONE */
	} frames[LOG_STACK_DEPTH_MAX];
	uint32_t frame_count;
	uint64_t steps;
};

static int compare(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	int order = strcmp(x->text, y->text);

	return order ? order : (x->method > y->method) - (x->method < y->method);
}

static int method_text(const struct matcher *m, uint32_t method, char **ret)
{
	const struct object_method *of = &m->names->methods[method];
	char class[NAME_BYTES];
	struct strbuf o = {0};

	object_class_text(m->names, of->class, class, sizeof(class));
	strbuf_add(&o, "%s.%s%s", class, of->name, of->signature);
	*ret = o.text;
	return o.err;
}

static int name_methods(struct matcher *m)
{
	uint32_t count = m->names->method_map.count;
	int err = 0;

	m->named = calloc(count + 1ul, sizeof(*m->named));
	m->first = calloc(count + 1ul, sizeof(*m->first));
	if (!m->named || !m->first)
		return -ENOMEM;
	for (uint32_t i = 0; i < count && !err; i++) {
		m->named[i].method = i;
		err = method_text(m, i, &m->named[i].text);
	}
	if (err)
		return err;
	qsort(m->named, count, sizeof(*m->named), compare);
	for (uint32_t i = 0; i < count; i++) {
		bool same = i && !strcmp(m->named[i].text, m->named[i - 1].text);

		m->first[m->named[i].method] =
			same ? m->first[m->named[i - 1].method] : m->named[i].method;
	}
	return 0;
}

/* INDEX_NONE: no site has a frame of it. */
static uint32_t find_method(const struct matcher *m, const char *text)
{
	uint32_t low = 0, high = m->names->method_map.count;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (strcmp(m->named[middle].text, text) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == m->names->method_map.count || strcmp(m->named[low].text, text) != 0)
		return INDEX_NONE;
	return m->first[m->named[low].method];
}

static int match_methods(struct matcher *m)
{
	unsigned count = log_names_count(m->log, LOG_NAMES_METHOD);
	struct strbuf o = {0};
	int err = 0;

	m->of_log = calloc(count + 1ul, sizeof(*m->of_log));
	if (!m->of_log)
		return -ENOMEM;
	for (unsigned i = 0; i < count && !err; i++) {
		uint64_t id = log_names_id(m->log, LOG_NAMES_METHOD, i);
		const struct log_method *of = log_names_method(m->log, id);
		uint32_t at;

		err = keymap_add(&m->log_methods, (struct keymap_key){.a = id}, &at);
		strbuf_clear(&o);
		if (of)
			strbuf_add(&o, "%s.%s%s", of->class_name, of->name, of->signature);
		if (!err)
			err = o.err;
		if (!err)
			m->of_log[at] = of ? find_method(m, strbuf_text(&o)) : INDEX_NONE;
	}
	strbuf_free(&o);
	return err;
}

static const struct object_frame *frames_of(const struct matcher *m, uint32_t site)
{
	return &m->names->frames[m->names->sites[site].first_frame];
}

/* Without those that somebody has inferred. */
static uint32_t frame_count(const struct matcher *m, uint32_t site)
{
	return m->names->sites[site].frame_count - m->names->sites[site].inferred;
}

static uint32_t method_of(const struct matcher *m, const struct object_frame *f)
{
	uint32_t i = keymap_find_number(&m->names->method_map, f->method);

	return i == INDEX_NONE ? INDEX_NONE : m->first[i];
}

/* INDEX_NONE: the site knows no method. */
static uint32_t outermost(const struct matcher *m, uint32_t site)
{
	uint32_t frames = frame_count(m, site);

	return frames ? method_of(m, &frames_of(m, site)[frames - 1]) : INDEX_NONE;
}

static int list_sites(struct matcher *m)
{
	uint32_t count = m->names->site_map.count;

	m->sites = calloc(m->names->method_map.count + 1ul, sizeof(*m->sites));
	m->site_next = calloc(count + 1ul, sizeof(*m->site_next));
	m->stamp = calloc(count + 1ul, sizeof(*m->stamp));
	m->exact = calloc(count + 1ul, sizeof(*m->exact));
	m->trees = calloc(m->names->method_map.count + 1ul, sizeof(*m->trees));
	m->ret->tree_of = calloc(count + 1ul, sizeof(*m->ret->tree_of));
	if (!m->sites || !m->site_next || !m->stamp || !m->exact || !m->trees || !m->ret->tree_of)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t method = outermost(m, i);

		m->ret->tree_of[i] = INDEX_NONE;
		if (method == INDEX_NONE)
			continue;
		m->site_next[i] = m->sites[method];
		m->sites[method] = 1 + i;
	}
	return 0;
}

/* --- chains ------------------------------------------------------------------------------- */

static void read_chain(struct matcher *m, uint64_t stack)
{
	const struct log_stack *s;

	for (m->frame_count = 0; m->frame_count < LOG_STACK_DEPTH_MAX; stack = s->caller) {
		uint32_t at;

		s = log_names_stack(m->log, stack);
		if (!s)
			return;
		at = keymap_find_number(&m->log_methods, s->method);
		m->frames[m->frame_count++] = (struct frame){
			s->method, s->bci, at == INDEX_NONE ? INDEX_NONE : m->of_log[at]};
	}
}

/* Is the site's outermost frame the one at p, and, exact, are all of its frames there? */
static bool is_at(const struct matcher *m, uint32_t site, uint32_t p, bool exact)
{
	const struct object_frame *f = frames_of(m, site);
	uint32_t last = frame_count(m, site) - 1;

	if ((exact ? last : last != 0) > p || method_of(m, &f[last]) != m->frames[p].method)
		return false;
	if (!last && !exact)
		return true;
	for (uint32_t i = 0; i <= last && (exact || i < 2); i++) {
		const struct frame *at = &m->frames[p - i];

		if (at->method != method_of(m, &f[last - i]) ||
		    ((exact || !i) && at->bci != f[last - i].bci))
			return false;
	}
	return true;
}

/* What has to be in a chain for a sample to be of the site. */
static struct keymap_key tree_key(const struct matcher *m, uint32_t site)
{
	const struct object_frame *f = frames_of(m, site);
	uint32_t last = frame_count(m, site) - 1;

	if (m->exact[site] >= SITE_SAMPLES_ENOUGH)
		return (struct keymap_key){.a = site, .b = 1};
	if (!last)
		return (struct keymap_key){.a = outermost(m, site), .b = 2};
	return (struct keymap_key){.a = outermost(m, site),
				   .b = 3,
				   .c = f[last].bci,
				   .d = method_of(m, &f[last - 1])};
}

static int plant(struct matcher *m)
{
	struct site_samples *r = m->ret;
	int err = 0;

	for (uint32_t i = 0; i < m->names->site_map.count && !err; i++) {
		uint32_t method = outermost(m, i), known = m->tree_map.count, at;

		if (method == INDEX_NONE)
			continue;
		err = keymap_add_row(&m->tree_map, tree_key(m, i), &r->trees, &r->tree_capacity,
				     sizeof(*r->trees), &at);
		if (err)
			break;
		r->tree_of[i] = at;
		if (at < known)
			continue;
		r->trees[at] = (struct site_tree){
			i, 0, m->exact[i] >= SITE_SAMPLES_ENOUGH, m->trees[method]};
		m->trees[method] = 1 + at;
		r->tree_count = m->tree_map.count;
	}
	return err;
}

static int add_callers(struct matcher *m, uint32_t tree, uint32_t p, uint32_t samples)
{
	uint32_t parent = SITE_CALLER_TOP, end = p + 1 + SITE_SAMPLES_DEPTH_MAX;

	for (p++; p < m->frame_count && p < end; p++) {
		const struct keymap_key key = {.a = 1 + (uint64_t)tree,
					       .b = 1 + (uint64_t)parent,
					       .c = m->frames[p].id,
					       .d = m->frames[p].bci};
		struct site_caller *c;
		uint32_t i, known = m->callers.count;
		int err;

		if (known == CALLERS_MAX && keymap_find(&m->callers, key) == INDEX_NONE) {
			m->ret->left_out += samples;
			return 0;
		}
		err = keymap_add_row(&m->callers, key, &m->ret->callers, &m->ret->caller_capacity,
				     sizeof(*m->ret->callers), &i);
		if (err)
			return err;
		c = &m->ret->callers[i];
		if (i == known)
			*c = (struct site_caller){tree, parent, m->frames[p].id, m->frames[p].bci,
						  0};
		c->samples += samples;
		m->ret->caller_count = m->callers.count;
		parent = i;
	}
	return 0;
}

/* Samples at exact sites. A site is in a chain once, and so is a tree: where it is innermost. */
static int count_exact(struct matcher *m, uint32_t stack, uint32_t samples)
{
	for (uint32_t p = 0; p < m->frame_count; p++) {
		uint32_t method = m->frames[p].method, site;

		if (method == INDEX_NONE)
			continue;
		for (uint32_t next = m->sites[method]; next; next = m->site_next[site]) {
			site = next - 1;
			m->steps += 1 + frame_count(m, site);
			if (m->stamp[site] == stack || !is_at(m, site, p, true))
				continue;
			m->stamp[site] = stack;
			m->exact[site] += samples;
		}
	}
	return 0;
}

static int grow_trees(struct matcher *m, uint32_t stack, uint32_t samples)
{
	int err = 0;

	for (uint32_t p = 0; p < m->frame_count && !err; p++) {
		uint32_t method = m->frames[p].method, next = 0;

		if (method != INDEX_NONE)
			next = m->trees[method];
		while (next && !err) {
			struct site_tree *t = &m->ret->trees[next - 1];
			uint32_t tree = next - 1;

			next = t->next;
			m->steps += 1 + frame_count(m, t->site);
			if (m->stamp[tree] == stack || !is_at(m, t->site, p, t->at_bytecode))
				continue;
			m->stamp[tree] = stack;
			t->samples += samples;
			err = add_callers(m, tree, p, samples);
		}
	}
	return err;
}

static int match_all(struct matcher *m, const struct stack_samples *s,
		     int (*match)(struct matcher *m, uint32_t stack, uint32_t samples))
{
	int err = 0;

	memset(m->stamp, 0, (m->names->site_map.count + 1ul) * sizeof(*m->stamp));
	m->ret->left_out = 0;
	for (uint32_t i = 0; i < s->stacks.count && !err; i++) {
		if (m->steps > STEPS_MAX) {
			m->ret->left_out += s->count[i];
			continue;
		}
		read_chain(m, s->stacks.keys[i].a);
		m->steps += m->frame_count;
		err = match(m, i + 1, s->count[i]);
	}
	return err;
}

int site_samples_make(const struct object_names *names, const struct log_names *log,
		      const struct stack_samples *samples, struct site_samples *ret)
{
	struct matcher *m = calloc(1, sizeof(*m));
	int err;

	*ret = (struct site_samples){0};
	if (!m)
		return -ENOMEM;
	m->names = names;
	m->log = log;
	m->ret = ret;
	err = name_methods(m);
	if (!err)
		err = match_methods(m);
	if (!err)
		err = list_sites(m);
	if (!err)
		err = match_all(m, samples, count_exact);
	if (!err)
		err = plant(m);
	if (!err)
		err = match_all(m, samples, grow_trees);
	for (uint32_t i = 0; m->named && i < names->method_map.count; i++)
		free(m->named[i].text);
	free(m->named);
	free(m->first);
	free(m->of_log);
	free(m->sites);
	free(m->trees);
	free(m->site_next);
	free(m->stamp);
	free(m->exact);
	keymap_free(&m->log_methods);
	keymap_free(&m->tree_map);
	keymap_free(&m->callers);
	free(m);
	return err;
}

void site_samples_free(struct site_samples *s)
{
	free(s->tree_of);
	free(s->trees);
	free(s->callers);
	*s = (struct site_samples){0};
}
