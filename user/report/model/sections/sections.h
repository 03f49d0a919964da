/* report/model/sections/sections.h: the sections of the report, as tables. */
#pragma once

#include "report/model/findings.h"
#include "report/model/report.h"

struct labels;
struct log_names;
struct stacks;

struct section_input {
	const struct report_input *in;
	const struct analysis *analysis;
	const struct log_names *names;
	const struct stacks *stacks;
	struct labels *labels;
};

/* 0: *ret is to be closed; -ENOMEM. */
int section_open(const struct report_input *in, struct section_input *ret);
void section_close(struct section_input *s);

/* Of by_section.h. */
#define SECTION_CONTENTION "contention"
/* The maker of a section by its name; NULL: there is none, or it is SECTION_CONTENTION. */
typedef struct findings *section_make(const struct section_input *in);
section_make *section_by_name(const char *name);

/* The next section that outputs show as it is, and its name; *at is 0 at first. NULL: no more. */
section_make *section_plain(unsigned *at, const char **ret_name);

/* section_gc() and so on. All are to be freed with findings_free(); NULL, or an err in them: no
 * memory. */
#define SECTION(name) struct findings *section_##name(const struct section_input *in);
#define PLAIN(name) struct findings *section_##name(const struct section_input *in);
#include "report/model/sections/sections.def"
/* For people: pools and kinds of threads, as many as in says. */
struct findings *section_wall(const struct section_input *in);
/* Of one lock, by waiter_thread and by owner_thread; exact: numbered events say who held it. */
struct findings *section_lock_waiters(const struct section_input *in, const struct group *lock);
struct findings *section_lock_holders(const struct section_input *in, const struct group *lock,
				      bool exact);
/* What its holders did; lock is by blocked_on. */
struct findings *section_holding(const struct section_input *in, const struct group *lock);
/* At the end, on whatever lock; chains: the log has call chains. */
struct findings *section_still_blocked(const struct section_input *in, bool chains);
/* Locks with idle turn-taking; root: by lock and waiter_method. */
struct findings *section_idle_turns(const struct section_input *in, const struct group *root);
/* Whether a lock is in that list alone: next to nothing of its time is lost to work. */
bool section_idle_apart(const struct section_input *in, const struct group *lock);
