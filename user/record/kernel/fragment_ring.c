#include "record/kernel/fragment_ring.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/types.h>
#include <stdlib.h>

#include "bpf/wire/wire_layout.h"
#include "bpf/wire/wire_stack.h"
#include "spoor.skel.h"

struct fragment_ring {
	struct spoor_bpf *skel;
	struct ring_buffer *ring;
};

int fragment_ring_new(struct spoor_bpf *skel, const struct fragment_ring_options *o,
		      struct fragment_ring **ret)
{
	struct fragment_ring *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return -ENOMEM;
	r->skel = skel;
	r->ring = ring_buffer__new(bpf_map__fd(skel->maps.fragments), o->fragment, o->ctx, NULL);
	if (!r->ring) {
		err = -errno;
		free(r);
		return err;
	}
	*ret = r;
	return 0;
}

void fragment_ring_free(struct fragment_ring *r)
{
	if (!r)
		return;
	ring_buffer__free(r->ring);
	free(r);
}

int fragment_ring_fd(const struct fragment_ring *r)
{
	return r ? ring_buffer__epoll_fd(r->ring) : -1;
}

void fragment_ring_consume(struct fragment_ring *r)
{
	ring_buffer__consume(r->ring);
}

uint64_t fragment_ring_lost(const struct fragment_ring *r)
{
	return __atomic_load_n(&r->skel->bss->fragments_lost, __ATOMIC_RELAXED);
}

const struct wire_code *fragment_ring_code(const struct fragment_ring *r)
{
	return &r->skel->bss->java_code;
}

const volatile uint32_t *fragment_ring_code_epoch(const struct fragment_ring *r)
{
	return &r->skel->bss->code_epoch;
}

const volatile uint32_t *fragment_ring_class_epoch(const struct fragment_ring *r)
{
	return &r->skel->bss->class_epoch;
}
