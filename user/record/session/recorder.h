/* record/session/recorder.h: one recording of one JVM, from attach to the closed log. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <jansson.h>

#include "jvm/flag/flag_hold.h"
#include "jvm/layout/versions/support.h"
#include "jvm/target/redact.h"
#include "log/write/writer.h"
#include "record/flight/dumps.h"
#include "record/kernel/probe_table.h"
#include "record/kernel/thread_clocks.h"
#include "record/session/recorder_stats.h"

struct recorder;
struct relay;

struct recorder_options {
	pid_t pid;
	struct flag_guard *guard; /* lent; NULL: the flag cannot be turned on */
	struct log_writer_options log;
	struct dumps_options flight; /* keep_ns 0: no flight recorder; its path is the log's */
	bool flight_after;           /* flight.after_ns was given */
	/* Called for each file of the flight recorder, also by recorder_close; d is lent. */
	void (*dumped)(void *ctx, const struct dump *d);
	void *dumped_ctx;
	/* Is called by recorder_open() when all is attached, before anything is written, to the
	 * target or to the log: until then this process may be ended without recorder_close(). */
	void (*before_write)(void *ctx);
	void *before_write_ctx;
	bool no_write;     /* never write to the target */
	bool no_stacks;    /* walk no stacks */
	bool virtual_parks; /* of virtual threads that unmount, too; not with hooks */
	enum probe_set probes; /* PROBES_AUTO: recorder_open() chooses */
	uint64_t single_ns; /* by switches: shorter waits that are no contentions are summed up */
	bool starting; /* libjvm.so has just been mapped: what is not there yet may come within
			  seconds */
	uint64_t buffer_bytes;     /* of the ring buffer */
	uint64_t window_ns;        /* of the thread and CPU samples */
	struct sample_request sample;
	uint32_t fragment_bytes; /* of the stack that each sample comes with; 0: none */
	int kernel_symbols; /* of native_symbols_kernel(); becomes the recorder's */
	bool objects, objects_exact; /* of a patched JVM; exact: its threads wait for room */
	uint16_t pointers_every;     /* after each nth collection; 0: none, unless */
	bool pointers_full, pointers_triggered; /* ... after those of the whole heap; asked for */
	uint64_t off_cpu_ns;       /* off-CPU intervals of at least this have an event each */
	uint32_t max_threads; /* that the maps in the kernel have room for; 0: as many as can be */
	struct relay *relay;  /* lent; of many recorders at a time, with a slot of this one's */
	unsigned relay_slot;
	uint64_t max_memory;       /* of this process */
	uint64_t max_memory_other; /* bytes of it that options ask for: a flight recorder's */
	enum command_line command_line; /* what the log keeps of the JVM's */
	json_t *command; /* for the header: an array of strings, NULL for none; lent */
};

static inline bool recorder_wants_pointers(const struct recorder_options *o)
{
	return o->pointers_every || o->pointers_full || o->pointers_triggered;
}

enum recorder_end { /* the order of end_reason in events.json */
		    RECORDER_DONE,
		    RECORDER_INTERRUPTED,
		    RECORDER_JVM_EXITED,
		    RECORDER_JVM_KILLED,
		    RECORDER_FAILED,
};

#define RECORDER_WHY_MAX 1024

/* Attaches and creates the log. On failure nothing is left behind, and why says in the user's terms
 * what it was. */
int recorder_open(const struct recorder_options *o, struct recorder **ret,
		  char why[RECORDER_WHY_MAX]);

/*
 * Records for about timeout_ms, or until a descriptor of the caller's (fd, -1: none) is readable.
 * 0: go on; 1: fd is readable; 2: the JVM has ended (why is filled if its process goes on as
 * another program); negative errno: the log cannot be written (why is filled).
 */
int recorder_run(struct recorder *r, int timeout_ms, int fd, char why[RECORDER_WHY_MAX]);

/* Of a flight recorder: writes what is in memory, as soon as no other file is being written. 0,
 * or as recorder_run. */
int recorder_dump(struct recorder *r, const char *reason, char why[RECORDER_WHY_MAX]);

void recorder_stats(const struct recorder *r, struct recorder_stats *ret);
bool recorder_monitor_missing(const struct recorder *r);
/* No clock can be had by which owners that keep their CPU are looked at. */
bool recorder_owners_unseen(const struct recorder *r);
/* What the recording lacks because of the kernel, for users; NULL: nothing. */
const char *recorder_kernel_limits(const struct recorder *r);
/* MONITOR_FLAG_LEFT. */
bool recorder_flag_left(const struct recorder *r);
/* The probes that spoor wants and this JVM lacks, with commas between; "": none. Returns buf. */
const char *recorder_probes_missing(const struct recorder *r, char *buf, size_t size);
/* Why they are; lent until recorder_close. */
const char *recorder_monitor_why(const struct recorder *r);
/* Why the hooks of a patched JVM could not be used; lent until recorder_close. NULL: they are, or
 * it has none, or nobody wants them. */
const char *recorder_hooks_unused(const struct recorder *r);
/* Why parks of virtual threads that unmount are not recorded though they were asked for; NULL: they
 * are, or were not. */
const char *recorder_parks_missing(const struct recorder *r);
/* What the log lacks because of the JVM's version, of what is wanted. */
void recorder_support(const struct recorder *r, struct jvm_support *ret);

/*
 * Detaches, puts the flag back, drains, writes the last samples and the end, closes. 0 or the first
 * error of all that (why is filled); the recorder is freed in any case. ret_stats may be NULL.
 */
int recorder_close(struct recorder *r, enum recorder_end end, struct recorder_stats *ret_stats,
		   char why[RECORDER_WHY_MAX]);
