/* record/session/recorder_internal.h: what the files of the recorder share. */
#pragma once

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jvm/jvm.h"
#include "record/decode/losses.h"
#include "record/identity/memory.h"
#include "record/kernel/hooks.h"
#include "record/kernel/object_switch.h"
#include "record/objects/object_ring.h"
#include "record/session/monitor_flag.h"
#include "record/session/objects_resync.h"
#include "record/session/recorder.h"

struct recorder {
	struct jvm *j;
	struct bpf_session *p;
	struct monitor_flag flag;
	struct log_writer *w;
	struct dumps *dumps; /* NULL: no flight recorder */
	void (*dumped)(void *ctx, const struct dump *d);
	void *dumped_ctx;
	struct ids *ids;
	struct chains *chains;
	struct translate *t;
	struct code *code;              /* NULL: no stacks are walked (yet) */
	struct native *native;          /* NULL: not needed yet */
	struct fragments *fragments;    /* NULL: not asked for */
	struct native_symbols *symbols; /* NULL: not asked for */
	bool without_stacks;
	const char *no_stacks; /* why call chains are missing; NULL: they are not */
	struct memory memory;
	struct losses losses;
	uint64_t window_ns, start_ns, next_window, next_refresh, next_flush, next_waits;
	uint64_t windows, starting_until;
	uint64_t next_marks, marks_code_kb, marks_pages; /* recorder_marks.c */
	int statm; /* 1 + a descriptor of the JVM's /proc/PID/statm; 0: none (yet) */
	uint64_t records;
	uint64_t drain_until; /* of the draining that goes on; UINT64_MAX: to the ring's end */
	unsigned names_every;
	bool starting, contended;    /* the latter: in this window */
	bool replaced, loading;      /* the JVM, by another program; the sampler of owners */
	bool names_missed;           /* has been said */
	bool noted[JVM_LIMIT_COUNT]; /* of what the JVM lacks */
	struct wire_cpu *cpus;
	struct procstat_cpu *stat;
	unsigned cpu_count;
	struct hooks hooks;
	enum probe_set probes;
	char hooks_why[200]; /* why hooks that are there are not used; "": they are */
	const char *no_parks; /* why those of virtual threads that unmount are missing, which were
			       * asked for; NULL: they are not */
	struct flag_hold_end flag_end;
	struct object_switch objects_switch;
	struct object_ring objects_ring;
	struct object_drain *objects; /* NULL: no object events */
	bool objects_exact;
	uint32_t objects_pointers; /* after which collections, as the ring's head has it */
	struct objects_resync resync;
};

/* Writes why, and returns err. */
int recorder_fail(char why[RECORDER_WHY_MAX], int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* recorder_ring.c: a record of the ring; ctx is the recorder. 0, or -EAGAIN: it is time to stop. A
 * stack fragment of the other ring, likewise. */
int recorder_on_record(void *ctx, void *data, size_t size);
int recorder_on_fragment(void *ctx, void *data, size_t size);
int recorder_fragments_new(struct recorder *r, uint32_t bytes, bool callers); /* or -ENOMEM */
/* Until the ring is empty or DRAIN_MS are over; it gets no more records, and is drained to its end,
 * when nothing is attached. */
void recorder_drain(struct recorder *r);
/* While there is contention. */
void recorder_sample_owners(struct recorder *r);
/* Lets BPF walk stacks as soon as everything that it takes is known. */
void recorder_refresh_code(struct recorder *r);
/* The same, and what else a JVM knows only some time after its start. */
void recorder_refresh(struct recorder *r);

/* recorder_open.c: contentions of monitors are recorded: the JVM reports them. */
bool recorder_has_monitors(const struct recorder *r);
/* Waits of virtual threads that are on no carrier are seen, and their ends. */
bool recorder_sees_unmounted(const struct recorder *r);
/* Frees it, however far it came, and puts the flag back. NULL is ignored. */
void recorder_discard(struct recorder *r);

/* recorder_objects.c: the ring of object events. Without --objects all do nothing. */
int recorder_objects_open(struct recorder *r, const struct recorder_options *o,
			  char why[RECORDER_WHY_MAX]);
int recorder_objects_begin(struct recorder *r); /* once there is a log; 0 or -ENOMEM */
/* After that: waits until the JVM has switched them on. */
int recorder_objects_on(struct recorder *r, char why[RECORDER_WHY_MAX]);
bool recorder_objects_pass(struct recorder *r); /* true: there is more */
void recorder_objects_ask(struct recorder *r, uint32_t pointers); /* for them; 0: no more */
/* recorder_resync.c: once in each turn, after a pass: what is to be done if moves were lost. */
void recorder_objects_resync(struct recorder *r, bool more);
int recorder_objects_error(const struct recorder *r);
void recorder_objects_end(struct recorder *r, enum recorder_end end);
void recorder_objects_stats(const struct recorder *r, struct recorder_stats *ret);
void recorder_objects_discard(struct recorder *r);

/* recorder_marks.c: libraries with marks, looked for now; */
void recorder_marks_look(struct recorder *r);
/* if the JVM has loaded a library since. */
void recorder_marks_pass(struct recorder *r, uint64_t now);

/* recorder_window.c: counters of all threads and CPUs at this moment, into the log. */
void recorder_sample(struct recorder *r);
void recorder_write_losses(struct recorder *r);
/* Names of Java threads, which a thread may change at any time. */
void recorder_read_names(struct recorder *r);
/* What has happened is out of this process a second later. */
void recorder_flush(struct recorder *r);
/* What is done once in each window. */
void recorder_window(struct recorder *r);
