/* record/kernel/sampler.h: looks at what runs on every CPU many times a second, by a BPF program:
 * at the kernel's own ticks, which take no interrupt more, or, where these are rarer than each
 * 4 ms, by a clock of each CPU. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct sampler;
struct spoor_bpf;

/* The kernel's ticks will not do. */
bool sampler_needs_clock(void);

/* To be called before the object is opened, as load_later_new() is. 0 or negative errno. */
int sampler_new(struct sampler **ret);
/* The object is open, and lent until sampler_free(): what is not needed of it is not loaded. */
void sampler_choose(struct sampler *s, struct spoor_bpf *skel);
/* The object has been loaded, or could not be. */
void sampler_prepared(struct sampler *s);
/* Gets ready, not running. looks_on: the BPF side's, lent until sampler_close(). Negative errno of
 * perf_event_open(2): nothing runs. */
int sampler_open(struct sampler *s, int *looks_on);
/* "tick", "cpu-clock" or, if there is none, "none", and its period then 0. */
const char *sampler_name(const struct sampler *s);
uint64_t sampler_period_ns(const struct sampler *s);
/*
 * Cheap; does nothing when it is so already. The first time that it is to run a thread begins to
 * load the program, for the verifier takes its time, 22 ms and more on a busy machine: 1 until that
 * is done, then 0. Negative errno, once, if the kernel refuses it: from then on nothing runs.
 */
int sampler_run(struct sampler *s, bool on);
/* Nothing runs any more. Accepts NULL. */
void sampler_close(struct sampler *s);
/* Accepts NULL. */
void sampler_free(struct sampler *s);
