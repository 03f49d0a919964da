/*
 * libbpf gives a program to a handler of its section when it is ready to be loaded: its
 * instructions are relocated, its functions joined, its maps are there. Of all that a copy is kept,
 * and libbpf loads a program in its place that does nothing.
 */
#include "record/kernel/features/load_later.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOT_TRIED (-1)

struct load_later {
	int handler; /* negative: libbpf has none */
	int fd;      /* or NOT_TRIED, or negative errno less 1; the thread's while there is one */
	bool running;
	pthread_t thread;
	struct bpf_insn *insns;
	size_t count;
	void *func_info; /* the verifier's word for what is a function of its own */
	struct bpf_prog_load_opts opts;
	struct load_later_kind kind;
};

static void *copy(const void *from, size_t bytes)
{
	void *to = malloc(bytes ? bytes : 1);

	if (!to)
		return NULL;
	if (bytes)
		memcpy(to, from, bytes);
	return to;
}

static int keep(struct bpf_program *program, struct bpf_prog_load_opts *opts, long cookie)
{
	struct bpf_insn nothing[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K},
		{.code = BPF_JMP | BPF_EXIT},
	};
	struct load_later *l = (struct load_later *)cookie;

	if (strcmp(bpf_program__name(program), l->kind.program) != 0)
		return 0;
	l->count = bpf_program__insn_cnt(program);
	l->insns = copy(bpf_program__insns(program), l->count * sizeof(*l->insns));
	l->func_info = copy(opts->func_info,
			    (size_t)opts->func_info_cnt * opts->func_info_rec_size);
	if (!l->insns || !l->func_info)
		return -ENOMEM;
	l->opts = (struct bpf_prog_load_opts){
		.sz = sizeof(l->opts),
		.expected_attach_type = opts->expected_attach_type,
		.attach_btf_id = opts->attach_btf_id,
		.attach_btf_obj_fd = opts->attach_btf_obj_fd,
		.prog_btf_fd = opts->prog_btf_fd,
		.prog_flags = opts->prog_flags,
		.func_info = l->func_info,
		.func_info_cnt = opts->func_info_cnt,
		.func_info_rec_size = opts->func_info_rec_size,
	};
	opts->func_info_cnt = opts->line_info_cnt = 0;
	return bpf_program__set_insns(program, nothing, sizeof(nothing) / sizeof(*nothing));
}

int load_later_new(const struct load_later_kind *kind, struct load_later **ret)
{
	struct load_later *l = calloc(1, sizeof(*l));
	LIBBPF_OPTS(libbpf_prog_handler_opts, opts, .cookie = (long)l,
		    .prog_prepare_load_fn = keep);

	if (!l)
		return -ENOMEM;
	l->kind = *kind;
	l->fd = NOT_TRIED;
	l->handler = libbpf_register_prog_handler(kind->section, kind->type, kind->attach, &opts);
	if (l->handler < 0) {
		int err = l->handler;

		free(l);
		return err;
	}
	*ret = l;
	return 0;
}

void load_later_prepared(struct load_later *l)
{
	if (l->handler >= 0)
		libbpf_unregister_prog_handler(l->handler);
	l->handler = -1;
}

static void *load(void *ctx)
{
	struct load_later *l = ctx;

	l->fd = l->insns ? bpf_prog_load(l->kind.type, l->kind.program, "GPL", l->insns, l->count,
					 &l->opts)
			 : -ENOENT;
	if (l->fd < 0)
		l->fd -= 1;
	return NULL;
}

void load_later_begin(struct load_later *l)
{
	sigset_t all, old;

	if (l->running || l->fd != NOT_TRIED)
		return;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	l->running = !pthread_create(&l->thread, NULL, load, l);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!l->running)
		load(l);
}

bool load_later_is_done(struct load_later *l)
{
	if (l->running && !pthread_tryjoin_np(l->thread, NULL))
		l->running = false;
	return !l->running && l->fd != NOT_TRIED;
}

static void wait_for(struct load_later *l)
{
	if (l->running)
		pthread_join(l->thread, NULL);
	l->running = false;
}

int load_later_fd(struct load_later *l)
{
	wait_for(l);
	if (l->fd == NOT_TRIED)
		load(l);
	return l->fd < 0 ? l->fd + 1 : l->fd;
}

void load_later_free(struct load_later *l)
{
	if (!l)
		return;
	wait_for(l);
	load_later_prepared(l);
	if (l->fd >= 0)
		close(l->fd);
	free(l->insns);
	free(l->func_info);
	free(l);
}
