#include "record/kernel/relay.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/types.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bpf/wire/wire_cpu.h"
#include "bpf/wire/wire_relay.h"
#include "record/kernel/features/kernel_facts.h"
#include "record/kernel/features/kernel_reads.h"
#include "record/kernel/features/refusal.h"
#include "relay.skel.h"

#define PROGRAMS_MAX 8

_Static_assert(RELAY_SLOTS_MAX == WIRE_RELAY_SLOTS - 1, "slot 0 is none");

struct relay {
	struct relay_bpf *skel;
	struct bpf_link *links[PROGRAMS_MAX];
	struct ring_buffer *ring;
	void (*begun)(void *ctx, pid_t pid); /* of the call that is going on */
	void *ctx;
};

static int fail(char why[RELAY_WHY_MAX], int err, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(why, RELAY_WHY_MAX, format, ap);
	va_end(ap);
	return err;
}

static int quiet(enum libbpf_print_level level, const char *format, va_list ap)
{
	(void)level;
	return getenv("SPOOR_DEBUG_BPF") ? vfprintf(stderr, format, ap) : 0;
}

static int on_start(void *ctx, void *data, size_t size)
{
	const struct wire_relay_start *s = data;
	struct relay *r = ctx;

	if (size >= sizeof(*s))
		r->begun(r->ctx, (pid_t)s->pid);
	return 0;
}

static int load(struct relay *r, char why[RELAY_WHY_MAX])
{
	struct kernel_facts k;
	struct stat st;
	int err;

	libbpf_set_print(quiet);
	r->skel = relay_bpf__open();
	if (!r->skel)
		return fail(why, -errno, "the BPF programs cannot be opened: %s", strerror(errno));
	if (stat("/proc/self/ns/pid", &st))
		return fail(why, -errno, "/proc/self/ns/pid cannot be read: %s", strerror(errno));
	kernel_facts_read(&k);
	r->skel->rodata->own_pidns = kernel_pidns(st.st_ino);
	r->skel->rodata->steal_clock = k.steal.clock;
	r->skel->rodata->steal_offset = k.steal.offset;
	r->skel->rodata->kernel_reads = k.reads;
	bpf_program__set_autoload(r->skel->progs.relay_sched_entry_tp, k.sched_entry);
	err = relay_bpf__load(r->skel);
	/* Where libbpf's own try of a map that can be mapped fails, it loads all the same. */
	if (!err && !r->skel->bss)
		err = -ENOTSUP;
	if (err)
		refusal_of_load(err, why, RELAY_WHY_MAX);
	return err;
}

static int attach(struct relay *r, char why[RELAY_WHY_MAX])
{
	struct bpf_program *programs[PROGRAMS_MAX] = {
		r->skel->progs.relay_sched_process_exit, r->skel->progs.relay_switch,
		r->skel->progs.relay_switch_second,      r->skel->progs.relay_sched_wakeup,
		r->skel->progs.relay_sched_wakeup_new,   r->skel->progs.relay_sched_waking,
		r->skel->progs.relay_sched_entry_tp,     r->skel->progs.relay_task_rename};

	for (size_t i = 0; i < PROGRAMS_MAX; i++) {
		if (!bpf_program__autoload(programs[i]))
			continue;
		r->links[i] = bpf_program__attach(programs[i]);
		if (!r->links[i])
			return fail(why, -errno, "%s cannot be attached: %s",
				    bpf_program__name(programs[i]), strerror(errno));
	}
	return 0;
}

int relay_open(struct relay **ret, char why[RELAY_WHY_MAX])
{
	struct relay *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return fail(why, -ENOMEM, "out of memory");
	err = load(r, why);
	if (err)
		goto fail;
	r->ring = ring_buffer__new(bpf_map__fd(r->skel->maps.starts), on_start, r, NULL);
	if (!r->ring) {
		err = fail(why, -errno, "the ring buffer cannot be mapped: %s", strerror(errno));
		goto fail;
	}
	err = attach(r, why);
	if (err)
		goto fail;
	*ret = r;
	return 0;
fail:
	relay_close(r);
	return err;
}

void relay_close(struct relay *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < PROGRAMS_MAX; i++)
		bpf_link__destroy(r->links[i]);
	ring_buffer__free(r->ring);
	relay_bpf__destroy(r->skel);
	free(r);
}

