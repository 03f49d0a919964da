/*
 * A frame is drawn of text that print_text() has encoded, so nothing in it is obeyed by the
 * terminal. Lines that are too long are cut, and what a wide character puts beyond the last column
 * is left to the terminal, which does not wrap.
 */
#include "report/live/top_panes.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/print.h"
#include "report/live/live_view.h"
#include "report/live/top_keys.h"
#include "report/model/by_list.h"
#include "report/model/where.h"

#define TOP_ROWS 500 /* of a table, that can be looked at */
#define WHERE_MAX 256
#define LINES_MAX 20000

struct top_panes {
	struct live_view view;
	bool filled; /* view is */
	const char *why;
	enum live_pane pane;
	enum group_order order;
	unsigned row, scroll; /* of the pane, or of what is below it */
	unsigned rows;        /* that there are */
	bool paused, help, below;
	char key[LIVE_KEY_MAX]; /* of the row whose chains are shown */
	enum top_edit { EDIT_NONE, EDIT_WHERE, EDIT_BY } editing;
	char edit[WHERE_MAX], where_text[WHERE_MAX], error[BY_LIST_ERROR_MAX];
	struct by_list by;
	struct condition *where;
	unsigned columns, lines; /* of the last frame */
};

static const char help_text[] =
	"l h t p c b locks, holders, threads, pauses, CPUs, by aspects; Tab: the next\n"
	"Up Down     choose a row; also PageUp, PageDown, Home, End, k, j\n"
	"Enter       locks, holders: the call chains of both sides of the row\n"
	"Backspace   back to the table; also Escape\n"
	"s  F6       sort by lost work, blocked time, times, longest, quantile, name\n"
	"/  F4       only contentions of which a condition holds, as in\n"
	"            spoor report --where; empty: all\n"
	"a  F5       by which aspects, as in spoor report --by: lock_class,owner_pool\n"
	"Space       hold the view; the recording goes on\n"
	"?  F1       this page\n"
	"q  F10      quit\n"
	"\n"
	"blocked: time of all threads together; idle: of it, threads that take\n"
	"turns in waiting for new work. A lock's methods are those of most of\n"
	"its blocked time. The view is a little more than a second late.\n";

static const char *const orders[GROUP_ORDER_COUNT] = {
	[GROUP_BY_WORK] = "lost work", [GROUP_BY_TIME] = "blocked", [GROUP_BY_COUNT] = "times",
	[GROUP_BY_MAX] = "longest",    [GROUP_BY_P50] = "p50",      [GROUP_BY_P90] = "p90",
	[GROUP_BY_P99] = "p99",        [GROUP_BY_P999] = "p99.9",   [GROUP_BY_VALUE] = "name",
};

struct top_panes *top_panes_new(void)
{
	struct top_panes *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->why = "";
	top_panes_by(s, &(struct by_list){.depth = 0}, s->order);
	return s;
}

void top_panes_free(struct top_panes *s)
{
	if (!s)
		return;
	where_free(s->where);
	free(s);
}

/* As much of a line as fits; the length of the whole. */
static size_t put_line(FILE *out, const char *text, unsigned columns, bool marked)
{
	size_t length = strcspn(text, "\n"), at = 0, n;
	unsigned used = 0;
	uint32_t code;

	while (at < length && used < columns) {
		n = utf8_character(text + at, length - at, &code);
		at += n ? n : 1;
		used++;
	}
	if (marked)
		print_text(out, "\x1b[7m");
	print_text(out, "%.*s", (int)at, text);
	for (; marked && used < columns; used++)
		fputc(' ', out);
	if (marked)
		print_text(out, "\x1b[0m");
	print_text(out, "\x1b[K\r\n");
	return length;
}

struct frame {
	FILE *out;
	unsigned columns, left; /* lines */
};

static void frame_line(struct frame *f, const char *text, bool marked)
{
	if (!f->left)
		return;
	put_line(f->out, text, f->columns, marked);
	f->left--;
}

static const char *next_line(const char *text)
{
	text = strchrnul(text, '\n');
	return *text ? text + 1 : text;
}

static unsigned line_count(const char *text)
{
	unsigned n = 0;

	for (; *text && n < LINES_MAX; text = next_line(text))
		n++;
	return n;
}

/* What is made by a function that writes to a file, as text; the caller's. NULL: no memory. */
static char *text_of(int (*make)(const struct top_panes *, FILE *), const struct top_panes *s,
		     int *ret_err)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	*ret_err = out ? make(s, out) : -ENOMEM;
	if (out && fclose(out) && !*ret_err)
		*ret_err = -ENOMEM;
	return text;
}

static int make_header(const struct top_panes *s, FILE *out)
{
	return live_header(&s->view, out);
}

