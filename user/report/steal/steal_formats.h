/* report/steal/steal_formats.h: the formats of a steal report; for report/steal_*.c. */
#pragma once

#include "report/steal/steal_report.h"

#define STEAL_NAME_MAX 96
#define STEAL_CLOCK_MAX 32

struct steal_format_ops {
	int (*begin)(const struct steal_report *r);
	int (*interval)(const struct steal_report *r, const struct steal_span *s, bool passed);
	int (*end)(const struct steal_report *r, const struct steal_report_total *t);
};

extern const struct steal_format_ops steal_text_ops, steal_json_ops, steal_csv_ops;

/* A thread for people: its name, and numbers where there are any. Returns buf. */
char *steal_use_name(const struct steal_use *u, char buf[STEAL_NAME_MAX]);
/* HH:MM:SS of a CLOCK_MONOTONIC time, with fractions if intervals are that short; "12.500 s" where
 * nobody knows the wall time. Returns buf. */
char *steal_clock(const struct steal_report *r, uint64_t ns, char buf[STEAL_CLOCK_MAX]);
/* The comm with ? for what is no printable text. Returns buf. */
char *steal_comm(const char comm[STEAL_COMM_MAX], char buf[STEAL_COMM_MAX]);
/* "thread", "ended" (threads of a process that did between two samples), "folded" (many of those),
 * "unseen" (a source's row for what it could not distinguish). */
const char *steal_use_kind(const struct steal_use *u);
const char *steal_method_name(enum steal_method m);
/* "wrapped", ...: static, as keys of JSON. */
const char *steal_fault_name(enum steal_fault f);
