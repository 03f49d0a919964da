/* cmd/live/top_screen.h: the terminal of `spoor top`. */
#pragma once

#include <stdbool.h>
#include <termios.h>

#include "report/live/top_panes.h"

struct top_screen;

/* Takes the terminal of stdin and stdout. -ENOTTY; -ENOMEM. */
int top_screen_open(struct top_screen **ret);
/* Gives it back as it was; accepts NULL. */
void top_screen_close(struct top_screen *s);

/* The same for a screen of a process that was killed; before: as the terminal was. */
void top_screen_restore(const struct termios *before);

/* What it shows. Lent until top_screen_close. */
struct top_panes *top_screen_panes(struct top_screen *s);
/* Draws anew, also when the terminal's size is another one. 0 or -ENOMEM, -EIO. */
int top_screen_draw(struct top_screen *s);

/* Reads the keys that there are. False: it is to end. */
bool top_screen_keys(struct top_screen *s);