static int make_content(const struct top_panes *s, FILE *out)
{
	int err;

	if (!s->below)
		return live_pane_text(&s->view, s->pane, out);
	err = live_chains(&s->view, s->pane, s->key, out);
	if (err == -ENOENT)
		print_text(out, "nobody was blocked there in this interval\n");
	return err == -ENOENT ? 0 : err;
}

static void draw_tabs(struct frame *f, const struct top_panes *s)
{
	if (!f->left)
		return;
	for (int i = 0; i < LIVE_PANE_COUNT; i++) {
		if (i == (int)s->pane)
			print_text(f->out, "\x1b[7m %s \x1b[0m", live_pane_title(i));
		else
			print_text(f->out, " %s ", live_pane_title(i));
	}
	print_text(f->out, "  by %s%s", orders[s->order], s->paused ? "  HELD: Space goes on" : "");
	print_text(f->out, "\x1b[K\r\n");
	f->left--;
}

static bool has_rows(const struct top_panes *s)
{
	return live_pane_has_chains(s->pane) && !s->below && !s->help;
}

/* The first line of a table is of titles and stays; lines of a page are scrolled. */
static void draw_content(struct frame *f, struct top_panes *s, const char *text)
{
	unsigned first = has_rows(s) ? 1 : 0, count = line_count(text), room;

	if (first && *text) {
		frame_line(f, text, false);
		text = next_line(text);
	}
	s->rows = count > first ? count - first : 0;
	room = f->left;
	if (s->row >= s->rows)
		s->row = s->rows ? s->rows - 1 : 0;
	if (!has_rows(s))
		s->scroll = s->row;
	else if (s->row < s->scroll)
		s->scroll = s->row;
	else if (room && s->row >= s->scroll + room)
		s->scroll = s->row - room + 1;
	for (unsigned i = 0; i < s->scroll && *text; i++)
		text = next_line(text);
	for (unsigned i = s->scroll; *text && f->left; i++, text = next_line(text))
		frame_line(f, text, has_rows(s) && i == s->row);
	if (!count)
		frame_line(f, "nothing in this interval", false);
}

static void draw_bottom(FILE *out, const struct top_panes *s)
{
	char line[WHERE_MAX + BY_LIST_ERROR_MAX + 32];

	if (s->editing)
		print_buffer(line, sizeof(line), "%s: %s_  %s",
			     s->editing == EDIT_WHERE ? "where" : "by", s->edit, s->error);
	else
		print_buffer(line, sizeof(line), "%s",
			     s->below ? "Backspace back  Up Down scroll  Space hold  ? help  q quit"
				      : "Tab panes  Enter chains  s sort  / filter  a aspects  "
					"Space hold  ? help  q quit");
	print_text(out, "\x1b[7m");
	print_text(out, "%.*s", (int)s->columns, line);
	print_text(out, "\x1b[0m\x1b[K\x1b[J");
}

static int draw_view(struct frame *f, struct top_panes *s)
{
	int err;
	char *text = text_of(make_header, s, &err);

	for (const char *at = text; !err && *at; at = next_line(at))
		frame_line(f, at, false);
	free(text);
	if (err)
		return err;
	draw_tabs(f, s);
	if (s->below)
		frame_line(f, s->key, true);
	text = text_of(make_content, s, &err);
	if (!err)
		draw_content(f, s, text);
	free(text);
	return err;
}

int top_panes_draw(struct top_panes *s, unsigned columns, unsigned lines, FILE *out)
{
	struct frame f = {out, columns, lines > 1 ? lines - 1 : 0};
	int err = 0;

	s->columns = columns;
	s->lines = lines;
	s->view.width = columns;
	s->view.top = TOP_ROWS;
	s->view.order = s->order;
	s->view.by = s->by.by;
	s->view.depth = s->by.depth;
	if (s->where) {
		s->view.where = s->where;
		s->view.where_text = s->where_text;
	}
	print_text(out, "\x1b[H");
	if (s->help)
		draw_content(&f, s, help_text);
	else if (s->filled)
		err = draw_view(&f, s);
	else
		frame_line(&f, s->why, false);
	while (f.left)
		frame_line(&f, "", false);
	draw_bottom(out, s);
	return err;
}

void top_panes_show(struct top_panes *s, const struct live_view *v, const char *why)
{
	s->filled = v != NULL;
	s->why = why;
	if (v)
		s->view = *v;
}

bool top_panes_is_paused(const struct top_panes *s)
{
	return s->paused;
}

int top_panes_where(struct top_panes *s, const char *text)
{
	struct condition *where = NULL;
	int err = *text ? where_parse(text, &where, s->error) : 0;

	if (err)
		return err;
	where_free(s->where);
	s->where = where;
	s->view.where = where;
	s->view.where_text = NULL;
	snprintf(s->where_text, sizeof(s->where_text), "%s", text);
	return 0;
}

unsigned top_panes_facets(const struct top_panes *s)
{
	return where_facets(s->where) | aspects_facets(s->by.by, s->by.depth);
}

