#include "record/kernel/map_sizes.h"

#include <bpf/libbpf.h>
#include <linux/types.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bpf/wire/wire_layout.h"
#include "bpf/wire/wire_stack.h"
#include "jvm/target/process.h"
#include "record/kernel/features/kernel_reads.h"
#include "spoor.skel.h"

#define THREADS_LEAST 4096
#define CODES_LEAST 16384   /* return addresses on stacks, of which few threads may have many */
#define MEMOS_LEAST 512     /* of 5 KB each */
#define SEGMENT_MEMOS 16384 /* of 0.6 KB each */
#define VIRTUAL_SLOTS 65536
#define FRAGMENTS 512 /* less than that, as each has a head */

static uint32_t more(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static uint32_t room_for(uint32_t threads_now)
{
	return threads_now < MAP_THREADS_MAX / 4 ? more(threads_now * 4, THREADS_LEAST)
						 : MAP_THREADS_MAX;
}

static uint32_t power_of_two(uint32_t least, uint32_t n, uint32_t most)
{
	while (least < most && least < n)
		least *= 2;
	return least;
}

/* The target and this process are in the first pid namespace. */
static bool same_tids(pid_t pid)
{
	struct stat own, its;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/ns/pid", (int)pid);
	return !stat("/proc/self/ns/pid", &own) && !kernel_pidns(own.st_ino) && !stat(path, &its) &&
	       its.st_ino == own.st_ino;
}

struct map_size {
	struct bpf_map *map;
	uint32_t size; /* at MAP_THREADS_MAX; 0: what is declared */
	bool needed;
};

/* What is per thread, or grows with what the threads do. Of those with a size of their own here,
 * one entry is declared, which is what they have if they are not needed. */
static int sizes_by_threads(struct spoor_bpf *skel, const struct map_sizes *s, uint32_t slots)
{
	const struct map_size maps[] = {
		{skel->maps.threads, 0, true},
		/* With ids there are two of each thread. */
		{skel->maps.java_threads, MAP_THREADS_MAX * (s->thread_ids ? 2 : 1), true},
		{skel->maps.java_thread_of, 0, true},
		{skel->maps.monitors, 0, true},
		{skel->maps.classes, 0, true},
		{skel->maps.chains, 0, true},
		{skel->maps.ns_tids, MAP_THREADS_MAX, !same_tids(s->pid)},
		{skel->maps.parkers, MAP_THREADS_MAX, !s->by_switches},
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

/* Only threads that are there already have a first reason; and most of those that will be have
 * stacks that are like theirs. */
static int sizes_by_present(struct spoor_bpf *skel, const struct map_sizes *s, uint32_t slots,
			    uint32_t now)
{
	uint32_t memos = bpf_map__max_entries(skel->maps.memos), share = MAP_THREADS_MAX / slots;
	int err = bpf_map__set_max_entries(skel->maps.first_reasons,
					   power_of_two(MAP_THREADS_MIN, now * 2, MAP_THREADS_MAX));

	if (!err)
		err = bpf_map__set_max_entries(
			skel->maps.memos,
			power_of_two(more(MEMOS_LEAST, memos / share), now * 4, memos));
	if (!err && s->samples)
		err = bpf_map__set_max_entries(skel->maps.segment_memos, SEGMENT_MEMOS);
	if (!err && !s->samples)
		err = bpf_map__set_max_entries(
			skel->maps.codes,
			more(CODES_LEAST, bpf_map__max_entries(skel->maps.codes) / share));
	return err;
}

static uint32_t ring_size(uint64_t least)
{
	uint32_t size = (uint32_t)sysconf(_SC_PAGESIZE);

	while (size < least && size < 1u << 30)
		size <<= 1;
	return size;
}

int map_sizes_set(struct spoor_bpf *skel, const struct map_sizes *s)
{
	struct bpf_map *walks = skel->maps.walk_slots;
	uint32_t now = 0, threads, slots;
	struct process_stat stat;
	int err;

	if (!process_stat(s->pid, &stat))
		now = stat.threads < MAP_THREADS_MAX ? (uint32_t)stat.threads : MAP_THREADS_MAX;
	threads = s->max_threads ? s->max_threads : room_for(now);
	slots = power_of_two(MAP_THREADS_MIN, threads, MAP_THREADS_MAX);
	skel->rodata->thread_slots = slots;
	err = bpf_map__set_max_entries(skel->maps.events, ring_size(s->buffer_bytes));
	if (!err)
		err = bpf_map__set_max_entries(skel->maps.fragments,
					       s->fragment_bytes ? s->fragment_bytes * FRAGMENTS
								 : (uint32_t)sysconf(_SC_PAGESIZE));
	/* As many walks may be going on as one CPU can be interrupted in, on each CPU. */
	if (!err)
		err = bpf_map__set_max_entries(walks, bpf_map__max_entries(walks) * s->cpus);
	if (!err && s->timers)
		err = bpf_map__set_max_entries(skel->maps.cpu_timers, s->cpus);
	if (!err)
		err = sizes_by_present(skel, s, slots, now);
	return err ? err : sizes_by_threads(skel, s, slots);
}
