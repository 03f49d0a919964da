#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "heap/classify/heap_classifier.h"
#include "heap/graph/heap_dominators.h"
#include "heap/graph/heap_graph.h"
#include "heap/graph/heap_reach.h"
#include "heap/state/heap_state.h"

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
