/* record/kernel/features/uprobe_multi.h: attaches USDT probes: through uprobe_multi links (Linux
 * 6.6), which libbpf 1.1 lacks, or one by one. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "jvm/elf/usdt.h"

struct bpf_program;
struct parser;
struct uprobe_links;

struct uprobe_multi {
	struct usdt_list list;
	struct usdt_list functions; /* of USDT_FUNCTIONS; none unless they were asked for */
	pid_t pid;
	char path[32]; /* /proc/self/fd/N */
	struct bpf_program *program; /* lent */
	int specs; /* descriptor of its map probe_specs; lent */
	uint32_t spec_count;
	uint32_t skip; /* in locations that are USDT_SITE_NOPS: kernel_try_nops() */
};

/* Whether this kernel has them and lets them be bound to a process (6.10: 46ba0e49b642). */
bool uprobe_multi_supported(void);
/* A program that does nothing, at an instruction of this process's own program; a descriptor. */
int uprobe_multi_try(uint64_t offset);
/* To be called for each program before it is loaded. */
void uprobe_multi_prepare(struct bpf_program *program);

/* A library of a process. */
struct uprobe_target {
	pid_t pid;
	int file; /* its descriptor; lent until uprobe_multi_close() */
	struct parser *parser;
	unsigned deadline_ms; /* for reading it */
	bool functions;       /* are wanted, too: usdt_flat_functions() */
	/* What is to be run by all probes, loaded, and its map of struct wire_probe_spec; lent. */
	struct bpf_program *program;
	int specs;
};

/* A probe, and what its locations' entries have as their probe: enum wire_probe. */
struct uprobe_name {
	const char *provider, *name;
	uint32_t probe;
};

/* Has the library's probes read. Errors as parser_usdt(). *u is always set, and may be closed. */
int uprobe_multi_open(struct uprobe_multi *u, const struct uprobe_target *t);
/*
 * A descriptor, to be closed by the caller, or a negative errno. -ENOENT: there is no such probe.
 * Takes all its locations. gated: its semaphore is not raised, a gate does that.
 */
int uprobe_multi_attach(struct uprobe_multi *u, const struct uprobe_name *name, bool gated);
/*
 * Raises the semaphore of a probe while the descriptor is open (essay in uprobe_multi.c), by a
 * breakpoint after another one's nop, of the same provider; program must do nothing. -ENOTSUP: it
 * cannot stand there.
 */
int uprobe_multi_gate(struct uprobe_multi *u, struct bpf_program *program, const char *provider,
		      const char *probe, const char *behind);
/* The semaphore of this probe of the process's file is raised while the descriptor is open: by a
 * program that does nothing, at the first location of the probe. A descriptor, or a negative
 * errno. */
int uprobe_multi_raise(pid_t pid, int file, const struct usdt_probe *probe);
/*
 * For kernels without such links: a perf event for each location, with the same entries. *ret is
 * detached and freed by uprobe_links_free(). Errors as uprobe_multi_attach().
 */
int uprobe_single_attach(struct uprobe_multi *u, const struct uprobe_name *name,
			 struct uprobe_links **ret);
void uprobe_links_free(struct uprobe_links *l); /* accepts NULL */
/* What was attached stays. */
void uprobe_multi_close(struct uprobe_multi *u);
