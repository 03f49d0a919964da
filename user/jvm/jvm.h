/* jvm/jvm.h: a HotSpot process seen from outside: found, opened, described; never stopped. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "jvm/layout/jvm_layout.h"
#include "jvm/layout/versions/support.h"
#include "jvm/target/redact.h"

struct jvm;
struct parser;

/*
 * Opens the JVM in process pid (as seen from here). -ESRCH: no such process. -ENOEXEC: no libjvm.so
 * in it. -EACCES, -EPERM: it may not be read. -ENOTSUP: its libjvm.so exports no vmStructs, or a
 * layout that spoor does not know. ret_why, if not NULL, is set to a sentence in the user's terms
 * (what, where, what to do next) on failure, or to NULL; the caller frees it with free().
 */
int jvm_open(pid_t pid, struct jvm **ret, char **ret_why);
void jvm_close(struct jvm *j);

/* Whether pid has a libjvm.so mapped now: 1, 0, or negative errno. Cheap; used to wait for a start.
 */
int jvm_present(pid_t pid);

pid_t jvm_pid(const struct jvm *j);
/* The name that the target gives its libjvm.so, in its mount namespace: to be shown, and foreign
 * text. Nothing is to be opened by it. */
const char *jvm_libjvm_name(const struct jvm *j);
/* A descriptor of it for reading, owned by j. */
int jvm_libjvm_file(const struct jvm *j);
/* What spoor_hooks (jvm-hooks/) is in it; 0: a stock JVM. */
int jvm_libjvm_hooks(const struct jvm *j);
/* Where the target's files are parsed; owned by j. */
struct parser *jvm_parser(const struct jvm *j);
/* A descriptor for /proc/PID's process that polls readable when it ends (pidfd); owned by j. */
int jvm_pidfd(const struct jvm *j);
bool jvm_alive(const struct jvm *j);
/* Whether the process is alive but has replaced the JVM by another program (exec). */
bool jvm_replaced(const struct jvm *j);
const struct jvm_layout *jvm_layout(const struct jvm *j);
/* Reads what was not there yet (heap bases, Java classes). 1: something new, 0: nothing, or
 * negative errno. */
int jvm_layout_refresh(struct jvm *j);

/* What spoor can record of it; final once jvm_layout()->ready, but for classes that are loaded
 * later. One that is refused is not opened: the words are those of jvm_open(). */
void jvm_support(const struct jvm *j, struct jvm_support *ret);

/* --- code -------------------------------------------------------------------------------- */

struct code_layout;
struct mem;

/*
 * Where its code is and how its frames look; lent until jvm_close. NULL: not known for this JVM,
 * and *ret_missing (if not NULL) is the static name of what is missing; a NULL there means that the
 * JVM is only starting.
 */
const struct code_layout *jvm_code_layout(const struct jvm *j, const char **ret_missing);
/*
 * Reads what the JVM makes at its start. 1: all is there that will be; 0: not yet; -ENOTSUP: its
 * layout is not known; negative errno. A JVM that compiles nothing has no nmethod_vtable then: 0.
 */
int jvm_code_refresh(struct jvm *j);
/* The target's memory, lent until jvm_close. */
const struct mem *jvm_mem(const struct jvm *j);
/* libjvm.so's executable part in the target, and what to take from an address there to get the one
 * that the file counts. */
void jvm_libjvm_text(const struct jvm *j, uint64_t *ret_low, uint64_t *ret_high,
		     uint64_t *ret_bias);

/* Facts for the log header: the object "jvm" of schemas/event-log.md; a new reference. how: what it
 * has of the command line. NULL: no memory. */
json_t *jvm_describe(const struct jvm *j, enum command_line how);

/* All of len bytes or a negative errno (-EFAULT: not mapped, -ESRCH: the process has ended). */
int jvm_read(const struct jvm *j, uint64_t addr, void *ret, size_t len);

/* --- flags ------------------------------------------------------------------------------- */

/* A bool flag's value. -ENOENT: this JVM has no such flag. */
int jvm_flag_read(const struct jvm *j, const char *name, bool *ret);
/* flag_hold.h turns one on and off. */

/* --- threads ----------------------------------------------------------------------------- */

struct jvm_thread {
	uint64_t java_thread; /* address of the JavaThread */
	uint32_t ns_tid;      /* thread id in the JVM's own pid namespace */
	uint64_t java_id;     /* java.lang.Thread id; 0: not readable yet */
	bool daemon;
	char name[256];      /* UTF-8, cut at a character; "" : not readable yet */
	bool in_native;      /* JavaThread::_thread_state says so */
	uint32_t status;     /* java.lang.Thread.threadStatus, bits of JVMTI; 0: not readable */
	uint64_t stack_base; /* highest address */
	uint64_t stack_size;
};

/* The Java threads of now; *ret is freed with free(). A thread that changes meanwhile may be
 * missing. */
int jvm_threads(const struct jvm *j, struct jvm_thread **ret, size_t *ret_count);
