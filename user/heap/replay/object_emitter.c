#include "heap/replay/object_replay_internal.h"

int object_replay_emitter(struct object_replay *r, uint64_t stream, uint32_t *ret)
{
	uint32_t known = r->streams.count;
	int err = keymap_add_row(&r->streams, (struct keymap_key){.a = stream}, &r->emitters,
				 &r->emitters_capacity, sizeof(*r->emitters), ret);

	if (!err && *ret == known)
		r->emitters[*ret].thread.stream = stream;
	return err;
}