int relay_fd(const struct relay *r)
{
	return ring_buffer__epoll_fd(r->ring);
}

void relay_starts(struct relay *r, void (*begun)(void *ctx, pid_t pid), void *ctx)
{
	r->begun = begun;
	r->ctx = ctx;
	ring_buffer__consume(r->ring);
}

bool relay_starts_lost(struct relay *r)
{
	return __atomic_exchange_n(&r->skel->bss->starts_lost, 0, __ATOMIC_ACQ_REL);
}

int relay_cpus_fd(const struct relay *r)
{
	return bpf_map__fd(r->skel->maps.relay_cpus);
}

static int array_fd(const struct relay *r, enum wire_relay_hook hook)
{
	struct bpf_map *const arrays[WIRE_RELAY_HOOK_COUNT] = {
		[WIRE_RELAY_SWITCH] = r->skel->maps.on_switch,
		[WIRE_RELAY_WAKEUP] = r->skel->maps.on_wakeup,
		[WIRE_RELAY_WAKEUP_NEW] = r->skel->maps.on_wakeup_new,
		[WIRE_RELAY_WAKING] = r->skel->maps.on_waking,
		[WIRE_RELAY_ENTRY] = r->skel->maps.on_entry,
		[WIRE_RELAY_EXIT] = r->skel->maps.on_exit,
		[WIRE_RELAY_RENAME] = r->skel->maps.on_rename,
	};

	return bpf_map__fd(arrays[hook]);
}

/* An entry as the one word that it is written and read as. */
union target {
	struct wire_relay_target t;
	uint64_t word;
};

static uint64_t *target_at(struct relay *r, uint32_t i)
{
	/* An entry is 8 bytes, and the table is at the begin of a page. */
	return (uint64_t *)(void *)&r->skel->bss->targets[i % WIRE_RELAY_TARGETS];
}

/* Recorders come and go at the same time. */
static int target_add(struct relay *r, uint32_t tgid, unsigned slot)
{
	union target own = {.t = {.tgid = tgid, .slot = slot}}, was;

	for (uint32_t i = 0; i < WIRE_RELAY_LOOKS; i++) {
		was.word = __atomic_load_n(target_at(r, tgid + i), __ATOMIC_ACQUIRE);
		while (!was.t.slot)
			if (__atomic_compare_exchange_n(target_at(r, tgid + i), &was.word, own.word,
							false, __ATOMIC_ACQ_REL,
							__ATOMIC_ACQUIRE)) {
				__atomic_fetch_add(&r->skel->bss->target_count, 1,
						   __ATOMIC_ACQ_REL);
				return 0;
			}
	}
	return -ENOSPC;
}

static void target_remove(struct relay *r, unsigned slot)
{
	union target entry, none;

	for (uint32_t i = 0; i < WIRE_RELAY_TARGETS; i++) {
		entry.word = __atomic_load_n(target_at(r, i), __ATOMIC_ACQUIRE);
		if (entry.t.slot != slot)
			continue;
		/* The number stays, so that those behind it are found. */
		none = (union target){.t = {.tgid = entry.t.tgid}};
		if (__atomic_compare_exchange_n(target_at(r, i), &entry.word, none.word, false,
						__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			__atomic_fetch_sub(&r->skel->bss->target_count, 1, __ATOMIC_ACQ_REL);
	}
}

int relay_join(struct relay *r, unsigned slot, uint32_t tgid, const int *programs)
{
	uint32_t key = slot;
	int err;

	for (int i = 0; i < WIRE_RELAY_HOOK_COUNT; i++) {
		if (programs[i] < 0)
			continue;
		if (bpf_map_update_elem(array_fd(r, i), &key, &programs[i], BPF_ANY)) {
			err = -errno;
			relay_clear(r, slot);
			return err;
		}
	}
	err = target_add(r, tgid, slot);
	if (err)
		relay_clear(r, slot);
	return err;
}

void relay_leave(struct relay *r, unsigned slot)
{
	target_remove(r, slot);
}

void relay_clear(struct relay *r, unsigned slot)
{
	uint32_t key = slot;

	target_remove(r, slot);
	for (int i = 0; i < WIRE_RELAY_HOOK_COUNT; i++)
		bpf_map_delete_elem(array_fd(r, i), &key);
}
