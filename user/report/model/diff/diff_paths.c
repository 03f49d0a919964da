#include "report/model/diff/diff_paths.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "analyze/cells/cells.h"
#include "analyze/diff/generated_name.h"
#include "base/tables/keymap.h"
#include "base/text/strbuf.h"
#include "log/read/names.h"

struct node {
	uint32_t caller; /* its index, which is before this one's; INDEX_NONE: outermost */
	uint64_t path;
	struct {
		uint64_t ns, count;
	} waiters, owners; /* of the chain itself */
};

struct diff_paths {
	const struct log_names *names;
	struct keymap map; /* by the chain's number: its index */
	struct node *nodes;
	uint32_t count;
};

/* Hidden frames are as many as the JVM likes. */
static uint64_t path_of(const struct diff_paths *p, const struct log_stack *s, uint64_t caller,
			struct strbuf *name)
{
	const struct log_method *m = log_names_method(p->names, s->method);

	if (!m)
		return call_path_of(caller, "(frames missing)");
	if (m->hidden)
		return caller;
	strbuf_clear(name);
	generated_name_add(name, m->class_name);
	strbuf_add(name, ".%s", m->name);
	return call_path_of(caller, strbuf_text(name));
}

static int nodes_make(struct diff_paths *p)
{
	struct strbuf name = {.most = 0};
	int err = 0;

	for (uint32_t i = 0; i < p->count && !err; i++) {
		uint64_t id = log_names_id(p->names, LOG_NAMES_STACK, i);
		const struct log_stack *s = log_names_stack(p->names, id);
		struct node *n = &p->nodes[i];
		uint32_t index;

		n->caller = s ? keymap_find_number(&p->map, s->caller) : INDEX_NONE;
		if (n->caller != INDEX_NONE && n->caller >= i)
			n->caller = INDEX_NONE;
		n->path = n->caller == INDEX_NONE ? CALL_PATH_ROOT : p->nodes[n->caller].path;
		if (s)
			n->path = path_of(p, s, n->path, &name);
		err = name.err ? name.err : keymap_add_number(&p->map, id, &index);
	}
	strbuf_free(&name);
	return err;
}

struct diff_paths *diff_paths_new(const struct log_names *names)
{
	struct diff_paths *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->names = names;
	p->count = log_names_count(names, LOG_NAMES_STACK);
	p->nodes = calloc((size_t)p->count + 1, sizeof(*p->nodes));
	if (!p->nodes || nodes_make(p)) {
		diff_paths_free(p);
		return NULL;
	}
	return p;
}

void diff_paths_add(struct diff_paths *p, const struct cell *cell, uint64_t ns)
{
	uint32_t waiter = keymap_find_number(&p->map, cell->waiter_stack);
	uint32_t owner = holder_is_thread(cell->holder)
				 ? keymap_find_number(&p->map, cell->holder_stack)
				 : INDEX_NONE;

	if (waiter != INDEX_NONE) {
		p->nodes[waiter].waiters.ns += ns;
		p->nodes[waiter].waiters.count += cell->count;
	}
	if (owner != INDEX_NONE) {
		p->nodes[owner].owners.ns += ns;
		p->nodes[owner].owners.count += cell->count;
	}
}

int diff_paths_finish(const struct diff_paths *p, struct call_paths *waiters,
		      struct call_paths *owners)
{
	int err = 0;

	for (uint32_t i = 0; i < p->count && !err; i++) {
		const struct node *n = &p->nodes[i];

		if (n->waiters.ns)
			err = call_paths_add(waiters, n->path, n->waiters.ns, n->waiters.count);
		if (!err && n->owners.ns)
			err = call_paths_add(owners, n->path, n->owners.ns, n->owners.count);
	}
	return err;
}

void diff_paths_free(struct diff_paths *p)
{
	if (!p)
		return;
	keymap_free(&p->map);
	free(p->nodes);
	free(p);
}
