/* log/check/check_numbers.h: which numbers a log defines and uses; whether its counters run
 * forwards. */
#pragma once

#include <stdint.h>

#include "log/check/check.h"
#include "log/format/counters.h"

struct bit_set {
	uint64_t *words;
	uint32_t count;
};

/* All zero at first. */
struct check_seen {
	struct bit_set defined[CHECK_NUMBER_COUNT], used[CHECK_NUMBER_COUNT];
	struct delta_table values, times;
};

/* 0 or -ENOMEM. *ret_back: the most by which a counter ran backwards here; 0: none did. */
int check_seen_add(struct check_seen *s, const struct event *e, uint64_t *ret_back);
void check_seen_count(const struct check_seen *s, enum check_number kind,
		      struct check_numbers *ret);
void check_seen_free(struct check_seen *s);
