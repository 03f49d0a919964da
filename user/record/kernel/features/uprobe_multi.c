/*
 * Why not libbpf's own bpf_program__attach_usdt()? It opens and parses the target's file in this
 * process, which has every right it needs to attach; here the parser process does that
 * (jvm/elf/parser.c). And in 1.1 (Debian 12) it makes a perf event per location. These are closed
 * one after the other under the kernel's event_mutex, 90 ms each: detaching from a JVM took 2.3
 * s. A uprobe_multi link takes all locations of a probe, and links can be closed side by side. The
 * BPF side is bpf/lib/probe.bpf.h: the cookie of each location is the number of its entry in
 * probe_specs.
 *
 * Gates. The kernel raises a probe's semaphore before it writes the breakpoint, and lowers it
 * after it has taken it out; on nops of 5 bytes there are several interrupts of all CPUs between.
 * A JVM that numbers its events meanwhile numbers some that nobody sees (Linux 6.18, a thread
 * that does nothing else: 203 when it was attached to, 8,818 when it was detached from). So the
 * breakpoint of such a probe is set without its semaphore, and that is raised by another one,
 * which does nothing: the gate. It is the last that is set and the first that is taken out. It
 * stands after the nop of a probe that is seldom fired. A breakpoint has one semaphore for all
 * who set it, in any process that has mapped the file: if another tool has set this one with its
 * own, there is no gate, and while there is one, other tools cannot attach to that probe.
 */
#include "record/kernel/features/uprobe_multi.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/types.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/arch/arch.h"
#include "bpf/wire/wire_probe.h"
#include "jvm/elf/parser.h"
#include "jvm/elf/usdt_arg.h"

/* From the kernel's include/uapi/linux/bpf.h; Debian 12's headers are older. */
#define ATTACH_TRACE_UPROBE_MULTI 48
#define LINK_RETURN 1 /* BPF_F_UPROBE_MULTI_RETURN */

struct link_create_attr {
	uint32_t prog_fd, target_fd, attach_type, flags;
	uint64_t path, offsets, ref_ctr_offsets, cookies;
	uint32_t cnt, multi_flags, pid, pad;
};

static int link_create(struct link_create_attr *attr)
{
	attr->attach_type = ATTACH_TRACE_UPROBE_MULTI;
	return (int)syscall(SYS_bpf, BPF_LINK_CREATE, attr, sizeof(*attr));
}

/* A program that does nothing; its descriptor. */
static int nothing_load(void)
{
	static const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT}};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = ATTACH_TRACE_UPROBE_MULTI);

	return bpf_prog_load(BPF_PROG_TYPE_KPROBE, NULL, "GPL", insns,
			     sizeof(insns) / sizeof(*insns), &opts);
}

int uprobe_multi_try(uint64_t offset)
{
	struct link_create_attr attr = {.path = (uintptr_t) "/proc/self/exe",
					.offsets = (uintptr_t)&offset,
					.cnt = 1,
					.pid = (uint32_t)getpid()};
	int prog = nothing_load(), fd, err;

	if (prog < 0)
		return prog;
	attr.prog_fd = (uint32_t)prog;
	fd = link_create(&attr);
	err = -errno;
	close(prog);
	return fd < 0 ? err : fd;
}

bool uprobe_multi_supported(void)
{
	struct link_create_attr attr = {.path = (uintptr_t) "/"};
	uint64_t offset = 0;
	int prog, fd, err;
	bool known;

	if (getenv("SPOOR_NO_UPROBE_MULTI")) /* to try the way of older kernels */
		return false;
	prog = nothing_load();
	if (prog < 0)
		return false;
	attr.prog_fd = (uint32_t)prog;
	attr.offsets = (uintptr_t)&offset;
	/* A kernel that does not know such links (6.1) says EINVAL to anything; one that does, that
	 * these are too many, or that "/" is no file. */
	attr.cnt = 1U << 31;
	attr.pid = 0;
	fd = link_create(&attr);
	known = fd >= 0 || errno != EINVAL;
	if (fd >= 0)
		close(fd);
	attr.cnt = 1;
	attr.pid = (uint32_t)-1;
	/* Kernels that bound a link to one thread instead of its process say EBADF ("/" is no
	 * file); fixed ones EINVAL (pid). */
	fd = link_create(&attr);
	err = errno;
	if (fd >= 0)
		close(fd);
	close(prog);
	return known && fd < 0 && err == EINVAL;
}

