/* report/web/parts/page_states.h: the page's parts about threads' states over time, and about what
 * the hypervisor took from the virtual CPUs meanwhile. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/tables/keymap.h"

struct analysis;
struct event;
struct page_axis;
struct range;
struct section_input;

/* So many windows at most, as of spoor time; so many rows of either kind. */
#define PAGE_STATES_WINDOWS 60
#define PAGE_STATES_ROWS 200
/* Beyond so many, what CPUs lost is known of the whole log only. */
#define PAGE_CPU_STEPS_MAX 50000

/* What a virtual CPU lost between two of its samples. */
struct page_cpu_step {
	uint64_t time_ns; /* of the later one */
	uint64_t stolen_ns, jvm_ns, other_ns, idle_ns, ticks;
};

/* All zero at first. */
struct page_states {
	struct keymap cpus;
	struct page_cpu_last *last; /* cpus.count of them */
	struct page_cpu_step *steps;
	uint32_t last_capacity, count, capacity;
	bool full;
};

/* Before the first event: the analysis is to have windows. */
void page_states_begin(struct analysis *a, const json_t *header, const struct range *range);
/* 0 or -ENOMEM, as all. */
int page_states_event(struct page_states *p, const struct event *e);
void page_states_hole(struct page_states *p);
void page_states_free(struct page_states *p);
/* ,"states":{...}, or null if the log has no states. */
int page_states_write(const struct page_states *p, const struct section_input *in,
		      const struct page_axis *axis, FILE *out);
