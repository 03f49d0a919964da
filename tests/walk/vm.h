/* tests/walk/vm.h: a JVM whose stacks are walked: its memory, read once per walk, and images of it. */
#pragma once

#include "image.h"
#include "jvm/code/code.h"
#include "jvm/jvm.h"

#define LOCATION_MAX 64

struct native;

/* One JVM per process. */
struct vm {
	struct jvm *jvm;
	const struct code_layout *layout;
	struct wire_code code;
	struct native *native;
	struct code *resolver;
	struct image_rule rules[IMAGE_RULES_MAX]; /* that the last walk has asked for */
	uint32_t rule_count;
};

extern struct vm vm;

/* What a walk has come by. */
struct seen {
	uint32_t entries, stubs, deoptimized, natives;
	struct {
		uint64_t pc, sp, fp;
	} first[8];
	uint32_t steps;
};

/* Ends the process. */
void die(const char *what, int err) __attribute__((noreturn));

/* -EAGAIN: it is only starting. ret_why as in jvm.h. */
int vm_open(pid_t pid, char **ret_why);
void vm_close(void);

int vm_read(void *ctx, __u64 addr, void *to, __u32 size);
/* Memory is read anew. */
void vm_forget(void);
bool vm_in_java(uint64_t pc);
/* From the first code heap's begin to the last one's end. */
void vm_code_range(uint64_t *ret_low, uint64_t *ret_high);
/* What kind of code a thread is in: ret has LOCATION_MAX bytes. */
void vm_location_name(const struct hs_start *s, char *ret);
/* As hs_walk_host. */
void vm_walk(struct hs_host_walk *w, const struct hs_start *start, struct seen *ret);
/* The image of the last walk: what it has read, and what a better walker might want to. */
void vm_image_write(FILE *out, const struct hs_host_walk *w, const struct hs_start *s,
		    const char *note);
