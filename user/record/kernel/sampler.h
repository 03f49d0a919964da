/* record/kernel/sampler.h: runs a BPF program on every CPU at a fixed period of its clock. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct bpf_program;
struct sampler;

/* Attached but not running. Negative errno of perf_event_open(2). */
int sampler_open(struct bpf_program *program, uint64_t period_ns, struct sampler **ret);
/* Cheap; does nothing when it is so already. Accepts NULL. */
void sampler_run(struct sampler *s, bool on);
/* Accepts NULL. */
void sampler_close(struct sampler *s);