void uprobe_multi_prepare(struct bpf_program *program)
{
	bpf_program__set_expected_attach_type(program, ATTACH_TRACE_UPROBE_MULTI);
}

int uprobe_multi_open(struct uprobe_multi *u, const struct uprobe_target *t)
{
	*u = (struct uprobe_multi){.pid = t->pid, .program = t->program, .specs = t->specs};
	snprintf(u->path, sizeof(u->path), "/proc/self/fd/%d", t->file);
	/* A file that has no functions that can be read is as one that is stripped. */
	if (t->functions &&
	    parser_functions(t->parser, t->file, t->deadline_ms, &u->functions) == -ECHILD)
		return -ECHILD;
	return parser_usdt(t->parser, t->file, t->deadline_ms, &u->list);
}

static const struct usdt_probe *probe_find(const struct uprobe_multi *u,
					   const struct uprobe_name *n)
{
	return usdt_find(strcmp(n->provider, USDT_FUNCTIONS) ? &u->list : &u->functions,
			 n->provider, n->name);
}

/* The probe is hit when its function returns. */
static bool is_return(const struct usdt_probe *p)
{
	size_t len = strlen(p->name), end = sizeof(USDT_RETURN) - 1;

	return !strcmp(p->provider, USDT_FUNCTIONS) && len > end &&
	       !strcmp(p->name + len - end, USDT_RETURN);
}

void uprobe_multi_close(struct uprobe_multi *u)
{
	usdt_list_free(&u->list);
	usdt_list_free(&u->functions);
}

/* What a link is made of, one entry for each location of the probe. */
struct tables {
	uint64_t *offsets, *cookies;
	uint64_t *semaphores; /* which the kernel raises by one for each location, 0: has none */
};

/* t is freed with free(t->offsets), also after an error. */
static int collect(struct uprobe_multi *u, const struct usdt_probe *probe, uint32_t cookie,
		   struct tables *t)
{
	_Static_assert(sizeof(struct usdt_spec) == sizeof(struct wire_probe_spec) &&
			       offsetof(struct usdt_spec, usdt_cookie) ==
				       offsetof(struct wire_probe_spec, probe) &&
			       offsetof(struct usdt_spec, arg_cnt) ==
				       offsetof(struct wire_probe_spec, count) &&
			       offsetof(struct usdt_arg_spec, reg_off) ==
				       offsetof(struct wire_probe_arg, at) &&
			       offsetof(struct usdt_arg_spec, arg_bitshift) ==
				       offsetof(struct wire_probe_arg, shift),
		       "the same layout");

	t->offsets = calloc(probe->locations, 3 * sizeof(*t->offsets));
	if (!t->offsets)
		return -ENOMEM;
	t->cookies = t->offsets + probe->locations;
	t->semaphores = t->cookies + probe->locations;
	for (uint32_t i = 0; i < probe->locations; i++) {
		struct usdt_spec spec;
		int err = usdt_spec_parse(probe->at[i].args, &spec);

		if (!err && !probe->at[i].file_offset)
			err = -ENOEXEC;
		spec.usdt_cookie = cookie;
		if (!err && bpf_map_update_elem(u->specs, &u->spec_count, &spec, BPF_ANY))
			err = -errno;
		if (err)
			return err;
		t->offsets[i] = probe->at[i].file_offset +
				(probe->at[i].site == USDT_SITE_NOPS ? u->skip : 0);
		t->cookies[i] = u->spec_count++;
		t->semaphores[i] = probe->at[i].semaphore;
	}
	return 0;
}

int uprobe_multi_attach(struct uprobe_multi *u, const struct uprobe_name *name, bool gated)
{
	const struct usdt_probe *probe = probe_find(u, name);
	struct link_create_attr attr = {.prog_fd = (uint32_t)bpf_program__fd(u->program),
					.path = (uintptr_t)u->path,
					.pid = (uint32_t)u->pid};
	struct tables t;
	int err;

	if (!probe)
		return -ENOENT;
	err = collect(u, probe, name->probe, &t);
	if (!err) {
		attr.cnt = probe->locations;
		attr.multi_flags = is_return(probe) ? LINK_RETURN : 0;
		attr.offsets = (uintptr_t)t.offsets;
		attr.cookies = (uintptr_t)t.cookies;
		attr.ref_ctr_offsets = probe->semaphore && !gated ? (uintptr_t)t.semaphores : 0;
		err = link_create(&attr);
		if (err < 0)
			err = -errno;
	}
	free(t.offsets);
	return err;
}

