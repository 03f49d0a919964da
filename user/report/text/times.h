/* report/text/times.h: columns for how often and how long. */
#pragma once

struct pause_times;
struct table;

/* Count, total, mean and longest: four columns of a table, and their cells. */
#define TIMES_COLUMNS                                                                              \
	{"count", false, 6, 0, false}, {"total", false, 8, 0, false},                              \
		{"mean", false, 8, 0, false},                                                      \
	{                                                                                          \
		"max", false, 8, 0, false                                                          \
	}
void times_add_cells(struct table *table, const struct pause_times *times);
