#include "log/check/check_index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/tables/array.h"
#include "log/format/unpack.h"

int check_blocks_add(struct check_blocks *c, const struct index_entry *entry)
{
	int err;

	if (c->count > CHECK_BLOCKS_MAX)
		return 0;
	err = array_grow(&c->entries, &c->capacity, c->count, sizeof(*c->entries));
	if (!err)
		c->entries[c->count++] = *entry;
	return err;
}

static int read_entry(struct unpack *u, struct index_entry *ret)
{
	uint64_t v[8];
	uint32_t count;

	if (unpack_array(u, &count) || count != 8)
		return -EBADMSG;
	for (int i = 0; i < 8; i++)
		if (unpack_uint(u, &v[i]))
			return -EBADMSG;
	*ret = (struct index_entry){v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]};
	return 0;
}

static bool is_same(const struct index_entry *a, const struct index_entry *b)
{
	return a->offset == b->offset && a->length == b->length && a->sequence == b->sequence &&
	       a->kind == b->kind && a->events == b->events && a->flags == b->flags &&
	       a->first_ns == b->first_ns && a->last_ns == b->last_ns;
}

static void add_lost(struct index_lost *l, const struct index_entry *e)
{
	bool packed = e->kind == BLOCK_KIND_PACKED;

	l->blocks++;
	if (packed && e->flags & BLOCK_SYNC) /* repeats what is elsewhere */
		return;
	if (e->kind == BLOCK_KIND_OBJECTS) /* no events of the vocabulary */
		return;
	l->events += e->events;
	if (!packed)
		return;
	if (!l->first_ns || e->first_ns < l->first_ns)
		l->first_ns = e->first_ns;
	if (e->last_ns > l->last_ns)
		l->last_ns = e->last_ns;
}

/* NULL, or what is wrong with the next entry. */
static const char *compare_entry(const struct check_blocks *c, struct unpack *u, size_t *at,
				 struct index_lost *lost)
{
	struct index_entry e;

	if (read_entry(u, &e))
		return "an entry of it is none";
	if (*at < c->count && c->entries[*at].offset == e.offset)
		return is_same(&c->entries[(*at)++], &e) ? NULL : "an entry of it is wrong";
	if (*at < c->count && c->entries[*at].offset < e.offset)
		return "a block is not in it";
	add_lost(lost, &e);
	return NULL;
}

static const char *compare(const struct check_blocks *c, const struct block *index,
			   struct index_lost *lost)
{
	struct unpack u = {index->payload, index->payload + index->length};
	const char *wrong = NULL;
	uint64_t previous;
	uint32_t count;
	size_t at = 0;

	if (unpack_array(&u, &count) || count != 1 || unpack_uint(&u, &previous))
		return "it does not begin with the place of the one before";
	if (previous != c->last_index)
		return "the place that it tells of the one before is wrong";
	if (c->count > CHECK_BLOCKS_MAX)
		return NULL;
	while (u.at < u.end && !wrong)
		wrong = compare_entry(c, &u, &at, lost);
	return wrong || at == c->count ? wrong : "a block is not in it";
}

const char *check_blocks_compare(struct check_blocks *c, const struct block *index, uint64_t offset,
				 struct index_lost *ret)
{
	struct index_lost lost = {0};
	const char *wrong = compare(c, index, &lost);

	c->count = 0;
	c->last_index = offset;
	*ret = lost;
	return wrong;
}

void check_blocks_free(struct check_blocks *c)
{
	free(c->entries);
	c->entries = NULL;
}
