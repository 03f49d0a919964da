#include "record/watch/watcher.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/create.h"
#include "base/tables/array.h"
#include "base/text/units.h"
#include "jvm/jvm.h"
#include "jvm/target/process.h"
#include "record/kernel/relay.h"
#include "record/watch/rules.h"

#define COMMAND_MAX (128 * 1024)
#define RESCAN_NS (10 * NS_PER_S)
#define LOST_SCAN_NS (NS_PER_S / 2)
/* Between two looks at what begins: who renames threads all the time cannot keep us busy. */
#define STARTS_PAUSE_MS 20
#define JUST_BEGUN_MS 3000

_Static_assert(WATCH_JVMS_MAX == RELAY_SLOTS_MAX, "each has a slot");

enum known_state { KNOWN_WAITS, KNOWN_RECORDED, KNOWN_DONE };

/* A JVM that the rules want; until its process is gone. */
struct known {
	pid_t pid;
	uint64_t start_ticks;
	enum known_state state;
	enum watch_event said; /* of one that waits */
	pid_t recorder;
	unsigned slot;
	char stem[LOG_ROOM_STEM_MAX];
	struct watch_jvm jvm;
};

struct pids {
	pid_t *list;
	uint32_t count, capacity;
};

struct watcher {
	const struct watch_options *o;
	struct relay *relay;
	struct log_room room;
	int signals;
	struct known **known;
	uint32_t known_count, known_capacity;
	bool taken[WATCH_JVMS_MAX + 1]; /* slots */
	struct pids seen;               /* of the last scan, ascending */
	struct pids begun;              /* of the relay, not looked at yet */
	char *command;
};

static int fail(char why[WATCH_WHY_MAX], int err, const char *what, const char *detail)
{
	snprintf(why, WATCH_WHY_MAX, "%s%s%s", what, *detail ? ": " : "", detail);
	return err;
}

/* --- what a process is ----------------------------------------------------------------------- */

static uint64_t age_ms(uint64_t start_ticks)
{
	struct timespec now;
	uint64_t start = start_ticks * 1000 / (uint64_t)sysconf(_SC_CLK_TCK), ms;

	clock_gettime(CLOCK_BOOTTIME, &now);
	ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / NS_PER_MS;
	return ms > start ? ms - start : 0;
}

/* Whether it is a JVM, and which. command has COMMAND_MAX bytes, for the arguments with blanks. */
static bool describe(pid_t pid, struct watch_jvm *ret, uint64_t *ret_start, char *command)
{
	struct process_stat stat;
	size_t length;
	char *text;

	if (pid == getpid() || process_stat(pid, &stat) || stat.state == 'Z' ||
	    jvm_present(pid) != 1 || process_file_head(pid, "cmdline", COMMAND_MAX, &text, &length))
		return false;
	*ret = (struct watch_jvm){.pid = pid, .age_ms = age_ms(stat.start_ticks)};
	jvm_name(text, length, ret->name);
	free(text);
	labels_read(pid, &ret->labels);
	*ret_start = stat.start_ticks;
	return !process_command(pid, command, COMMAND_MAX);
}

/* --- recorders ------------------------------------------------------------------------------- */

static void report(struct watcher *w, const struct known *k, struct watch_report t)
{
	t.jvm = &k->jvm;
	w->o->report(w->o->ctx, &t);
}

static bool is_live(void *ctx, const char *stem)
{
	const struct watcher *w = ctx;

	for (uint32_t i = 0; i < w->known_count; i++)
		if (w->known[i]->state == KNOWN_RECORDED && !strcmp(w->known[i]->stem, stem))
			return true;
	return false;
}

/* In the new process. It ends with the watcher, whose relay reports what happens. */
static int record(struct watcher *w, const struct known *k, pid_t watcher)
{
	char about[JVM_NAME_MAX + 32];
	int status;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != watcher)
		return EXIT_FAILURE;
	prctl(PR_SET_NAME, "spoor-record");
	close(w->signals);
	/* Of all messages. */
	snprintf(about, sizeof(about), "spoor: %d %s", k->pid, k->jvm.name);
	program_invocation_short_name = about;
	status = w->o->record(w->o->ctx, &k->jvm, w->relay, k->slot);
	fflush(NULL);
	return status;
}

static unsigned free_slot(const struct watcher *w)
{
	unsigned slot = 1;

	while (slot <= w->o->max_jvms && w->taken[slot])
		slot++;
	return slot <= w->o->max_jvms ? slot : 0;
}

static void wait_for(struct watcher *w, struct known *k, enum watch_event why)
{
	if (k->said != why)
		report(w, k, (struct watch_report){.event = why});
	k->said = why;
}

static void give_up(struct watcher *w, struct known *k, int err)
{
	k->state = KNOWN_DONE;
	report(w, k, (struct watch_report){.event = WATCH_FAILED, .err = err});
}