void top_panes_by(struct top_panes *s, const struct by_list *by, enum group_order order)
{
	static const struct by_list first = {
		.by = {ASPECT_LOCK_CLASS, ASPECT_WAITER_POOL, ASPECT_OWNER_POOL}, .depth = 3};

	s->by = by->depth ? *by : first;
	s->order = order;
	if (by->depth)
		s->pane = LIVE_BY;
}

static int set_by(struct top_panes *s, const char *text)
{
	struct by_list by = {.depth = 0};
	int err = by_list_add(&by, text, s->error);

	if (!err)
		s->by = by;
	return err;
}

static void edit_begin(struct top_panes *s, enum top_edit what)
{
	size_t used = 0;

	s->editing = what;
	*s->error = 0;
	snprintf(s->edit, sizeof(s->edit), "%s", what == EDIT_WHERE ? s->where_text : "");
	for (unsigned i = 0; what == EDIT_BY && i < s->by.depth; i++) {
		print_buffer(s->edit + used, sizeof(s->edit) - used, "%s%s", i ? "," : "",
			     aspect_get(s->by.by[i])->name);
		used = strlen(s->edit);
	}
}

static void edit(struct top_panes *s, int key)
{
	size_t length = strlen(s->edit);

	if (key == '\r' || key == '\n') {
		if (s->editing == EDIT_WHERE ? !top_panes_where(s, s->edit) : !set_by(s, s->edit))
			s->editing = EDIT_NONE;
	} else if (key == TOP_KEY_BACK) {
		s->editing = EDIT_NONE;
	} else if ((key == 0x7f || key == '\b') && length) {
		s->edit[length - 1] = 0;
		*s->error = 0;
	} else if (key >= ' ' && key < 256 && key != 0x7f && length + 1 < sizeof(s->edit)) {
		s->edit[length] = (char)key;
		s->edit[length + 1] = 0;
		*s->error = 0;
	}
}

static void choose_pane(struct top_panes *s, enum live_pane pane)
{
	s->pane = pane;
	s->below = s->help = false;
	s->row = s->scroll = 0;
}

static void enter(struct top_panes *s)
{
	if (!s->filled || !has_rows(s) || !live_row_key(&s->view, s->pane, s->row, s->key))
		return;
	s->below = true;
	s->row = s->scroll = 0;
}

static void back(struct top_panes *s)
{
	if (!s->help && s->below)
		s->below = false;
	s->help = false;
	s->row = s->scroll = 0;
}

static void move(struct top_panes *s, int key)
{
	unsigned page = s->lines > 10 ? s->lines - 10 : 1, last = s->rows ? s->rows - 1 : 0;
	unsigned step = key == TOP_KEY_PAGE_UP || key == TOP_KEY_PAGE_DOWN ? page : 1;

	if (key == TOP_KEY_HOME)
		s->row = 0;
	else if (key == TOP_KEY_END)
		s->row = last;
	else if (key == TOP_KEY_UP || key == TOP_KEY_PAGE_UP)
		s->row -= s->row < step ? s->row : step;
	else
		s->row = last - s->row < step ? last : s->row + step;
}

static void view_key(struct top_panes *s, int key)
{
	static const char panes[] = "lhtpcb";
	const char *pane = key > 0 && key < 128 ? strchr(panes, key) : NULL;

	if (pane)
		choose_pane(s, (enum live_pane)(pane - panes));
	else if (key == '\t')
		choose_pane(s, (s->pane + 1) % LIVE_PANE_COUNT);
	else if (key == '\r' || key == '\n')
		enter(s);
	else if (key == TOP_KEY_BACK || key == 0x7f || key == '\b')
		back(s);
	else if (key == 's' || key == TOP_KEY_SORT)
		s->order = (s->order + 1) % GROUP_ORDER_COUNT;
	else if (key == ' ')
		s->paused = !s->paused;
	else if (key == 'j' || key == 'k')
		move(s, key == 'j' ? TOP_KEY_DOWN : TOP_KEY_UP);
	else if (key >= TOP_KEY_UP && key <= TOP_KEY_END)
		move(s, key);
}

bool top_panes_key(struct top_panes *s, int key)
{
	if (s->editing) {
		edit(s, key);
		return true;
	}
	if (key == 'q' || key == TOP_KEY_QUIT)
		return false;
	if (key == '?' || key == TOP_KEY_HELP) {
		s->help = !s->help;
		s->row = s->scroll = 0;
	} else if (key == '/' || key == TOP_KEY_FILTER) {
		edit_begin(s, EDIT_WHERE);
	} else if (key == 'a' || key == TOP_KEY_ASPECTS) {
		choose_pane(s, LIVE_BY);
		edit_begin(s, EDIT_BY);
	} else {
		view_key(s, key);
	}
	return true;
}
