#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "heap/classify/heap_classifier.h"
#include "heap/graph/heap_dominators.h"
#include "heap/graph/heap_graph.h"
#include "heap/graph/heap_reach.h"
#include "heap/state/heap_state.h"

/* Of a classifier: where the groups of descriptions are. */
struct heap_memo {
	struct heap_memo *next;
	const struct heap_classifier *of;
	uint32_t *at; /* by description: 1 + the index of the number of its groups, which follow */
	uint64_t *all;
	uint32_t count, capacity;
};

int heap_view_init(struct heap_view *v, const struct heap_state *state, unsigned needs)
{
	int err = 0;

	*v = (struct heap_view){.state = state};
	v->type_keys = malloc((state->types.count + 1ul) * sizeof(*v->type_keys));
	if (!v->type_keys)
		return -ENOMEM;
	for (uint32_t i = 0; i < state->types.count; i++)
		v->type_keys[i] = HEAP_NONE;
	if ((needs & HEAP_NEEDS_GRAPH) == HEAP_NEEDS_GRAPH)
		err = heap_graph_new(state, &v->graph);
	if (!err && (needs & HEAP_NEEDS_REFERRERS) == HEAP_NEEDS_REFERRERS)
		err = heap_referrers_new(v->graph, &v->referrers);
	if (!err && (needs & HEAP_NEEDS_DOMINATORS) == HEAP_NEEDS_DOMINATORS)
		err = heap_dominators_new(v->graph, &v->dominators);
	return err;
}

void heap_view_free(struct heap_view *v)
{
	heap_dominators_free(v->dominators);
	heap_referrers_free(v->referrers);
	heap_graph_free(v->graph);
	keymap_free(&v->text_keys);
	strbuf_free(&v->texts);
	strbuf_free(&v->label);
	free(v->text_at);
	free(v->type_keys);
	free(v->seen);
	for (struct heap_memo *m = v->memos, *next; m; m = next) {
		next = m->next;
		free(m->at);
		free(m->all);
		free(m);
	}
	*v = (struct heap_view){0};
}

/* Two texts with the same keyed hash and length are taken for one: nobody can look for them. */
uint32_t heap_view_text(struct heap_view *v, const char *text, size_t length)
{
	struct keymap_key key = {.a = hash_bytes(text, length), .b = length + 1};
	uint32_t known = v->text_keys.count, at;
	int err = keymap_add_row(&v->text_keys, key, &v->text_at, &v->text_capacity,
				 sizeof(*v->text_at), &at);

	if (!err && at == known) {
		v->text_at[at] = v->texts.used;
		strbuf_put(&v->texts, text, length);
		strbuf_put(&v->texts, "", 1);
	}
	if (!err)
		err = v->texts.err;
	if (!err)
		return at;
	v->err = err;
	return HEAP_NONE;
}

const char *heap_view_text_get(const struct heap_view *v, uint64_t key)
{
	return key < v->text_keys.count ? v->texts.text + v->text_at[key] : "";
}

void heap_view_round(struct heap_view *v)
{
	if (++v->round)
		return;
	if (v->seen)
		memset(v->seen, 0, v->seen_capacity * sizeof(*v->seen));
	v->round = 1;
}

bool heap_view_first(struct heap_view *v, uint32_t key)
{
	int err = key == HEAP_NONE ? -ENOMEM : 0;

	if (!err && key >= v->seen_capacity)
		err = array_extend(&v->seen, &v->seen_capacity, key, sizeof(*v->seen));
	if (err) {
		v->err = err;
		return false;
	}
	if (v->seen[key] == v->round)
		return false;
	v->seen[key] = v->round;
	return true;
}

uint32_t heap_view_type(struct heap_view *v, uint32_t type)
{
	if (v->type_keys[type] == HEAP_NONE) {
		const char *name = heap_type_name(&v->state->types, type);

		v->type_keys[type] = heap_view_text(v, name, strlen(name));
	}
	return v->type_keys[type];
}

void heap_keys_add(struct heap_keys *k, uint64_t key)
{
	int err = array_grow(&k->all, &k->capacity, k->count, sizeof(*k->all));

	if (err)
		k->err = err;
	else
		k->all[k->count++] = key;
}

static struct heap_memo *memo_get(const struct heap_view *v, const struct heap_classifier *c)
{
	struct heap_memo *m = v->memos;

	while (m && m->of != c)
		m = m->next;
	return m;
}

bool heap_memo_find(struct heap_view *v, const struct heap_classifier *c, uint32_t desc,
		    struct heap_keys *ret)
{
	const struct heap_memo *m = memo_get(v, c);
	const uint64_t *keys;

	if (!m || !m->at || !m->at[desc])
		return false;
	keys = &m->all[m->at[desc] - 1];
	for (uint64_t i = 1; i <= keys[0]; i++)
		heap_keys_add(ret, keys[i]);
	return true;
}

static int memo_put(struct heap_memo *m, uint64_t number)
{
	int err = array_grow(&m->all, &m->capacity, m->count, sizeof(*m->all));

	if (!err)
		m->all[m->count++] = number;
	return err;
}

int heap_memo_add(struct heap_view *v, const struct heap_classifier *c, uint32_t desc,
		  const struct heap_keys *keys)
{
	struct heap_memo *m = memo_get(v, c);
	uint32_t at;
	int err;

	if (!m) {
		m = calloc(1, sizeof(*m));
		if (!m)
			return -ENOMEM;
		m->of = c;
		m->next = v->memos;
		m->at = calloc(v->state->desc_count + 1ul, sizeof(*m->at));
		v->memos = m;
	}
	if (!m->at)
		return -ENOMEM;
	at = m->count;
	err = memo_put(m, keys->count);
	for (uint32_t i = 0; !err && i < keys->count; i++)
		err = memo_put(m, keys->all[i]);
	if (!err)
		m->at[desc] = at + 1;
	return err;
}
