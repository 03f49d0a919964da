#include "record/kernel/map_sizes.h"

#include <bpf/libbpf.h>
#include <linux/types.h>
#include <stddef.h>
#include <unistd.h>

#include "bpf/wire/wire_layout.h"
#include "bpf/wire/wire_stack.h"
#include "spoor.skel.h"

#define VIRTUAL_SLOTS 65536
#define FRAGMENTS 512 /* less than that, as each has a head */

static uint32_t slots_for(uint32_t max_threads)
{
	uint32_t slots = MAP_THREADS_MIN;

	while (slots < MAP_THREADS_MAX && slots < max_threads)
		slots *= 2;
	return max_threads ? slots : MAP_THREADS_MAX;
}

/* What is per thread, or grows with what the threads do. Of those with a size of their own here,
 * one entry is declared, which is what they have if they are not needed. */
static int sizes_by_threads(struct spoor_bpf *skel, const struct map_sizes *s, uint32_t slots)
{
	const struct {
		struct bpf_map *map;
		uint32_t size; /* at MAP_THREADS_MAX; 0: what is declared */
		bool needed;
	} maps[] = {
		{skel->maps.threads, 0, true},
		{skel->maps.java_threads, 0, true},
		{skel->maps.java_thread_of, 0, true},
		{skel->maps.ns_tids, 0, true},
		{skel->maps.parkers, 0, true},
		{skel->maps.first_reasons, 0, true},
		{skel->maps.monitors, 0, true},
		{skel->maps.classes, 0, true},
		{skel->maps.codes, 0, true},
		{skel->maps.memos, 0, true},
		{skel->maps.chains, 0, true},
		{skel->maps.waits, MAP_THREADS_MAX, s->by_switches},
		{skel->maps.virtual_named, VIRTUAL_SLOTS, s->virtual_threads},
		{skel->maps.virtual_waits, VIRTUAL_SLOTS, s->virtual_threads},
		{skel->maps.virtual_parks, VIRTUAL_SLOTS, s->virtual_parks},
	};
	int err = 0;

	for (size_t i = 0; i < sizeof(maps) / sizeof(*maps) && !err; i++) {
		uint32_t size = maps[i].size ? maps[i].size : bpf_map__max_entries(maps[i].map);

		if (maps[i].needed)
			err = bpf_map__set_max_entries(maps[i].map,
						       size / (MAP_THREADS_MAX / slots));
	}
	return err;
}

int map_sizes_set(struct spoor_bpf *skel, const struct map_sizes *s)
{
	uint32_t slots = slots_for(s->max_threads);
	struct bpf_map *walks = skel->maps.walk_slots;
	int err;

	skel->rodata->thread_slots = slots;
	err = bpf_map__set_max_entries(skel->maps.events, (uint32_t)s->buffer_bytes);
	if (!err)
		err = bpf_map__set_max_entries(skel->maps.fragments,
					       s->fragment_bytes
						       ? s->fragment_bytes * FRAGMENTS
						       : (uint32_t)sysconf(_SC_PAGESIZE));
	/* As many walks may be going on as one CPU can be interrupted in, on each CPU. */
	if (!err)
		err = bpf_map__set_max_entries(walks, bpf_map__max_entries(walks) * s->cpus);
	return err ? err : sizes_by_threads(skel, s, slots);
}