int uprobe_multi_gate(struct uprobe_multi *u, struct bpf_program *program, const char *provider,
		      const char *name, const char *behind)
{
	const struct usdt_probe *probe = usdt_find(&u->list, provider, name);
	const struct usdt_probe *location = usdt_find(&u->list, provider, behind);
	struct link_create_attr attr = {.prog_fd = (uint32_t)bpf_program__fd(program),
					.path = (uintptr_t)u->path,
					.pid = (uint32_t)u->pid,
					.cnt = 1};
	uint64_t offset, semaphore;
	int fd;

	if (!probe || !location)
		return -ENOENT;
	if (!probe->at->semaphore || !location->at->file_offset ||
	    location->site != USDT_SITE_NOP_CALL)
		return -ENOTSUP;
	offset = location->at->file_offset + ARCH_HERE.nop_call_bytes;
	semaphore = probe->at->semaphore;
	attr.offsets = (uintptr_t)&offset;
	attr.ref_ctr_offsets = (uintptr_t)&semaphore;
	fd = link_create(&attr);
	return fd < 0 ? -errno : fd;
}

int uprobe_multi_raise(pid_t pid, int file, const struct usdt_probe *probe)
{
	uint64_t offset = probe->at->file_offset, semaphore = probe->at->semaphore;
	int prog = nothing_load(), fd, err;
	char path[32];
	struct link_create_attr attr = {.prog_fd = (uint32_t)prog,
					.path = (uintptr_t)path,
					.offsets = (uintptr_t)&offset,
					.ref_ctr_offsets = (uintptr_t)&semaphore,
					.pid = (uint32_t)pid,
					.cnt = 1};

	if (prog < 0)
		return prog;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	fd = link_create(&attr);
	err = -errno;
	close(prog);
	return fd < 0 ? err : fd;
}

/* --- older kernels ----------------------------------------------------------------------- */

/*
 * The kernel raises a semaphore when it sets a probe, and that is some ms before the program is
 * attached: who looks at the semaphore meanwhile emits what nobody sees. At a location of several
 * nops (the mark library's) the semaphore is therefore raised by a probe at the second nop, set
 * after the program's own at the first. It is hit, too, and has no entry: the program does nothing.
 */
#define NO_ENTRY UINT32_MAX

struct uprobe_links {
	size_t count;
	struct bpf_link *link[];
};

static int single_add(const struct uprobe_multi *u, uint64_t offset,
		      const struct bpf_uprobe_opts *opts, struct uprobe_links *l)
{
	struct bpf_link *link =
		bpf_program__attach_uprobe_opts(u->program, u->pid, u->path, offset, opts);

	if (!link)
		return -errno;
	l->link[l->count++] = link;
	return 0;
}

static int single_location(const struct uprobe_multi *u, const struct usdt_probe *probe,
			   const struct tables *t, uint32_t i, struct uprobe_links *l)
{
	bool apart = probe->at[i].site == USDT_SITE_NOPS && t->semaphores[i];
	LIBBPF_OPTS(bpf_uprobe_opts, opts, .ref_ctr_offset = apart ? 0 : t->semaphores[i],
		    .bpf_cookie = t->cookies[i], .retprobe = is_return(probe));
	LIBBPF_OPTS(bpf_uprobe_opts, raise, .ref_ctr_offset = t->semaphores[i],
		    .bpf_cookie = NO_ENTRY);
	int err = single_add(u, t->offsets[i], &opts, l);

	return err || !apart ? err : single_add(u, t->offsets[i] + 1, &raise, l);
}

int uprobe_single_attach(struct uprobe_multi *u, const struct uprobe_name *name,
			 struct uprobe_links **ret)
{
	const struct usdt_probe *probe = probe_find(u, name);
	struct uprobe_links *l;
	struct tables t;
	int err;

	if (!probe)
		return -ENOENT;
	l = calloc(1, sizeof(*l) + 2ul * probe->locations * sizeof(*l->link));
	if (!l)
		return -ENOMEM;
	err = collect(u, probe, name->probe, &t);
	for (uint32_t i = 0; !err && i < probe->locations; i++)
		err = single_location(u, probe, &t, i, l);
	free(t.offsets);
	if (err)
		uprobe_links_free(l);
	else
		*ret = l;
	return err;
}

void uprobe_links_free(struct uprobe_links *l)
{
	for (size_t i = 0; l && i < l->count; i++)
		bpf_link__destroy(l->link[i]);
	free(l);
}
