/*
 * Where compiled code releases a lock
 *
 * Compiled code releases a contended lock in a call that has no PcDesc, and that lies out of line,
 * so that the next PcDesc in the order of addresses may be that of any other code. But the scopes
 * say where locks are held: a scope with monitors is a method with a synchronized block around the
 * bytecode of that scope, or a synchronized method. The call must be in one of these. Mostly there
 * is only one in the code. If there are several, the last that is described before the call is
 * taken: what lies out of line comes in the order of the code, so that this most often is the call
 * that had acquired the same lock.
 */
#include "jvm/code/scopes.h"

#include "jvm/layout/code_layout.h"
#include "jvm/layout/unsigned5.h"
#include "jvm/target/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DATA_MAX (8u << 20)
#define PCS_MAX 131072
#define DEPTH_MAX 64

/* All debug information of an nmethod, read at once. */
struct copy {
	const struct code_layout *l;
	const struct scopes *s;
	uint8_t *data, *pcs;
};

struct level {
	uint32_t method, bci;
};

/* A scope with monitors, and how it came to be here. */
struct locking {
	uint32_t scope;
	uint32_t depth;
	struct level levels[DEPTH_MAX]; /* the bci of the first is not part of what it is */
};

enum { SENDER, METHOD, BCI, LOCALS, EXPRESSIONS, MONITORS, NUMBERS };

static bool scope_numbers(const struct copy *c, uint32_t scope, uint32_t n[NUMBERS])
{
	size_t at = scope;

	for (int i = 0; i < NUMBERS; i++)
		if (!unsigned5_read(c->data, c->s->data_size, &at, c->s->number_excluded, &n[i]))
			return false;
	return n[SENDER] < scope;
}

/* The innermost scope with monitors of a chain of scopes. */
static bool locking_find(const struct copy *c, uint32_t scope, struct locking *ret)
{
	uint32_t n[NUMBERS];

	ret->scope = 0;
	ret->depth = 0;
	for (; scope; scope = n[SENDER]) {
		if (!scope_numbers(c, scope, n) || ret->depth == DEPTH_MAX)
			return false;
		if (!ret->scope && n[MONITORS])
			ret->scope = scope;
		if (ret->scope)
			ret->levels[ret->depth++] = (struct level){n[METHOD], n[BCI]};
	}
	return ret->scope;
}

static bool same(const struct locking *a, const struct locking *b)
{
	return a->depth == b->depth && a->levels[0].method == b->levels[0].method &&
	       !memcmp(a->levels + 1, b->levels + 1, (a->depth - 1) * sizeof(*a->levels));
}

static uint32_t pc_desc_u32(const struct copy *c, uint32_t i, uint32_t field)
{
	uint32_t value;

	memcpy(&value, c->pcs + (size_t)i * c->l->pc_desc_size + field, sizeof(value));
	return value;
}

/* The last before the offset, else the first after it. */
static int choose(const struct copy *c, uint32_t offset, uint32_t *ret_scope, bool *ret_only)
{
	struct locking first = {0}, at;
	uint32_t scope = 0;
	bool only = true;

	for (uint32_t i = 0; i < c->s->pc_count; i++) {
		if (!locking_find(c, pc_desc_u32(c, i, c->l->pc_desc_scope), &at))
			continue;
		if (!first.depth)
			first = at;
		only &= same(&first, &at);
		if (!scope || pc_desc_u32(c, i, c->l->pc_desc_pc) < offset)
			scope = at.scope;
	}
	if (!scope)
		return -ENOENT;
	*ret_scope = scope;
	*ret_only = only;
	return 0;
}

int scopes_unlock(const struct mem *m, const struct code_layout *l, const struct scopes *s,
		  uint32_t offset, uint32_t *ret_scope, bool *ret_only)
{
	size_t pcs_size = (size_t)s->pc_count * l->pc_desc_size;
	struct copy c = {.l = l, .s = s};
	int err = -ENOMEM;

	if (s->pc_count > PCS_MAX || s->data_size > DATA_MAX || l->pc_desc_size > 64)
		return -EPROTO;
	c.data = malloc(s->data_size + 1);
	c.pcs = malloc(pcs_size + 1);
	if (c.data && c.pcs)
		err = m->read(m, s->data, c.data, s->data_size);
	if (!err)
		err = m->read(m, s->pcs, c.pcs, pcs_size);
	if (!err)
		err = choose(&c, offset, ret_scope, ret_only);
	free(c.data);
	free(c.pcs);
	return err;
}