static void start(struct watcher *w, struct known *k)
{
	struct log_room_freed freed;
	pid_t self = getpid(), pid;
	int err;

	k->slot = free_slot(w);
	if (!k->slot) {
		wait_for(w, k, WATCH_NO_PLACE);
		return;
	}
	err = log_room_reserve(&w->room, w->o->max_bytes, is_live, w, &freed);
	if (err == -ENOSPC) {
		wait_for(w, k, WATCH_NO_ROOM);
		return;
	}
	if (err) {
		give_up(w, k, err);
		return;
	}
	log_room_stem(k->jvm.name, k->pid, (int64_t)time(NULL), k->stem);
	snprintf(k->jvm.path, sizeof(k->jvm.path), "%s/%s.spoor", w->o->folder, k->stem);
	k->jvm.starting = age_ms(k->start_ticks) < JUST_BEGUN_MS;
	fflush(NULL);
	pid = fork();
	if (pid < 0) {
		err = -errno;
		log_room_release(&w->room, w->o->max_bytes);
		*k->jvm.path = 0;
		give_up(w, k, err);
		return;
	}
	if (!pid)
		_exit(record(w, k, self));
	k->state = KNOWN_RECORDED;
	k->recorder = pid;
	w->taken[k->slot] = true;
	report(w, k, (struct watch_report){.event = WATCH_FOUND, .freed = freed});
}

/* Of those that wait, as many as there is room for now, in the order in which they came. */
static void start_waiting(struct watcher *w)
{
	for (uint32_t i = 0; i < w->known_count; i++)
		if (w->known[i]->state == KNOWN_WAITS)
			start(w, w->known[i]);
}

static unsigned reap(struct watcher *w)
{
	unsigned ended = 0;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		for (uint32_t i = 0; i < w->known_count; i++) {
			struct known *k = w->known[i];

			if (k->state != KNOWN_RECORDED || k->recorder != pid)
				continue;
			relay_clear(w->relay, k->slot);
			log_room_release(&w->room, w->o->max_bytes);
			w->taken[k->slot] = false;
			k->state = KNOWN_DONE;
			report(w, k, (struct watch_report){.event = WATCH_ENDED, .status = status});
			ended++;
		}
	}
	return ended;
}

/* --- JVMs that come and go ------------------------------------------------------------------- */

static struct known *known_find(const struct watcher *w, pid_t pid, uint64_t start_ticks)
{
	for (uint32_t i = 0; i < w->known_count; i++)
		if (w->known[i]->pid == pid && w->known[i]->start_ticks == start_ticks)
			return w->known[i];
	return NULL;
}

static void consider(struct watcher *w, pid_t pid)
{
	struct watch_jvm jvm;
	struct known *k;
	uint64_t start_ticks;

	if (!describe(pid, &jvm, &start_ticks, w->command) || known_find(w, pid, start_ticks) ||
	    !rules_match(w->o->rules, w->command, &jvm.labels))
		return;
	k = calloc(1, sizeof(*k));
	if (!k || array_grow(&w->known, &w->known_capacity, w->known_count, sizeof(*w->known))) {
		free(k);
		return; /* the next scan may have memory for it */
	}
	*k = (struct known){.pid = pid, .start_ticks = start_ticks, .jvm = jvm};
	w->known[w->known_count++] = k;
	start(w, k);
}

static bool has(const struct pids *p, pid_t pid)
{
	uint32_t low = 0, high = p->count;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (p->list[mid] == pid)
			return true;
		if (p->list[mid] < pid)
			low = mid + 1;
		else
			high = mid;
	}
	return false;
}

static void forget_gone(struct watcher *w, const struct pids *now)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < w->known_count; i++) {
		struct known *k = w->known[i];

		if (k->state == KNOWN_RECORDED || has(now, k->pid))
			w->known[kept++] = k;
		else
			free(k);
	}
	w->known_count = kept;
}

static int by_number(const void *a, const void *b)
{
	const pid_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static int pids_read(struct pids *ret)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	int err = 0;

	if (!proc)
		return -errno;
	ret->count = 0;
	while (!err && (entry = readdir(proc))) {
		long pid = strtol(entry->d_name, NULL, 10);

		if (pid <= 0)
			continue;
		err = array_grow(&ret->list, &ret->capacity, ret->count, sizeof(*ret->list));
		if (!err)
			ret->list[ret->count++] = (pid_t)pid;
	}
	closedir(proc);
	if (ret->count)
		qsort(ret->list, ret->count, sizeof(*ret->list), by_number);
	return err;
}

/* The relay reports those that begin; a scan finds those that were there before, and what the
 * relay had no room for. A process that becomes a JVM later is reported by the relay only. */
static int scan(struct watcher *w)
{
	struct pids now = {0};
	int err = pids_read(&now);

	if (err) {
		free(now.list);
		return err;
	}
	forget_gone(w, &now);
	for (uint32_t i = 0; i < now.count; i++)
		if (!has(&w->seen, now.list[i]))
			consider(w, now.list[i]);
	free(w->seen.list);
	w->seen = now;
	return 0;
}

