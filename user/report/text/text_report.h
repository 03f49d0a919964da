/* report/text/text_report.h: the sections of the text report; each prints nothing when it has no
 * data. */
#pragma once

#include "report/model/label.h"
#include "report/model/report.h"
#include "report/model/sections/sections.h"
#include "report/text/findings_text.h"

struct analysis_facts;
struct finding;

struct text {
	const struct report_input *in;
	struct section_input section;
	struct labels *labels;
	const struct stacks *stacks;
	const struct finding *finding; /* NULL: the log has no call chains */
	FILE *out;
	uint64_t duration_ns; /* of the recording */
	unsigned sections;    /* printed so far */
};

/* A heading, with a line between it and the section above. */
void text_heading(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A name and what is to be said of it, on as many lines as it needs; nothing if that is "". */
void text_line_whole(struct text *t, const char *name, const char *text);
/* The same; cut where it is longer than LABEL_MAX. */
void text_line(struct text *t, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Words, from the column indent - 1 on; the next line begins there, too. */
void text_words(FILE *out, size_t indent, const char *text);

/* Makes a section's table, and prints it. 0 or -ENOMEM, as all that follow. */
int text_section(struct text *t, section_make *make, const struct findings_view *view);
int text_recorded(struct text *t);
int text_locks(struct text *t);
int text_parking(struct text *t);
int text_pauses(struct text *t);
/* All that is in sections.def as PLAIN. */
int text_plain(struct text *t);
int text_threads(struct text *t);
int text_finding(struct text *t);

/* Of call chains, if the log has any: how the walks of stacks ended; the methods of the groups of
 * one lock, by waiter_method or owner_method; for how much of the time chains are known. */
void text_walks(struct text *t, const struct analysis_facts *f);
void text_methods(struct text *t, const char *name, const struct group *lock);
int text_sources(struct text *t);
/* What the holders of a lock did; blocked_on: all locks, by the locks that their holders were
 * themselves blocked on. */
int text_holding(struct text *t, const struct group *blocked_on, uint64_t lock);

/* Idle turn-taking; locks: all, by waiter_method. Nothing if there is none. */
int text_idle(struct text *t, const struct group *locks);

/* How it is known who held a lock: of one, and of all, with threads blocked for blocked_ns. */
bool text_is_exact(const struct text *t, uint64_t lock);
int text_basis(struct text *t, uint64_t blocked_ns);
/* What of a group's contentions came after Object.wait(); nothing if none. */
void text_after_wait(struct text *t, const struct group *g, int indent);
