/* record/kernel/sampler.h: runs a BPF program on every CPU at a fixed period of its clock. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct load_later;
struct sampler;

/* Not running, and without its program, which is lent until sampler_close(). Negative errno of
 * perf_event_open(2). */
int sampler_open(struct load_later *program, uint64_t period_ns, struct sampler **ret);
/* Cheap; does nothing when it is so already, but for the first time that it is to run: that loads
 * the program. Negative errno, once, if the kernel refuses it: from then on nothing runs.
 * Accepts NULL. */
int sampler_run(struct sampler *s, bool on);
/* Accepts NULL. */
void sampler_close(struct sampler *s);
