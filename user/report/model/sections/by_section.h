/* report/model/sections/by_section.h: the groups of contentions that --by asks for, as tables. */
#pragma once

#include "report/model/sections/sections.h"

#define BY_TITLE_MAX 256
#define BY_DEFAULT_DEPTH 4

/* Class, lock, holder, waiter: of a whole report, and where programs ask for no others. */
extern const enum aspect_id by_default[BY_DEFAULT_DEPTH];

/* There may be millions of groups. People see a tree with the first of each level; programs get
 * all, in a table of one row at a time. */
struct by_section {
	struct section_input section;
	const enum aspect_id *by; /* lent, as is in */
	unsigned depth;
	struct group root;
	char title[BY_TITLE_MAX]; /* "lock > owner_thread" */
};

/* 0: *ret is to be closed, after the tables that are made of it are freed; -ENOMEM. */
int by_section_open(const struct report_input *in, const enum aspect_id *by, unsigned depth,
		    struct by_section *ret);
void by_section_close(struct by_section *b);

/* For people, with the first in->top groups of each group, and a row for the others. All tables are
 * to be freed with findings_free(); NULL, or an err in them: no memory. */
struct findings *by_section_tree(const struct by_section *b);

/* For programs: a table without rows, and a row that is one group, without those within it. */
struct findings *by_section_groups(const struct by_section *b);
void by_section_group(const struct by_section *b, const struct group *g, struct findings *f);

/* The same for a group of the last level, with the names of those that it is within; path has one
 * group for each aspect. */
struct findings *by_section_paths(const struct by_section *b);
void by_section_path(const struct by_section *b, const struct group *const *path,
		     struct findings *f);
