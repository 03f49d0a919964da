/*
 * The recorder is a process of its own: it goes on reading the ring while a window is analysed or a
 * terminal does not take what is written, and it ends properly (all detached, the flag put back)
 * when the process that shows dies, however that dies: the pipe by which it is asked has an end
 * then. It is a flight recorder, whose memory has a bound, and what it is asked for is a file of
 * that memory. So a window is read by the same code as any log.
 */
#include "cmd/live/top_source.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "base/text/msg.h"
#include "base/text/strbuf.h"
#include "base/text/units.h"
#include "cmd/cmd.h"
#include "cmd/live/top_screen.h"
#include "cmd/rights.h"
#include "cmd/signals.h"
#include "jvm/flag/flag_guard.h"

#define RUN_MS 250
#define MESSAGES_MAX 16384 /* bytes of them that are printed */

_Static_assert(sizeof(struct top_message) <= PIPE_BUF, "a message comes whole");

/* With what a recorder has left that was killed. */
int top_source_remove(const char *folder)
{
	DIR *dir = opendir(folder);
	const struct dirent *e;

	while (dir && (e = readdir(dir)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			unlinkat(dirfd(dir), e->d_name, 0);
	if (dir)
		closedir(dir);
	return rmdir(folder);
}

/* --- the recorder's side --- */

struct child {
	struct recorder_options o;
	struct recorder *r;
	int ask, from_recorder;
	bool ending, failed;
	bool has_terminal; /* that whoever shows has made a screen of */
	struct termios terminal;
	pid_t parent;
	const char *folder;
};

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

static void tell(const struct child *c, struct top_message *t)
{
	t->cpu_ns = cpu_ns();
	write_all(c->from_recorder, (const uint8_t *)t, sizeof(*t));
}

static void tell_failed(struct child *c, const char *why)
{
	struct top_message t = {.kind = TOP_FAILED};

	c->failed = true;
	snprintf(t.text, sizeof(t.text), "%s", why);
	tell(c, &t);
}

static void on_dump(void *ctx, const struct dump *d)
{
	struct top_message t = {.from_ns = d->from_ns, .to_ns = d->to_ns};
	struct recorder_stats stats;
	struct child *c = ctx;

	if (d->err || !d->path) {
		tell_failed(c, strerror(-d->err));
		return;
	}
	if (!c->ending) {
		recorder_stats(c->r, &stats);
		t.lost = stats.lost;
	}
	t.kind = c->ending ? TOP_LAST : TOP_WINDOW;
	snprintf(t.path, sizeof(t.path), "%s", d->path);
	tell(c, &t);
}

static void on_before_write(void *ctx)
{
	(void)ctx;
	signals_deadly(false);
}

/* Only kill(1) means the recorder alone: Ctrl-C goes to whoever shows, too, and that asks. */
static bool is_killed(void)
{
	sigset_t pending;

	return !sigpending(&pending) && sigismember(&pending, SIGTERM) == 1;
}

static enum recorder_end run(struct child *c, char why[RECORDER_WHY_MAX])
{
	char byte;

	for (;;) {
		int err = recorder_run(c->r, RUN_MS, c->ask, why);

		if (err < 0)
			return RECORDER_FAILED;
		if (err == 2)
			return RECORDER_JVM_EXITED;
		if (is_killed() || c->failed)
			return RECORDER_INTERRUPTED;
		if (err == 1 && read(c->ask, &byte, 1) <= 0)
			return RECORDER_DONE;
		if (err == 1 && recorder_dump(c->r, "spoor top", why))
			return RECORDER_FAILED;
	}
}

static void tell_attached(struct child *c)
{
	struct top_message t = {.kind = TOP_ATTACHED};

	if (recorder_monitor_missing(c->r))
		buffer_add(t.text, sizeof(t.text), "monitor events are missing: %s",
			   recorder_monitor_why(c->r));
	if (recorder_parks_missing(c->r))
		buffer_add(t.text, sizeof(t.text), "%s--virtual-parks has no effect: %s",
			   *t.text ? "; " : "", recorder_parks_missing(c->r));
	tell(c, &t);
}

static int record(struct child *c)
{
	char why[RECORDER_WHY_MAX] = "", close_why[RECORDER_WHY_MAX] = "";
	enum recorder_end end;
	int err;

	c->o.dumped = on_dump;
	c->o.dumped_ctx = c;
	c->o.before_write = on_before_write;
	if (rights_attach())
		return CMD_FAILED;
	signals_deadly(true);
	err = recorder_open(&c->o, &c->r, why);
	if (err) {
		tell_failed(c, why);
		return CMD_FAILED;
	}
	if (rights_record(&c->o.log, true, false)) {
		recorder_close(c->r, RECORDER_FAILED, NULL, close_why);
		return CMD_FAILED;
	}
	tell_attached(c);
	end = run(c, why);
	c->ending = true;
	err = recorder_close(c->r, end, NULL, close_why);
	if (end == RECORDER_FAILED || err)
		tell_failed(c, end == RECORDER_FAILED ? why : close_why);
	return err || c->failed ? CMD_FAILED : CMD_OK;
}

/* What whoever shows has left behind if it was killed: its screen, and the folder. */
static void clean_up(const struct child *c)
{
	sigset_t set;

	if (getppid() == c->parent)
		return;
	top_source_remove(c->folder);
	if (!c->has_terminal)
		return;
	sigemptyset(&set);
	sigaddset(&set, SIGTTOU); /* this process is not in the terminal's foreground any more */
	sigprocmask(SIG_BLOCK, &set, NULL);
	top_screen_restore(&c->terminal);
}

static int child_main(struct child *c)
{
	int status;

	if (!c->o.no_write && c->o.probes != PROBES_NONE)
		flag_guard_start(&c->o.guard);
	signal(SIGPIPE, SIG_IGN);
	status = record(c);
	flag_guard_free(c->o.guard);
	clean_up(c);
	return status;
}

/* --- the other side --- */

static int start(const struct recorder_options *o, const char *folder, const int ask[2],
		 const int from_recorder[2], struct top_source *s)
{
	struct child c = {.o = *o,
			  .ask = ask[0],
			  .from_recorder = from_recorder[1],
			  .parent = getpid(),
			  .folder = folder};

	c.has_terminal = s->messages >= 0 && !tcgetattr(STDIN_FILENO, &c.terminal);

	s->pid = fork();
	if (s->pid < 0)
		return -errno;
	if (s->pid)
		return 0;
	close(ask[1]);
	close(from_recorder[0]);
	if (s->messages >= 0)
		dup2(s->messages, STDERR_FILENO);
	_exit(child_main(&c));
}

int top_source_start(const struct recorder_options *o, const char *folder, bool quiet,
		     struct top_source *ret)
{
	struct recorder_options own = *o;
	int ask[2], from_recorder[2], err;
	char path[256];

	if (snprintf(path, sizeof(path), "%s/window.spoor", folder) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	own.log.path = path;
	if (pipe2(ask, O_CLOEXEC))
		return -errno;
	if (pipe2(from_recorder, O_CLOEXEC)) {
		err = -errno;
		close(ask[0]);
		close(ask[1]);
		return err;
	}
	*ret = (struct top_source){
		.ask = ask[1], .from_recorder = from_recorder[0], .messages = -1};
	if (quiet)
		ret->messages = memfd_create("spoor-messages", MFD_CLOEXEC);
	err = start(&own, folder, ask, from_recorder, ret);
	close(ask[0]);
	close(from_recorder[1]);
	if (err) {
		close(ask[1]);
		close(from_recorder[0]);
	}
	return err;
}

void top_source_ask(const struct top_source *s)
{
	if (write(s->ask, "", 1) < 0)
		return; /* it has ended, which top_source_read() reports */
}

bool top_source_read(const struct top_source *s, struct top_message *ret)
{
	ssize_t n;

	do {
		n = read(s->from_recorder, ret, sizeof(*ret));
	} while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(*ret);
}

void top_source_stop(struct top_source *s)
{
	if (s->ask >= 0)
		close(s->ask);
	s->ask = -1;
}

static void print_messages(int fd)
{
	static const char mark[] = "spoor: ";
	char buf[MESSAGES_MAX + 1], *line, *next;
	ssize_t n = pread(fd, buf, MESSAGES_MAX, 0);

	buf[n > 0 ? n : 0] = 0;
	for (line = buf; *line; line = next) {
		next = strchrnul(line, '\n');
		if (*next)
			*next++ = 0;
		if (!strncmp(line, mark, strlen(mark)))
			line += strlen(mark);
		msg_info("%s", line);
	}
}

int top_source_end(struct top_source *s)
{
	int status = 0;

	top_source_stop(s);
	close(s->from_recorder);
	while (waitpid(s->pid, &status, 0) < 0 && errno == EINTR)
		;
	if (s->messages >= 0) {
		print_messages(s->messages);
		close(s->messages);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : CMD_FAILED;
}
