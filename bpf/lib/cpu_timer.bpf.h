/* bpf/lib/cpu_timer.bpf.h: a clock of each CPU that counts what threads of the target run there. */
#pragma once

#include "bpf/lib/clock.bpf.h"
#include "bpf/lib/spoor.bpf.h"

/*
 * The next sample is due when the target has had so much time of the CPU. A timer is started for
 * what is left of that when a thread of the target comes to the CPU and none is running; when it
 * fires while others have the CPU, or too soon as they had it in between, nothing is lost: the rest
 * is waited for from the target's next turn on. So a switch costs some ns, and a machine wakes once
 * at most after the target has gone to sleep.
 *
 * Why the rest is kept, and not drawn anew. At most one sample would be found in a turn that is
 * shorter than the period, and a sample late in its turn would have more time since the one before,
 * which is its weight: of a thread with turns of 400 us the first third had a tenth too little.
 *
 * From when a timer is due to when its function runs it takes some us, 10 to 20 on virtual
 * machines. It is set so much earlier.
 *
 * A switch to a thread may not be seen (thread.bpf.h, switch_in_late()). So timers go on for some
 * time after a thread has left its CPU that could have gone on, also those of other CPUs, where it
 * may be taken to; and the thread is found that they interrupt.
 */
struct bpf_timer {
	__u64 opaque[2]; /* include/uapi/linux/bpf.h, Linux 5.15 */
} __attribute__((aligned(8)));

struct cpu_timer {
	struct bpf_timer timer;
	__u64 ran_ns, since; /* by the target; it has the CPU since then, 0: it has not */
	__u64 due_ns;        /* of ran_ns: the next sample */
	__u64 set_ns;        /* when the timer is to fire */
	__u32 late_ns;       /* how much later it does, smoothed */
	__u32 runs;          /* TIMER_FOR_... */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* CPUs, where it is wanted: set before load */
	__type(key, __u32);
	__type(value, struct cpu_timer);
} cpu_timers __weak SEC(".maps");

/* From one sample to the next. 0: there are no timers. */
const volatile __u64 timer_period_ns __weak = 0;
const volatile __u32 timer_jitter __weak = 0;
__u32 timers_on __weak = 0; /* user space has made them */
__u64 preempted_at __weak = 0; /* when a thread had to leave a CPU last */

#define TIMER_CPU_PIN 2 /* BPF_F_TIMER_CPU_PIN, Linux 6.7; before, it stays as a CPU is not idle */
#define TIMER_LATE_MAX 100000 /* that is another matter: a theft, or other interrupts */
#define TIMER_SOON 2000
#define TIMER_FOR_SAMPLE 1 /* that may be due when it fires */
#define TIMER_FOR_LOOK 2   /* at who has the CPU */
#define TIMER_GOES_ON 100000000 /* ns that a timer looks on after a thread was preempted */
#define TIMER_ABOUT 10000000    /* ns by which preempted_at may be old, as many CPUs write it */

/* A part of the period, by chance. */
static __always_inline __u64 timer_part(void)
{
	return timer_period_ns * (bpf_get_prandom_u32() >> 16) >> 16;
}

/*
 * Of a program that repeats itself, samples with nearly the same time from one to the next are
 * drawn from one place of it, which moves slowly. With half of the clock's period up to one and a
 * half, the place of each depends next to nothing on that of the one before, if the program's
 * period is no longer than the clock's.
 */
static __always_inline __u64 timer_next(void)
{
	return timer_jitter ? timer_period_ns / 2 + timer_part() : timer_period_ns;
}

/* ran_ns, by now. */
static __always_inline __u64 timer_ran(const struct cpu_timer *t, __u64 now)
{
	return t->ran_ns + (t->since ? since(now, t->since) : 0);
}

static __always_inline void timer_set(struct cpu_timer *t, __u64 now, __u64 ns, __u32 what_for)
{
	t->set_ns = now + ns;
	t->runs = what_for;
	if (bpf_timer_start(&t->timer, ns, TIMER_CPU_PIN) && bpf_timer_start(&t->timer, ns, 0))
		t->runs = 0;
}

/* For what is left. */
static __always_inline void timer_start(struct cpu_timer *t, __u64 now)
{
	timer_set(t, now, since(t->due_ns, timer_ran(t, now) + t->late_ns), TIMER_FOR_SAMPLE);
}

/* from, to: whether the thread that leaves the CPU is one of the target's, and the one that
 * comes; runnable: the former could have gone on. */
static __always_inline void timer_switch(__u32 cpu, __u64 now, int from, int runnable, int to)
{
	struct cpu_timer *t;

	if (!timer_period_ns || !timers_on)
		return;
	t = bpf_map_lookup_elem(&cpu_timers, &cpu);
	if (!t)
		return;
	if (from && !to) {
		t->ran_ns = timer_ran(t, now);
		t->since = 0;
		if (runnable && since(now, preempted_at) > TIMER_ABOUT)
			preempted_at = now;
	}
	if (!to)
		return;
	if (!t->since)
		t->since = now;
	if (t->runs != TIMER_FOR_SAMPLE)
		timer_start(t, now);
}

/* It has fired while no thread of the target is known to have the CPU. idle: nobody has it. */
static __always_inline void timer_rests(struct cpu_timer *t, __u64 now, int idle)
{
	t->runs = 0;
	if (!idle && since(now, preempted_at) < TIMER_GOES_ON)
		timer_set(t, now, timer_period_ns, TIMER_FOR_LOOK);
}

/* It has fired on the CPU of a thread of the target. Whether a sample is due. */
static __always_inline int timer_due(struct cpu_timer *t, __u64 now)
{
	__u64 ran = timer_ran(t, now), late = since(now, t->set_ns);
	int due;

	if (t->since < t->set_ns && late < TIMER_LATE_MAX)
		t->late_ns = (t->late_ns * 7 + (__u32)late) / 8;
	due = ran + t->late_ns + TIMER_SOON >= t->due_ns;
	if (due) {
		t->due_ns += timer_next();
		if (t->due_ns < ran)
			t->due_ns = ran + timer_next();
	}
	timer_start(t, now);
	return due;
}

/* A sample has been taken, from begin to end. A walk may take longer than the period: then the next
 * sample would be due at once, and the thread would not get on. It has half a period first. */
static __always_inline void timer_sampled(struct cpu_timer *t, __u64 begin, __u64 end)
{
	__u64 least = timer_ran(t, end) + timer_period_ns / 2;

	if (since(end, begin) <= timer_period_ns / 2 || t->due_ns >= least)
		return;
	t->due_ns = least;
	timer_start(t, end);
}
