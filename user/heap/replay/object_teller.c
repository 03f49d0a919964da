#include "heap/replay/object_replay_internal.h"

int object_replay_teller(struct object_replay *r, uint64_t stream, uint32_t *ret)
{
	uint32_t known = r->streams.count;
	int err = keymap_add_row(&r->streams, (struct keymap_key){.a = stream}, &r->tellers,
				 &r->tellers_capacity, sizeof(*r->tellers), ret);

	if (!err && *ret == known)
		r->tellers[*ret].thread.stream = stream;
	return err;
}
