/* record/kernel/mark.h: libraries with the probes of jvm-hooks/mark in a process: found,
 * attached to, and followed as they come and go. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct bpf_program;
struct marks;
struct parser;

struct marks_options {
	pid_t pid;
	struct bpf_program *program; /* as in struct uprobe_target, for uprobe_multi if multi */
	bool multi;                  /* this kernel has uprobe_multi links */
	int specs;                   /* as in struct uprobe_target */
	struct parser *parser;       /* reads the files; lent until marks_free() */
	uint32_t first_spec, specs_max; /* from this one on its entries are free; how many it has */
	/* Called for each library once: its marks are recorded from now on (why is NULL), or why
	 * they are not. path: in the process's own mount namespace. May be NULL. */
	void (*report)(void *ctx, const char *path, const char *why);
	void *ctx;
};

/* 0 or -ENOMEM. */
int marks_new(const struct marks_options *o, struct marks **ret);
/*
 * Attaches to what has been mapped since the last look, and forgets what is gone. How many
 * libraries are attached to now, or a negative errno: their list cannot be read. Costs a read of
 * /proc/PID/maps. -EAGAIN: what was not done after 250 ms is left to the next look.
 */
int marks_look(struct marks *m);
/* All begins, then all ends: no span that is seen to begin loses its end to that. Accepts NULL. */
void marks_detach(struct marks *m);
void marks_free(struct marks *m);
