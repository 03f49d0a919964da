/* report/live/top_panes.h: what the screen of `spoor top` shows, and what keys make of it. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "analyze/groups/groups.h"

struct by_list;
struct live_view;
struct top_panes;

/* NULL: no memory. */
struct top_panes *top_panes_new(void);
void top_panes_free(struct top_panes *s);

/* What is shown from now on, lent until the next call; NULL: nothing yet, and why. */
void top_panes_show(struct top_panes *s, const struct live_view *v, const char *why);

/*
 * A frame for a terminal of so many columns and lines, from its first line on. 0 or -ENOMEM; the
 * error flag of out says the rest.
 */
int top_panes_draw(struct top_panes *s, unsigned columns, unsigned lines, FILE *out);

/* key: as top_key() gives it. False: it is the one that ends the program. */
bool top_panes_key(struct top_panes *s, int key);
/* No new intervals are wanted. */
bool top_panes_is_paused(const struct top_panes *s);

/* What --by and --sort say; by is copied. Without aspects there are some to begin with. */
void top_panes_by(struct top_panes *s, const struct by_list *by, enum group_order order);
/* Another --where than that of the command line; wins over it; "": all. 0, -EINVAL, -ENOMEM. */
int top_panes_where(struct top_panes *s, const char *text);
/* What the cells of the next interval are to be cut by: bits of enum facet. */
unsigned top_panes_facets(const struct top_panes *s);
