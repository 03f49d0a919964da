#include "record/kernel/features/kernel_try.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <link.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/arch/arch.h"
#include "base/arch/arch_hits.h"
#include "record/kernel/features/uprobe_multi.h"

#define PARANOID_PATH "/proc/sys/kernel/perf_event_paranoid"
#define UPROBE_TYPE_PATH "/sys/bus/event_source/devices/uprobe/type"

static int quiet(enum libbpf_print_level level, const char *format, va_list ap)
{
	(void)level;
	(void)format;
	(void)ap;
	return 0;
}

static const struct bpf_insn nothing[] = {
	{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
	{.code = BPF_JMP | BPF_EXIT},
};

/* Loads a program that does nothing. */
static int program_try(enum bpf_prog_type type, const char *tracepoint)
{
	LIBBPF_OPTS(bpf_prog_load_opts, o);
	int fd;

	if (tracepoint) {
		int id = libbpf_find_vmlinux_btf_id(tracepoint, BPF_TRACE_RAW_TP);

		if (id < 0)
			return id;
		o.expected_attach_type = BPF_TRACE_RAW_TP;
		o.attach_btf_id = (__u32)id;
	}
	fd = bpf_prog_load(type, "spoor_check", "GPL", nothing, sizeof(nothing) / sizeof(*nothing),
			   &o);
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

int kernel_try_ring(void)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "spoor_check", 0, 0,
				(__u32)sysconf(_SC_PAGESIZE), NULL);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

int kernel_try_sched(void)
{
	libbpf_print_fn_t before = libbpf_set_print(quiet);
	int err = program_try(BPF_PROG_TYPE_TRACING, "sched_switch");

	libbpf_set_print(before);
	return err;
}

int kernel_try_kprobe(void)
{
	libbpf_print_fn_t before = libbpf_set_print(quiet);
	int err = program_try(BPF_PROG_TYPE_KPROBE, NULL);

	libbpf_set_print(before);
	return err;
}

/* A program that calls the helper with anything for arguments: the verifier complains of them, or
 * that there is no such helper. */
static int helper_try(enum bpf_func_id helper)
{
	const struct bpf_insn call[] = {
		{.code = BPF_JMP | BPF_CALL, .imm = helper},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	char words[4096] = "";
	LIBBPF_OPTS(bpf_prog_load_opts, o, .log_buf = words, .log_size = sizeof(words),
		    .log_level = 1);
	int fd = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "spoor_check", "GPL", call,
			       sizeof(call) / sizeof(*call), &o);

	if (fd >= 0)
		close(fd);
	if (strstr(words, "unknown func") || strstr(words, "invalid func") ||
	    strstr(words, "cannot use helper"))
		return -EOPNOTSUPP;
	return fd >= 0 || words[0] ? 0 : fd;
}

int kernel_try_loop(void)
{
	libbpf_print_fn_t before = libbpf_set_print(quiet);
	int err = helper_try(BPF_FUNC_loop);

	libbpf_set_print(before);
	return err;
}

int kernel_try_read(void)
{
	libbpf_print_fn_t before = libbpf_set_print(quiet);
	int err = helper_try(BPF_FUNC_probe_read_kernel);

	libbpf_set_print(before);
	return err;
}

/* The uprobe's victim: never called. */
static __attribute__((noinline, noclone, used)) void uprobe_here(void)
{
	__asm__ volatile("nop");
}

struct file_offset {
	uintptr_t addr;
	uint64_t offset; /* in the file that is mapped there */
	bool found;
};

static int file_offset_find(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct file_offset *p = ctx;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];

		if (h->p_type != PT_LOAD || p->addr - info->dlpi_addr - h->p_vaddr >= h->p_filesz)
			continue;
		p->offset = p->addr - info->dlpi_addr - h->p_vaddr + h->p_offset;
		p->found = true;
		return 1;
	}
	return 0;
}

/* As a recording does: a link where the kernel has them, else a perf event. */
int kernel_try_uprobe(void)
{
	struct file_offset p = {.addr = (uintptr_t)uprobe_here};
	struct perf_event_attr attr = {.size = sizeof(attr)};
	char type[32];
	bool got;
	FILE *f;
	long fd;

	if (uprobe_multi_supported())
		return 0;
	f = fopen(UPROBE_TYPE_PATH, "re");
	if (!f)
		return -errno;
	got = fgets(type, sizeof(type), f) != NULL;
	fclose(f);
	if (!got)
		return -EIO;
	attr.type = (__u32)atoi(type);
	dl_iterate_phdr(file_offset_find, &p);
	if (!p.found)
		return -ENOEXEC;
	attr.config1 = (uintptr_t) "/proc/self/exe";
	attr.config2 = p.offset;
	fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -errno;
	close((int)fd);
	return 0;
}

int kernel_try_clock(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .size = sizeof(attr),
				       .config = PERF_COUNT_SW_CPU_CLOCK,
				       .sample_period = 1000000,
				       .disabled = 1};
	long fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return -errno;
	close((int)fd);
	return 0;
}

bool kernel_clock_is_for_admin(void)
{
	FILE *f = fopen(PARANOID_PATH, "re");
	int level = 0;
	bool known = f && fscanf(f, "%d", &level) == 1;

	if (f)
		fclose(f);
	return known && level > 2;
}

#define BATCHES 5
#define HITS 200

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static int cost_compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The median of some batches, by the thread's own clock. -ENOSYS: the architecture has no such nop.
 */
static int hits_measure(arch_hit *hit, uint32_t *ret_ns, bool *ret_call)
{
	struct file_offset p = {.addr = (uintptr_t)hit};
	uint64_t costs[BATCHES];
	int fd;

	if (!hit)
		return -ENOSYS;
	dl_iterate_phdr(file_offset_find, &p);
	if (!p.found)
		return -ENOEXEC;
	fd = uprobe_multi_try(p.offset);
	if (fd < 0)
		return fd;
	hit(); /* the first hit traps; it is where the kernel decides */
	for (int i = 0; i < BATCHES; i++) {
		uint64_t begin = cpu_ns();

		for (int n = 0; n < HITS; n++)
			hit();
		costs[i] = (cpu_ns() - begin) / HITS;
	}
	*ret_call = *(volatile unsigned char *)p.addr != ARCH_HITS_BREAKPOINT;
	close(fd);
	qsort(costs, BATCHES, sizeof(*costs), cost_compare);
	*ret_ns = (uint32_t)costs[BATCHES / 2];
	return 0;
}

int kernel_try_cost(struct probe_cost *ret)
{
	struct probe_cost c = {0};
	bool call;
	int err;

	if (!uprobe_multi_supported())
		return -EOPNOTSUPP;
	err = hits_measure(arch_hits.nop, &c.nop1_ns, &call);
	if (!err && arch_hits.nop5)
		err = hits_measure(arch_hits.nop5, &c.nop5_ns, &c.nop5_call);
	/* 6.18 takes the prefix of a 10-byte nop for one that it cannot step over. */
	if (!err && hits_measure(arch_hits.nop10, &c.nop10_ns, &c.nop10_call))
		c.nop10_ns = 0;
	if (!err)
		*ret = c;
	return err;
}

static bool is_call(arch_hit *hit)
{
	uint32_t ns;
	bool call;

	return !hits_measure(hit, &ns, &call) && call;
}

uint32_t kernel_try_nops(void)
{
	if (!uprobe_multi_supported())
		return 0;
	if (is_call(arch_hits.nop10))
		return ARCH_HERE.nops_10;
	return is_call(arch_hits.nop5) ? ARCH_HERE.nops_5 : 0;
}
