/* record/doctor/doctor_check.h: whether this kernel, and a JVM, can be recorded, and what is
 * missing; found out by trying. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum check_state {
	CHECK_OK,
	CHECK_WARNING, /* a recording works, but lacks something */
	CHECK_MISSING, /* no recording works */
	CHECK_STATE_COUNT,
};

#define CHECK_TEXT_MAX 768

struct check {
	const char *name; /* static: "btf" */
	enum check_state state;
	char found[CHECK_TEXT_MAX];  /* what there is, and why it matters */
	char advice[CHECK_TEXT_MAX]; /* what to do; "": nothing */
};

struct jvm;

struct checks {
	struct check *v;
	uint32_t count, capacity;
};

/* Each adds its checks; -ENOMEM. */
int check_kernel(struct checks *c);
int check_jvm(struct checks *c, pid_t pid);
/* Of check_jvm: the flag, and who would put it back. */
int check_flag(struct checks *c, const struct jvm *j);
int check_flag_useless(struct checks *c);
int check_guardian(struct checks *c, pid_t pid);
void checks_free(struct checks *c);

/* How many are in this state. */
size_t checks_count(const struct checks *c, enum check_state state);

/* Adds one; advice may be NULL. -ENOMEM. */
int check_add(struct checks *c, const char *name, enum check_state state, const char *advice,
	      const char *found, ...) __attribute__((format(printf, 5, 6)));
