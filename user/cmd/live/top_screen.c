/* The terminal of `spoor top`. A frame is made in memory and written at once. */
#include "cmd/live/top_screen.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/io.h"
#include "report/live/top_keys.h"

#define ENTER "\x1b[?1049h\x1b[?25l\x1b[?7l"
#define LEAVE "\x1b[?7h\x1b[?25h\x1b[?1049l"

struct top_screen {
	struct termios before;
	struct top_panes *panes;
};

int top_screen_open(struct top_screen **ret)
{
	struct top_screen *s;
	struct termios raw;
	int err;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return -ENOTTY;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->panes = top_panes_new();
	if (!s->panes || tcgetattr(STDIN_FILENO, &s->before)) {
		err = s->panes ? -ENOTTY : -ENOMEM;
		top_panes_free(s->panes);
		free(s);
		return err;
	}
	raw = s->before;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | IEXTEN);
	raw.c_iflag &= ~(tcflag_t)(IXON | ICRNL);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw);
	write_all(STDOUT_FILENO, ENTER, strlen(ENTER));
	*ret = s;
	return 0;
}

void top_screen_restore(const struct termios *before)
{
	write_all(STDOUT_FILENO, LEAVE, strlen(LEAVE));
	tcsetattr(STDIN_FILENO, TCSAFLUSH, before);
}

void top_screen_close(struct top_screen *s)
{
	if (!s)
		return;
	top_screen_restore(&s->before);
	top_panes_free(s->panes);
	free(s);
}

struct top_panes *top_screen_panes(struct top_screen *s)
{
	return s->panes;
}

static struct winsize size_now(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_col || !size.ws_row)
		size = (struct winsize){.ws_col = 80, .ws_row = 24};
	return size;
}

int top_screen_draw(struct top_screen *s)
{
	struct winsize now = size_now();
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	int err;

	if (!out)
		return -ENOMEM;
	err = top_panes_draw(s->panes, now.ws_col, now.ws_row, out);
	if (fclose(out) && !err)
		err = -ENOMEM;
	if (!err)
		err = write_all(STDOUT_FILENO, text, size);
	free(text);
	return err;
}

bool top_screen_keys(struct top_screen *s)
{
	uint8_t bytes[64];
	ssize_t n = read(STDIN_FILENO, bytes, sizeof(bytes));
	size_t used;

	if (n <= 0)
		return n < 0 && errno == EINTR;
	for (size_t at = 0; at < (size_t)n; at += used)
		if (!top_panes_key(s->panes, top_key(bytes + at, (size_t)n - at, &used)))
			return false;
	return true;
}
