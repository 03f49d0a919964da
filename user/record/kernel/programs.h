/* record/kernel/programs.h: the BPF side of a recording: loaded, attached, sampled, detached. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <jansson.h>

struct jvm;
struct programs;

struct programs_options {
	uint64_t buffer_bytes; /* of the ring buffer; rounded up to a power of two of pages */
	uint64_t off_cpu_ns;   /* threads off the CPUs for less are not told one by one */
	bool patched;          /* use the hooks of a patched JVM (hooks.h says if it has them) */
	/* Gets each record, from programs_consume(), which it ends with a negative errno. */
	int (*record)(void *ctx, void *data, size_t size);
	void *ctx;
};

/* One step of an attach that did not work; names what it was and why, in the user's terms. */
#define PROGRAMS_WHY_MAX 512

/* Loads into the kernel; touches no process. why is filled on failure. */
int programs_load(struct jvm *j, const struct programs_options *o, struct programs **ret,
		  char why[PROGRAMS_WHY_MAX]);

/*
 * Attaches: the scheduler's programs, the threads that exist, then the probes (ends before begins,
 * so that every begin that is seen has its end; switches last). A probe that
 * this JVM does not have is no error.
 */
int programs_attach(struct programs *p, char why[PROGRAMS_WHY_MAX]);
/* Detaches the probes, switches first, then the scheduler, and freezes the counters for the last
 * sample. */
void programs_detach(struct programs *p);
/* There is nothing that is attached. */
bool programs_detached(const struct programs *p);
/* Detaches what is attached and frees; accepts NULL. */
void programs_free(struct programs *p);

/* Names of the probes that were attached ("hotspot:gc__begin"), and of those not found; new
 * references. */
json_t *programs_attached(const struct programs *p);
json_t *programs_missing(const struct programs *p);
/* By which clock stolen time is known, see steal_clock.h; static. */
const char *programs_steal_clock(const struct programs *p);
/* By which clock of the kernel throttled time is told; "none": it is not, and is in the runnable
 * time. Static. */
const char *programs_throttle_clock(const struct programs *p);

/* Polls readable when much is waiting in the ring. */
int programs_fd(const struct programs *p);
/* Hands all waiting records to the callback, also those that come meanwhile; their number, or the
 * callback's error: then what it has been given is taken out of the ring, and no more. */
int programs_consume(struct programs *p);

/*
 * Attaches to libraries with marks (mark.h) that have been mapped since the last call, of which
 * tell is told. How many are attached now, or negative errno.
 */
int programs_look_for_marks(struct programs *p,
			    void (*tell)(void *ctx, const char *path, const char *why), void *ctx);

/* Tells BPF what has become known of the target. */
void programs_set_layout(struct programs *p);
int programs_set_java_threads(struct programs *p);

/* Tells BPF what the threads wait for that are blocked now and were when they were first seen;
 * monitors: probes will tell of the ends of locks and waits. */
int programs_set_first_reasons(struct programs *p, bool monitors);

/* What the walker of stacks needs to know; until it is called no stack is walked. */
void programs_set_code(struct programs *p);
/* Counts class unloading; lent until programs_free. */
const volatile uint32_t *programs_class_epoch(const struct programs *p);
struct wire_native_rule;
/* Answers a struct wire_native record: key is its pc. */
void programs_set_native_rule(struct programs *p, uint64_t key,
			      const struct wire_native_rule *rule);
/* Walks so far, by how they ended: ret[WIRE_WALK_COUNT]. */
int programs_walks(struct programs *p, uint64_t *ret);

/* Whether running threads are looked at for monitors that they got silently; worth it only where
 * there is contention. */
void programs_sample_owners(struct programs *p, bool on);

/* How often they are; 0: this machine does not allow it. */
uint64_t programs_owner_period_ns(const struct programs *p);

/* Puts a sample of each thread into the ring. */
int programs_sample_threads(struct programs *p);

struct wire_cpu;
/* Reads the steal clocks; cpus[count], count <= WIRE_CPUS_MAX. */
int programs_sample_cpus(struct programs *p, struct wire_cpu *cpus, unsigned count);

/* Records lost so far: [kind * WIRE_PLACE_COUNT + place]. */
int programs_lost(struct programs *p, uint64_t *ret, unsigned count);
