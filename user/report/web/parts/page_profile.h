/* report/web/parts/page_profile.h: the page's part about CPU samples. */
#pragma once

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "analyze/profile/profile.h"
#include "analyze/profile/profile_course.h"

struct log_names;
struct page_axis;
struct range;
struct section_input;

/* More rows or entries than this make slots longer. */
#define PAGE_PROFILE_ROWS_MAX 200000

struct page_profile {
	struct profile running, all; /* the latter of all states */
	struct profile_course course;
	uint64_t period_ns; /* 0: there are no samples, and all else is empty */
};

/* The struct stays where it is until it is freed. */
void page_profile_begin(struct page_profile *p, const struct log_names *names, const json_t *header,
			const struct range *range);
/* 0 or -ENOMEM, as all. */
int page_profile_event(struct page_profile *p, const struct event *e);
void page_profile_hole(struct page_profile *p);
int page_profile_finish(struct page_profile *p, const struct wall *w);
void page_profile_free(struct page_profile *p);
/* ,"profile":{...}, or null if there are no samples. */
int page_profile_write(const struct page_profile *p, const struct section_input *in,
		       const struct page_axis *axis, FILE *out);
