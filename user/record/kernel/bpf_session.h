/* record/kernel/bpf_session.h: the BPF side of a recording: loaded, attached, sampled, detached. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <jansson.h>

#include "record/kernel/fragment_ring.h"
#include "record/kernel/probe_table.h"
#include "record/kernel/thread_clocks.h"

struct jvm;
struct relay;
struct bpf_session;

struct bpf_session_options {
	uint64_t buffer_bytes; /* of the ring buffer; rounded up to a power of two of pages */
	uint64_t off_cpu_ns;   /* off-CPU intervals of at least this have an event each */
	enum probe_set probes; /* which probes report locks and waits */
	uint64_t single_ns; /* by switches: shorter waits that are no contentions are summed up */
	uint32_t max_threads; /* of map_sizes.h */
	uint64_t sample_ns, sample_tick; /* 0: not sampled; of kernel_symbols_tick() */
	enum sample_event sample_event;	 /* not SAMPLE_AUTO, if sampled */
	bool sample_jitter, virtual_parks; /* the latter: of those that unmount; not with hooks */
	struct fragment_ring_options fragments; /* with samples */
	/* Lent, with a slot that is the session's own: its programs call those of the session in
	 * place of the scheduler. NULL: they are attached. */
	struct relay *relay;
	unsigned relay_slot;
	/* Gets each record, from bpf_session_consume(), which it ends with a negative errno. */
	int (*record)(void *ctx, void *data, size_t size);
	void *ctx;
};

/* One step of an attach that did not work; names what it was and why, in the user's terms. */
#define PROGRAMS_WHY_MAX 512

/* Loads into the kernel; touches no process. why is filled on failure. */
int bpf_session_load(struct jvm *j, const struct bpf_session_options *o, struct bpf_session **ret,
		     char why[PROGRAMS_WHY_MAX]);

/*
 * Attaches: the scheduler's programs, the threads that exist, then the probes (ends before begins,
 * so that every begin that is seen has its end; switches last). A probe that
 * this JVM does not have is no error.
 */
int bpf_session_attach(struct bpf_session *p, char why[PROGRAMS_WHY_MAX]);
/* Detaches the probes, switches first, then the scheduler, and freezes the counters for the last
 * sample. */
void bpf_session_detach(struct bpf_session *p);
bool bpf_session_detached(const struct bpf_session *p); /* nothing is attached */
void bpf_session_free(struct bpf_session *p); /* detaches, too; accepts NULL */

/* Names of the probes that were attached ("hotspot:gc__begin"), and of those not found; new
 * references. */
json_t *bpf_session_attached(const struct bpf_session *p);
json_t *bpf_session_missing(const struct bpf_session *p);
/* Whether all of a kind were found. */
bool bpf_session_has_all(const struct bpf_session *p, enum probe_of of);
/* By which clocks stolen time (steal_clock.h) and throttled time are known ("none": the latter is
 * in the runnable time), and what is missing because of the kernel (NULL: nothing). All static. */
const char *bpf_session_steal_clock(const struct bpf_session *p);
const char *bpf_session_throttle_clock(const struct bpf_session *p);
const char *bpf_session_limits(const struct bpf_session *p);

int bpf_session_fd(const struct bpf_session *p); /* polls readable when much is waiting */
/* Hands all waiting records, and those that come meanwhile, to the callback; their number, or its
 * error: then what it has been given is taken out of the ring, and no more. */
int bpf_session_consume(struct bpf_session *p);
struct fragment_ring *bpf_session_fragments(const struct bpf_session *p); /* NULL: none */

/* Attaches to libraries with marks (mark.h) that have been mapped since the last call, of which
 * report is called with it. How many are attached now, or negative errno. */
int bpf_session_look_for_marks(struct bpf_session *p,
			       void (*report)(void *ctx, const char *path, const char *why),
			       void *ctx);

/* Gives BPF what has become known of the target. */
void bpf_session_set_layout(struct bpf_session *p);
int bpf_session_set_java_threads(struct bpf_session *p);

/* Does what the probes would that this JVM does not have: looks for new Java threads, and has BPF
 * look up anew what an unloading may have changed. Once in each window. */
void bpf_session_refresh(struct bpf_session *p);

/* Gives BPF what the threads wait for that are blocked now and were when they were first seen, and
 * of which waits a probe will show the end; monitors: of those for monitors, too. */
int bpf_session_set_first_reasons(struct bpf_session *p, bool monitors);

/* What the walker of stacks needs to know; until it is called no stack is walked. */
void bpf_session_set_code(struct bpf_session *p);
/* Counts class unloading; lent until bpf_session_free. */
const volatile uint32_t *bpf_session_class_epoch(const struct bpf_session *p);
struct wire_native_rule;
/* Answers a struct wire_native record: key is its pc. */
void bpf_session_set_native_rule(struct bpf_session *p, uint64_t key,
				 const struct wire_native_rule *rule);
/* Walks so far, by how they ended: ret[WIRE_WALK_COUNT]. */
int bpf_session_walks(struct bpf_session *p, uint64_t *ret);

/* Whether running threads are looked at for monitors that they got silently; worth it only where
 * there is contention. By what and how often, and what is returned: see sampler.h. */
int bpf_session_sample_owners(struct bpf_session *p, bool on);
const char *bpf_session_owner_clock(const struct bpf_session *p);
uint64_t bpf_session_owner_period_ns(const struct bpf_session *p);
/* By switches: has a thread blocked on a lock that somebody owns, since the last call? */
bool bpf_session_contended(struct bpf_session *p);
/* By switches: puts waits that are not over into the ring, and the sums. */
void bpf_session_flush_waits(struct bpf_session *p);

/* Puts a sample of each thread into the ring. */
int bpf_session_sample_threads(struct bpf_session *p);
struct wire_cpu;
/* Reads the steal clocks; cpus[count], count <= WIRE_CPUS_MAX. */
int bpf_session_sample_cpus(struct bpf_session *p, struct wire_cpu *cpus, unsigned count);

/* Records lost so far: [kind * WIRE_LOSS_STAGE_COUNT + stage]. */
int bpf_session_lost(struct bpf_session *p, uint64_t *ret, unsigned count);