static void on_begun(void *ctx, pid_t pid)
{
	struct watcher *w = ctx;
	struct pids *b = &w->begun;

	if (!array_grow(&b->list, &b->capacity, b->count, sizeof(*b->list)))
		b->list[b->count++] = pid;
}

static void look_at_begun(struct watcher *w)
{
	w->begun.count = 0;
	relay_starts(w->relay, on_begun, w);
	if (!w->begun.count)
		return;
	qsort(w->begun.list, w->begun.count, sizeof(*w->begun.list), by_number);
	for (uint32_t i = 0; i < w->begun.count; i++)
		if (!i || w->begun.list[i] != w->begun.list[i - 1])
			consider(w, w->begun.list[i]);
}

/* --- from begin to end ----------------------------------------------------------------------- */

/* True: one of those that end us. */
static bool signals_read(const struct watcher *w)
{
	struct signalfd_siginfo info;
	bool end = false;

	while (read(w->signals, &info, sizeof(info)) == sizeof(info))
		end |= info.ssi_signo != SIGCHLD;
	return end;
}

static void follow(struct watcher *w)
{
	struct pollfd fds[] = {{.fd = w->signals, .events = POLLIN},
			       {.fd = relay_fd(w->relay), .events = POLLIN}};
	uint64_t next = clock_mono_ns() + RESCAN_NS, now;

	for (;;) {
		now = clock_mono_ns();
		if (now >= next) {
			scan(w);
			next = clock_mono_ns() + RESCAN_NS;
			continue;
		}
		poll(fds, 2, (int)((next - now) / NS_PER_MS) + 1);
		if (fds[0].revents && signals_read(w))
			return;
		if (reap(w))
			start_waiting(w);
		if (!fds[1].revents)
			continue;
		look_at_begun(w);
		/* One that was lost may be of a process that was no JVM at the last scan. */
		if (relay_starts_lost(w->relay)) {
			w->seen.count = 0;
			next = clock_mono_ns() + LOST_SCAN_NS;
		}
		poll(fds, 1, STARTS_PAUSE_MS);
	}
}

static unsigned signal_recorders(const struct watcher *w, int signal)
{
	unsigned count = 0;

	for (uint32_t i = 0; i < w->known_count; i++)
		if (w->known[i]->state == KNOWN_RECORDED) {
			kill(w->known[i]->recorder, signal);
			count++;
		}
	return count;
}

static void end_recorders(struct watcher *w)
{
	struct pollfd fd = {.fd = w->signals, .events = POLLIN};
	unsigned left = signal_recorders(w, SIGTERM);

	/* The SIGCHLD of one that has ended may have been read already. */
	for (left -= reap(w); left; left -= reap(w)) {
		poll(&fd, 1, -1);
		if (signals_read(w))
			signal_recorders(w, SIGKILL);
	}
}

static int folder_open(struct watcher *w, char why[WATCH_WHY_MAX])
{
	int err = folder_create(w->o->folder, 0700);

	if (err)
		return fail(why, err, w->o->folder, file_create_error(err));
	w->room.folder = open(w->o->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (w->room.folder < 0)
		return fail(why, -errno, w->o->folder, strerror(errno));
	if (flock(w->room.folder, LOCK_EX | LOCK_NB))
		return fail(why, -EBUSY, w->o->folder, "another spoor watch writes to it");
	return 0;
}

int watch_run(const struct watch_options *o, int signals, void (*ready)(void *ctx),
	      char why[WATCH_WHY_MAX])
{
	struct watcher w = {.o = o,
			    .signals = signals,
			    .room = {.folder = -1, .max_bytes = o->max_total},
			    .command = malloc(COMMAND_MAX)};
	int err = w.command ? folder_open(&w, why) : fail(why, -ENOMEM, "out of memory", "");

	if (!err)
		err = relay_open(&w.relay, why);
	if (err)
		goto out;
	ready(o->ctx);
	err = scan(&w);
	if (err)
		fail(why, err, "/proc cannot be read", strerror(-err));
	else
		follow(&w);
	end_recorders(&w);
out:
	relay_close(w.relay);
	if (w.room.folder >= 0)
		close(w.room.folder);
	for (uint32_t i = 0; i < w.known_count; i++)
		free(w.known[i]);
	free(w.known);
	free(w.seen.list);
	free(w.begun.list);
	free(w.command);
	return err;
}

int watch_list(const struct rules *rules,
	       void (*take)(void *ctx, const struct watch_jvm *jvm, bool fits), void *ctx)
{
	char *command = malloc(COMMAND_MAX);
	struct pids pids = {0};
	struct watch_jvm jvm;
	uint64_t start_ticks;
	int err = command ? pids_read(&pids) : -ENOMEM;

	for (uint32_t i = 0; !err && i < pids.count; i++)
		if (describe(pids.list[i], &jvm, &start_ticks, command))
			take(ctx, &jvm, rules_match(rules, command, &jvm.labels));
	free(pids.list);
	free(command);
	return err;
}
