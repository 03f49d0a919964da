/* What is done again and again while it records: samples, losses, names. */
#include "record/session/recorder_internal.h"

#include <errno.h>
#include <stdlib.h>

#include "base/text/units.h"
#include "bpf/wire/wire_cpu.h"
#include "record/decode/chains.h"
#include "record/decode/fragments.h"
#include "record/decode/translate.h"
#include "record/identity/ids.h"
#include "record/kernel/bpf_session.h"
#include "record/session/notes.h"
#include "steal/sources/procstat.h"

#define FLUSH_NS NS_PER_S
#define NAMES_EACH_WINDOW                                                                          \
	512 /* Java threads whose names are read anew in each window; more: in each tenth */

static void write_cpu(struct recorder *r, unsigned cpu, uint64_t now)
{
	const struct wire_cpu *c = &r->cpus[cpu];
	const struct procstat_cpu *s = &r->stat[cpu];
	struct event e = {.id = EVENT_CPU_SAMPLE, .time_ns = now};
	/* What has been stolen since the last switch belongs to whoever is on the CPU. */
	uint64_t open = c->seen && c->sample_ns > c->clock_ns ? c->sample_ns - c->clock_ns : 0;
	uint64_t jvm = c->current == WIRE_CPU_JVM ? open : 0;
	uint64_t idle = c->sample_idle_ns < open - jvm ? c->sample_idle_ns : open - jvm;

	e.v[CPU_SAMPLE_CPU].u = cpu;
	e.v[CPU_SAMPLE_CLOCK_NS].u = c->seen ? c->clock_ns + open - c->base_ns : 0;
	e.v[CPU_SAMPLE_JVM_STOLEN_NS].u = c->jvm_stolen_ns + jvm;
	e.v[CPU_SAMPLE_OTHER_STOLEN_NS].u = c->other_stolen_ns + open - jvm - idle;
	e.v[CPU_SAMPLE_IDLE_STOLEN_NS].u = c->idle_stolen_ns + idle;
	e.v[CPU_SAMPLE_STAT_USER].u = s->user;
	e.v[CPU_SAMPLE_STAT_SYSTEM].u = s->system;
	e.v[CPU_SAMPLE_STAT_IDLE].u = s->idle;
	e.v[CPU_SAMPLE_STAT_STEAL].u = s->steal;
	log_write(r->w, &e);
}

/*
 * What the ring holds by now is written first: where a part of the log ends amid it, a sample ahead
 * of it would say that the part holds all up to then.
 */
void recorder_sample(struct recorder *r)
{
	uint64_t now;
	int err;

	procstat_read(r->stat, r->cpu_count);
	now = clock_mono_ns();
	err = bpf_session_sample_cpus(r->p, r->cpus, r->cpu_count);
	bpf_session_sample_threads(r->p);
	recorder_drain(r);
	for (unsigned i = 0; i < r->cpu_count && !err; i++)
		if (r->cpus[i].seen || r->stat[i].idle)
			write_cpu(r, i, now);
}

/* The first time that it is wanted the kernel may refuse the program: it has taken all others. */
void recorder_sample_owners(struct recorder *r)
{
	int err = bpf_session_sample_owners(r->p, r->contended);

	r->loading = err > 0;
	if (err < 0)
		notes_write(r->w, NOTE_LEVEL_WARNING,
			    "the kernel refuses the program that samples owners of contended "
			    "locks: an owner that keeps its CPU is not seen");
}

void recorder_write_losses(struct recorder *r)
{
	uint64_t lost[LOSSES_KEYS], walks[WALK_RESULT_COUNT];

	if (!bpf_session_lost(r->p, lost, LOSSES_KEYS))
		losses_write_lost(&r->losses, lost, r->t, r->w);
	if (!bpf_session_walks(r->p, walks))
		losses_write_walks(&r->losses, walks, r->chains, r->w);
	if (r->fragments)
		fragments_write(r->fragments, fragment_ring_lost(bpf_session_fragments(r->p)),
				r->w);
	chains_count(r->chains);
	memory_write(&r->memory, r->w, clock_mono_ns());
}

void recorder_read_names(struct recorder *r)
{
	struct jvm_thread *threads;
	size_t count;
	int err = jvm_threads(r->j, &threads, &count);

	if (err == -EAGAIN && jvm_layout(r->j)->ready && !r->names_missed) {
		r->names_missed = true;
		notes_write(r->w, NOTE_LEVEL_WARNING,
			    "the JVM's list of threads does not make sense: names of threads may "
			    "be missing");
	}
	if (err)
		return;
	for (size_t i = 0; i < count; i++)
		ids_thread_known(r->ids, &threads[i], clock_mono_ns());
	free(threads);
	r->names_every = count > NAMES_EACH_WINDOW ? 10 : 1;
}

static void look_for_exec(struct recorder *r)
{
	r->replaced = jvm_replaced(r->j);
	if (r->replaced)
		notes_write(r->w, NOTE_LEVEL_INFO,
			    "the JVM has ended: its process runs another program now (exec)");
}

void recorder_flush(struct recorder *r)
{
	log_writer_flush(r->w);
	r->next_flush = clock_mono_ns() + FLUSH_NS;
}

void recorder_window(struct recorder *r)
{
	recorder_marks_look(r);
	recorder_refresh(r);
	bpf_session_refresh(r->p);
	notes_support(r->w, r->j, r->noted);
	recorder_sample(r);
	translate_flush(r->t, clock_mono_ns() - NS_PER_S);
	recorder_write_losses(r);
	recorder_sample_owners(r);
	r->contended = r->loading = false;
	if (++r->windows % r->names_every == 0)
		recorder_read_names(r);
	look_for_exec(r);
	recorder_flush(r);
}
