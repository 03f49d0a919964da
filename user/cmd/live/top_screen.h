/* cmd/live/top_screen.h: the screen of `spoor top`: panes, rows, keys. */
#pragma once

#include <stdbool.h>
#include <termios.h>

#include "report/live/live_view.h"

struct by_list;
struct top_screen;

/* Takes the terminal of stdin and stdout. -ENOTTY; -ENOMEM. */
int top_screen_open(struct top_screen **ret);
/* Gives it back as it was; accepts NULL. */
void top_screen_close(struct top_screen *s);

/* The same for a screen of a process that was killed; before: as the terminal was. */
void top_screen_restore(const struct termios *before);

/* What it shows from now on, lent until the next call; NULL: nothing yet, and why. */
void top_screen_show(struct top_screen *s, const struct live_view *v, const char *why);
/* Draws anew, also when the terminal's size is another one. 0 or -ENOMEM, -EIO. */
int top_screen_draw(struct top_screen *s);

/* Reads the keys that there are. False: it is to end. */
bool top_screen_keys(struct top_screen *s);
/* No new intervals are wanted. */
bool top_screen_is_paused(const struct top_screen *s);

/* What --by and --sort say; by is copied. Without aspects there are some to begin with. */
void top_screen_by(struct top_screen *s, const struct by_list *by, enum group_order order);
/* Another --where than that of the command line; wins over it. text is checked already. */
int top_screen_where(struct top_screen *s, const char *text);
