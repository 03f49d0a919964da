/* analyze/profile/gaps.h: a sample stands for the time until its thread's next (Hofer 3.2.4). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct event;
struct profile;
struct profile_thread;

/* A thread's last sample, of a clock or of where the thread left its CPU. */
struct gap {
	bool open;
	uint32_t cell; /* index in the profile's cells */
	uint64_t since_ns;
	uint64_t mode; /* enum sample_mode; SAMPLE_MODE_COUNT: it did not run */
	bool over;     /* the thread has ended: a sample in its last microseconds is later */
};

/* The thread's next sample. */
void gaps_sample(struct profile *p, struct profile_thread *t, struct gap next);
/* Chains with which threads left their CPUs. Events in time order. 0 or -ENOMEM. */
int gaps_add(struct profile *p, const struct event *e);
/* The last samples of threads that have not ended stand for the time up to the last event. */
void gaps_finish(struct profile *p);
