/*
 * A JVM as seen from outside: the structures are where its vmStructs say, and its probes fire when
 * it is told so. It is driven by lines on stdin, fields separated by tabs, each answered by one
 * line on stdout: "ok ..." or "err ...". So a test knows exactly what has happened, and when;
 * nothing here depends on luck.
 *
 * Commands to the VM:
 *   thread ID NAME [daemon|unlisted]   ok TID JAVA_ID: starts one that has run its start probe by then
 *   list ID                       the unlisted thread is in the VM's list of threads from now on
 *   stop ID                       ends it
 *   rename ID NAME
 *   class NAME [SUPER]            SUPER: another one's NAME, or reentrant, rrwl
 *   object ID CLASS [HASH]
 *   juc ID reentrant|rrwl|CLASS [HASH]
 *   move ID                       as a collector does
 *   monitor ID OBJECT [HASH]      inflates; again: another inflation at the same address
 *   owner MONITOR none|HEX
 *   state LOCK N
 *   load-juc, unload NAME
 *   flag [0|1]                    ok 0|1: what DTraceMonitorProbes is now; 0, 1: sets it before
 *   in ID COMMAND...              in that thread, answered when done
 *   go ID COMMAND..., join ID     the same, answered at once; waits for it
 * Commands within a thread (in the main thread, which is no Java thread, if "in" does not stand before):
 *   own MONITOR, stackown MONITOR ObjectMonitor::_owner becomes the JavaThread, or an address on its stack
 *   hold LOCK, free LOCK, read LOCK   exclusiveOwnerThread, firstReader
 *   enter, entered, exit, waited, notify, notifyall, quicknotify, quicknotifyall MONITOR
 *   wait MONITOR MS
 *   park LOCK|- ABSOLUTE TIME, parked, unpark ID
 *   gcbegin FULL, gcend
 *   pool begin|end MANAGER POOL INIT USED COMMITTED MAX
 *   vmop request|begin|end NAME MODE
 *   safepoint begin|end
 *   busy MS, spin MS (of CPU time; for a monitor), sleep MS
 *   storm MONITOR N               pairs of enter and entered; ok FIRED
 *   flood KIND N                  as in fakejvm_flood.h; ok FIRED
 *   hook NAME ARG...              a probe of a patched JVM; ok 0|1. ARG: a number; m:MONITOR, k:CLASS, t:THREAD (its
 *                                 tid), p:THREAD (its Parker), s:TEXT: their addresses
 *   probe NAME ARG...             the same of any JVM: one of those in fakejvm_locations.c; ok
 *   drum MONITOR                  monitor__enter, numbered from 1, from when somebody attaches to it until nobody is;
 *                                 ok LAST
 *   churn MONITOR N               N rounds in each ms of entering and parking, numbered, from when somebody attaches to
 *                                 it until nobody is; ok LAST
 *   block LOCK|-                  sets the blocker (park does it too)
 *   mark LIBRARY NAME             a span, in a library that is loaded then (late_marks.c); ok 0|1
 *   semaphores                    ok N...: of the patched JVM's probes, in their order
 */
#include "fakejvm_flood.h"
#include "fakejvm_probes.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define FIELDS_MAX 16
#define ANSWER_MAX 256

struct fields {
	int count;
	char *v[FIELDS_MAX];
};

struct thread {
	struct thread *next;
	char id[32], name[512];
	bool daemon;
	pthread_t pthread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct java_thread *jt; /* NULL: the main thread */
	oop object;
	int64_t java_id;
	int tid;
	bool ready, quit, busy, unlisted;
	char line[1024], answer[ANSWER_MAX];
};

struct named {
	struct named *next;
	char id[512];
	oop *handle; /* objects: where the object is, a root for move */
	struct object_monitor *monitor;
	struct klass *klass;
};

static struct {
	struct thread *threads;
	struct named *objects, *monitors, *classes;
	struct java_thread *spare[64]; /* HotSpot's allocator gives a JavaThread's memory to the
					  next one, too */
	int spares;
	int64_t next_java_id;
} state = {.next_java_id = 10};

static __thread struct thread *self; /* NULL in the main thread */

static int say(char *answer, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(answer, ANSWER_MAX, format, ap);
	va_end(ap);
	return 0;
}

static struct named *find(struct named *list, const char *id)
{
	for (; list; list = list->next)
		if (!strcmp(list->id, id))
			return list;
	return NULL;
}

static struct named *add(struct named **list, const char *id)
{
	struct named *n = fake_c_heap(sizeof(*n));

	snprintf(n->id, sizeof(n->id), "%s", id);
	n->next = *list;
	*list = n;
	return n;
}

static struct thread *thread_find(const char *id)
{
	for (struct thread *t = state.threads; t; t = t->next)
		if (!strcmp(t->id, id))
			return t;
	return NULL;
}

/* --- within a thread --------------------------------------------------------------------- */

static struct timespec clock_now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t;
}

static void busy(long ms, bool spin)
{
	struct timespec end = clock_now(CLOCK_THREAD_CPUTIME_ID), now;

	end.tv_sec += ms / 1000;
	end.tv_nsec += ms % 1000 * 1000000;
	if (end.tv_nsec >= 1000000000) {
		end.tv_sec++;
		end.tv_nsec -= 1000000000;
	}
	do {
		for (volatile int i = 0; i < 20000 && !spin; i++)
			;
		if (spin)
			fake_try_spin(500000); /* the clock is a system call */
		now = clock_now(CLOCK_THREAD_CPUTIME_ID);
	} while (now.tv_sec < end.tv_sec ||
		 (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec));
}

static int do_monitor(const struct fields *f, char *answer)
{
	static const char *const names[] = {"enter",  "entered", "exit",     "wait",
					    "waited", "notify",  "notifyall"};
	struct named *m = f->count > 1 ? find(state.monitors, f->v[1]) : NULL;
	int64_t java_id = self ? self->java_id : 0;
	bool fired;

	if (!m)
		return say(answer, "err no such monitor");
	if (!strcmp(f->v[0], "own")) {
		m->monitor->owner = self ? self->jt : NULL;
		return say(answer, "ok");
	}
	if (!strcmp(f->v[0], "stackown")) {
		m->monitor->owner = __builtin_frame_address(0);
		return say(answer, "ok");
	}
	if (!strncmp(f->v[0], "quick", 5)) {
		fired = fake_fire_quick_notify(!strcmp(f->v[0], "quicknotifyall"), java_id,
					       m->monitor);
		return say(answer, "ok %d", fired);
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(f->v[0], names[i])) {
			fired = fake_fire_monitor(i, java_id, m->monitor,
						  f->count > 2 ? atoll(f->v[2]) : 0);
			return say(answer, "ok %d", fired);
		}
	return -ENOENT;
}

static int do_storm(const struct fields *f, char *answer)
{
	struct named *m = f->count > 2 ? find(state.monitors, f->v[1]) : NULL;
	long fired = 0;

	if (!m)
		return say(answer, "err no such monitor");
	for (long i = atol(f->v[2]); i; i--) {
		fired += fake_fire_monitor(PROBE_ENTER, self->java_id, m->monitor, 0);
		fake_fire_monitor(PROBE_ENTERED, self->java_id, m->monitor, 0);
	}
	return say(answer, "ok %ld", fired);
}

static int do_flood(const struct fields *f, char *answer)
{
	if (f->count < 3)
		return say(answer, "err flood KIND N");
	return say(answer, "ok %ld", fake_flood(f->v[1], atol(f->v[2]), self->java_id));
}

static int do_lock(const struct fields *f, char *answer)
{
	struct named *l = f->count > 1 ? find(state.objects, f->v[1]) : NULL;

	if (!l)
		return say(answer, "err no such lock");
	if (!strcmp(f->v[0], "hold"))
		fake_put_oop(*l->handle, AOS_OWNER, self->object ? *self->jt->thread_obj : 0);
	else if (!strcmp(f->v[0], "free"))
		fake_put_oop(*l->handle, AOS_OWNER, 0);
	else
		fake_put_oop(*l->handle, RRWL_FIRST_READER, *self->jt->thread_obj);
	return say(answer, "ok");
}

static int do_park(const struct fields *f, char *answer)
{
	struct named *l;
	struct thread *t;

	if (!strcmp(f->v[0], "unpark")) {
		t = f->count > 1 ? thread_find(f->v[1]) : NULL;
		if (!t)
			return say(answer, "err no such thread");
		fake_fire_unpark(&t->jt->parker);
	} else if (!strcmp(f->v[0], "parked")) {
		fake_fire_park_end(&self->jt->parker);
		fake_put_oop(*self->jt->thread_obj, THREAD_BLOCKER, 0);
	} else {
		l = f->count > 3 ? find(state.objects, f->v[1]) : NULL;
		fake_put_oop(*self->jt->thread_obj, THREAD_BLOCKER, l ? *l->handle : 0);
		fake_fire_park_begin(&self->jt->parker, atoi(f->v[2]), atoll(f->v[3]));
	}
	return say(answer, "ok");
}

static int do_block(const struct fields *f, char *answer)
{
	struct named *l = f->count > 1 ? find(state.objects, f->v[1]) : NULL;

	fake_put_oop(*self->jt->thread_obj, THREAD_BLOCKER, l ? *l->handle : 0);
	return say(answer, "ok");
}

static struct klass *class_find(const char *name);

/* What an argument of a hook stands for. */
static uint64_t hook_arg(const char *text)
{
	const char *name = text + 2;
	struct named *m;
	struct thread *t;

	if (!text[0] || text[1] != ':')
		return strtoull(text, NULL, 0);
	m = text[0] == 'm' ? find(state.monitors, name) : NULL;
	t = text[0] == 't' || text[0] == 'p' ? thread_find(name) : NULL;
	if (m)
		return (uint64_t)m->monitor;
	if (t)
		return text[0] == 't' ? (uint64_t)t->tid : (uint64_t)&t->jt->parker;
	if (text[0] == 'k')
		return (uint64_t)class_find(name);
	return text[0] == 's' ? (uint64_t)name : 0;
}

static int do_drum(const struct fields *f, char *answer)
{
	struct named *m = f->count > 1 ? find(state.monitors, f->v[1]) : NULL;
	uint64_t args[FAKE_HOOK_ARGS] = {0, 1, 0, 1};

	if (!m || fake_fire_hook("gc__end", args) < 0)
		return say(answer, "err no such monitor, or no hooks");
	args[0] = (uint64_t)m->monitor;
	while (!fake_fire_hook("monitor__enter", args))
		;
	do
		args[1]++;
	while (fake_fire_hook("monitor__enter", args));
	return say(answer, "ok %llu", (unsigned long long)args[1] - 1);
}

static uint64_t now_ns(void)
{
	struct timespec t = clock_now(CLOCK_MONOTONIC);

	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Everything in it is told by the VM, so that all who listen must hear the same. */
static bool churn_round(uint64_t monitor, uint64_t *sequence)
{
	static uint64_t parks;
	uint64_t parker = (uint64_t)&self->jt->parker, acquired;
	bool fired;
	uint64_t n;

	fired = fake_fire_hook("monitor__enter",
			       (uint64_t[FAKE_HOOK_ARGS]){monitor, *sequence + 1}) > 0;
	acquired = now_ns();
	fake_fire_hook("monitor__entered",
		       (uint64_t[FAKE_HOOK_ARGS]){monitor, *sequence + 2, acquired});
	fake_fire_hook("monitor__exit",
		       (uint64_t[FAKE_HOOK_ARGS]){monitor, *sequence + 3, acquired, now_ns()});
	*sequence += 3;
	n = __atomic_add_fetch(&parks, 3, __ATOMIC_RELAXED);
	fake_fire_hook("park__begin", (uint64_t[FAKE_HOOK_ARGS]){n - 2, parker, 0, 0, 0, n});
	fake_fire_hook("unpark", (uint64_t[FAKE_HOOK_ARGS]){n - 1, parker, (uint64_t)self->tid});
	fake_fire_hook("park__end", (uint64_t[FAKE_HOOK_ARGS]){n, parker, 1, n - 1});
	return fired;
}

static int do_churn(const struct fields *f, char *answer)
{
	struct named *m = f->count > 2 ? find(state.monitors, f->v[1]) : NULL;
	uint64_t sequence = 0;
	bool fired = false;

	if (!m || fake_fire_hook("gc__end", (uint64_t[FAKE_HOOK_ARGS]){0}) < 0)
		return say(answer, "err no such monitor, or no hooks");
	for (bool before = false; fired || !before; usleep(1000)) {
		before |= fired;
		for (long i = atol(f->v[2]); i; i--)
			fired = churn_round((uint64_t)m->monitor, &sequence);
	}
	return say(answer, "ok %llu", (unsigned long long)sequence);
}

static int do_hook(const struct fields *f, char *answer)
{
	uint64_t args[FAKE_HOOK_ARGS] = {0};
	int n = 0, fired;

	if (!strcmp(f->v[0], "semaphores")) {
		n = snprintf(answer, ANSWER_MAX, "ok");
		for (size_t i = 0; fake_semaphore(i) >= 0; i++)
			n += snprintf(answer + n, ANSWER_MAX - (size_t)n, " %d", fake_semaphore(i));
		return 0;
	}
	for (int i = 2; i < f->count && i - 2 < FAKE_HOOK_ARGS; i++)
		args[i - 2] = hook_arg(f->v[i]);
	if (f->count > 1 && !strcmp(f->v[0], "probe"))
		return fake_fire_location(f->v[1], args) ? say(answer, "ok")
							 : say(answer, "err no such location");
	fired = f->count > 1 ? fake_fire_hook(f->v[1], args) : -1;
	if (fired < 0)
		return say(answer, "err no such hook");
	return say(answer, "ok %d", fired);
}

static int do_pool(const struct fields *f, char *answer)
{
	uint64_t sizes[4];

	if (f->count < 8)
		return say(answer, "err pool begin|end MANAGER POOL INIT USED COMMITTED MAX");
	for (int i = 0; i < 4; i++)
		sizes[i] = strtoull(f->v[4 + i], NULL, 10);
	fake_fire_pool(!strcmp(f->v[1], "begin"), f->v[2], f->v[3], sizes);
	return say(answer, "ok");
}

static int do_plain(const struct fields *f, char *answer)
{
	const char *arg = f->count > 1 ? f->v[1] : "";

	if (!strcmp(f->v[0], "gcbegin"))
		fake_fire_gc_begin(atoi(arg));
	else if (!strcmp(f->v[0], "gcend"))
		fake_fire_location("gc__end", (uint64_t[FAKE_HOOK_ARGS]){0});
	else if (!strcmp(f->v[0], "vmop") && f->count > 3)
		fake_fire_vmop(arg[0], f->v[2], atoi(f->v[3]));
	else if (!strcmp(f->v[0], "safepoint"))
		fake_fire_location(arg[0] == 'b' ? "safepoint__begin" : "safepoint__end",
				   (uint64_t[FAKE_HOOK_ARGS]){0});
	else if (!strcmp(f->v[0], "busy"))
		busy(atol(arg), false);
	else if (!strcmp(f->v[0], "spin"))
		busy(atol(arg), true);
	else if (!strcmp(f->v[0], "sleep"))
		usleep((useconds_t)atol(arg) * 1000);
	else if (!strcmp(f->v[0], "jsleep")) {
		fake_fire_sleep(true, atol(arg));
		usleep((useconds_t)atol(arg) * 1000);
		fake_fire_sleep(false, 0);
	} else if (!strcmp(f->v[0], "state"))
		self->jt->state = atoi(arg);
	else if (!strcmp(f->v[0], "rename"))
		prctl(PR_SET_NAME, arg);
	else if (!strcmp(f->v[0], "unload"))
		fake_fire_class_unloaded(arg);
	else
		return -ENOENT;
	return say(answer, "ok");
}

static int do_mark(const struct fields *f, char *answer)
{
	int fired = f->count > 2 ? fake_fire_mark(f->v[1], f->v[2]) : -1;

	return fired < 0 ? -ENOENT : say(answer, "ok %d", fired);
}

static int do_in_thread(const struct fields *f, char *answer)
{
	static const struct {
		const char *names;
		int (*run)(const struct fields *f, char *answer);
	} commands[] = {
		{" own stackown enter entered exit wait waited notify notifyall quicknotify "
		 "quicknotifyall ",
		 do_monitor},
		{" hold free read ", do_lock},
		{" park parked unpark ", do_park},
		{" storm ", do_storm},
		{" flood ", do_flood},
		{" hook probe semaphores ", do_hook},
		{" drum ", do_drum},
		{" churn ", do_churn},
		{" block ", do_block},
		{" mark ", do_mark},
		{" pool ", do_pool},
		{" gcbegin gcend vmop safepoint busy spin sleep jsleep state rename unload ",
		 do_plain},
	};
	char key[64];

	snprintf(key, sizeof(key), " %s ", f->v[0]);
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (strstr(commands[i].names, key))
			return commands[i].run(f, answer);
	return -ENOENT;
}

static void split(char *line, struct fields *ret)
{
	ret->count = 0;
	for (char *at = line; at && ret->count < FIELDS_MAX;)
		ret->v[ret->count++] = strsep(&at, "\t");
}

static void run_line(char *line, char *answer)
{
	struct fields f;

	split(line, &f);
	if (do_in_thread(&f, answer) == -ENOENT)
		say(answer, "err what is %s?", f.v[0]);
}

/* --- threads ----------------------------------------------------------------------------- */

static void java_thread_new(struct thread *t)
{
	struct java_thread *j =
		state.spares ? state.spare[--state.spares] : fake_c_heap(sizeof(*j));
	pthread_attr_t attr;
	void *low;
	size_t size;

	memset(j, 0, sizeof(*j));
	j->osthread = fake_c_heap(sizeof(*j->osthread));
	j->osthread->thread_id = t->tid;
	j->osthread->pthread_id = (uint64_t)pthread_self();
	pthread_getattr_np(pthread_self(), &attr);
	pthread_attr_getstack(&attr, &low, &size);
	pthread_attr_destroy(&attr);
	j->stack_base = (char *)low + size;
	j->stack_size = size;
	t->object = fake_object(vm.classes[CLASS_THREAD]);
	j->thread_obj = fake_handle(t->object);
	fake_put_u64(t->object, THREAD_EETOP, (uint64_t)j);
	fake_put_u64(t->object, THREAD_TID, (uint64_t)t->java_id);
	fake_put_u8(t->object, THREAD_DAEMON, t->daemon);
	fake_put_oop(t->object, THREAD_NAME, fake_string(t->name));
	t->jt = j;
}

static void *thread_run(void *arg)
{
	struct thread *t = self = arg;

	t->tid = (int)syscall(SYS_gettid);
	java_thread_new(t);
	if (!t->unlisted)
		fake_threads_publish(t->jt, NULL);
	fake_fire_thread(true, t->name, t->java_id, t->tid, t->daemon);
	pthread_mutex_lock(&t->lock);
	t->ready = true;
	for (;;) {
		t->busy = false;
		pthread_cond_broadcast(&t->changed);
		while (!t->busy && !t->quit)
			pthread_cond_wait(&t->changed, &t->lock);
		if (t->quit)
			break;
		pthread_mutex_unlock(&t->lock);
		run_line(t->line, t->answer);
		pthread_mutex_lock(&t->lock);
	}
	pthread_mutex_unlock(&t->lock);
	fake_fire_thread(false, t->name, t->java_id, t->tid, t->daemon);
	fake_put_u64(*t->jt->thread_obj, THREAD_EETOP, 0);
	fake_threads_publish(NULL, t->jt);
	return NULL;
}

static void thread_wait(struct thread *t)
{
	pthread_mutex_lock(&t->lock);
	while (t->busy || !t->ready)
		pthread_cond_wait(&t->changed, &t->lock);
	pthread_mutex_unlock(&t->lock);
}

static int cmd_thread(const struct fields *f, char *answer)
{
	struct thread *t;
	int err;

	if (f->count < 3 || thread_find(f->v[1]))
		return say(answer, "err thread ID NAME [daemon|unlisted], a new ID");
	t = fake_c_heap(sizeof(*t));
	snprintf(t->id, sizeof(t->id), "%s", f->v[1]);
	snprintf(t->name, sizeof(t->name), "%s", f->v[2]);
	t->unlisted = f->count > 3 && !strcmp(f->v[3], "unlisted");
	t->daemon = f->count > 3 && !t->unlisted;
	t->java_id = state.next_java_id++;
	t->busy = true;
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->changed, NULL);
	err = pthread_create(&t->pthread, NULL, thread_run, t);
	if (err)
		return say(answer, "err %s", strerror(err));
	t->next = state.threads;
	state.threads = t;
	thread_wait(t);
	return say(answer, "ok %d %lld", t->tid, (long long)t->java_id);
}

static int cmd_stop(const struct fields *f, char *answer)
{
	struct thread **at = &state.threads, *t = f->count > 1 ? thread_find(f->v[1]) : NULL;

	if (!t)
		return say(answer, "err no such thread");
	thread_wait(t);
	pthread_mutex_lock(&t->lock);
	t->quit = true;
	pthread_cond_broadcast(&t->changed);
	pthread_mutex_unlock(&t->lock);
	pthread_join(t->pthread, NULL);
	if (state.spares < 64)
		state.spare[state.spares++] = t->jt;
	while (*at != t)
		at = &(*at)->next;
	*at = t->next;
	return say(answer, "ok");
}

static int cmd_rename(const struct fields *f, char *answer)
{
	struct thread *t = f->count > 2 ? thread_find(f->v[1]) : NULL;

	if (!t)
		return say(answer, "err no such thread");
	fake_put_oop(*t->jt->thread_obj, THREAD_NAME, fake_string(f->v[2]));
	return say(answer, "ok");
}

static int cmd_list(const struct fields *f, char *answer)
{
	struct thread *t = f->count > 1 ? thread_find(f->v[1]) : NULL;

	if (!t)
		return say(answer, "err no such thread");
	fake_threads_publish(t->jt, NULL);
	return say(answer, "ok");
}

/* in ID COMMAND..., go ID COMMAND..., join ID */
static int cmd_in(const struct fields *f, char *answer)
{
	struct thread *t = f->count > 1 ? thread_find(f->v[1]) : NULL;
	size_t n = 0;

	if (!t)
		return say(answer, "err no such thread");
	thread_wait(t);
	if (!strcmp(f->v[0], "join"))
		return say(answer, "%s", t->answer);
	for (int i = 2; i < f->count; i++)
		n += (size_t)snprintf(t->line + n, sizeof(t->line) - n, "%s%s", i > 2 ? "\t" : "",
				      f->v[i]);
	pthread_mutex_lock(&t->lock);
	t->busy = true;
	pthread_cond_broadcast(&t->changed);
	pthread_mutex_unlock(&t->lock);
	if (!strcmp(f->v[0], "go"))
		return say(answer, "ok");
	thread_wait(t);
	return say(answer, "%s", t->answer);
}

/* --- the VM ------------------------------------------------------------------------------ */

static struct klass *class_find(const char *name)
{
	struct named *c = find(state.classes, name);

	if (c)
		return c->klass;
	if (!strcmp(name, "reentrant"))
		return vm.classes[CLASS_REENTRANT];
	if (!strcmp(name, "rrwl"))
		return vm.classes[CLASS_RRWL];
	return NULL;
}

static int cmd_class(const struct fields *f, char *answer)
{
	struct klass *super = f->count > 2 ? class_find(f->v[2]) : vm.classes[CLASS_OBJECT];

	if (f->count < 2 || !super)
		return say(answer, "err class NAME [SUPER]");
	add(&state.classes, f->v[1])->klass = fake_class(f->v[1], super, 0);
	return say(answer, "ok");
}

static int cmd_object(const struct fields *f, char *answer)
{
	struct klass *k = f->count > 2 ? class_find(f->v[2]) : NULL;
	struct named *o;

	if (!k)
		return say(answer, "err object ID CLASS [HASH]");
	o = add(&state.objects, f->v[1]);
	o->handle = fake_handle(fake_object(k));
	if (f->count > 3)
		fake_put_hash(*o->handle, (uint32_t)strtoul(f->v[3], NULL, 0));
	return say(answer, "ok %#lx", (unsigned long)*o->handle);
}

/* As a collector does it: the object, and all that refers to it. */
static int cmd_move(const struct fields *f, char *answer)
{
	struct named *o = f->count > 1 ? find(state.objects, f->v[1]) : NULL;
	oop from, to;

	if (!o)
		return say(answer, "err no such object");
	from = *o->handle;
	to = *o->handle = fake_object_move(from);
	for (struct named *m = state.monitors; m; m = m->next)
		if (*m->monitor->object == from)
			*m->monitor->object = to;
	for (struct thread *t = state.threads; t; t = t->next)
		if (fake_get_oop(*t->jt->thread_obj, THREAD_BLOCKER) == from)
			fake_put_oop(*t->jt->thread_obj, THREAD_BLOCKER, to);
	return say(answer, "ok %#lx", (unsigned long)to);
}

static int cmd_monitor(const struct fields *f, char *answer)
{
	struct named *o = f->count > 2 ? find(state.objects, f->v[2]) : NULL, *m;

	if (!o)
		return say(answer, "err monitor ID OBJECT [HASH]");
	m = find(state.monitors, f->v[1]);
	if (!m) {
		m = add(&state.monitors, f->v[1]);
		m->monitor = fake_c_heap(sizeof(*m->monitor));
	}
	m->monitor->owner = NULL;
	m->monitor->object = fake_handle(*o->handle);
	m->monitor->header = 1;
	if (f->count > 3)
		m->monitor->header |= strtoul(f->v[3], NULL, 0) << FAKE_HASH_SHIFT;
	return say(answer, "ok %p", (void *)m->monitor);
}

static int cmd_owner(const struct fields *f, char *answer)
{
	struct named *m = f->count > 2 ? find(state.monitors, f->v[1]) : NULL;

	if (!m)
		return say(answer, "err no such monitor");
	m->monitor->owner = strcmp(f->v[2], "none") ? (void *)strtoul(f->v[2], NULL, 0) : NULL;
	return say(answer, "ok");
}

static int cmd_state(const struct fields *f, char *answer)
{
	struct named *l = f->count > 2 ? find(state.objects, f->v[1]) : NULL;

	if (!l)
		return say(answer, "err no such lock");
	fake_put_u32(*l->handle, AQS_STATE, (uint32_t)strtoul(f->v[2], NULL, 0));
	if (fake_object_class(*l->handle) == vm.classes[CLASS_RRWL]) /* where JDK 25 has it */
		fake_put_u64(*l->handle, AQLS_STATE, strtoul(f->v[2], NULL, 0));
	return say(answer, "ok");
}

static int cmd_flag(const struct fields *f, char *answer)
{
	if (f->count > 1)
		vm.monitor_probes = f->v[1][0] == '1';
	return say(answer, "ok %d", vm.monitor_probes);
}

static int cmd_load_juc(const struct fields *f, char *answer)
{
	(void)f;
	fake_load_juc();
	return say(answer, "ok");
}

static int do_command(const struct fields *f, char *answer)
{
	static const struct {
		const char *name;
		int (*run)(const struct fields *f, char *answer);
	} commands[] = {
		{"thread", cmd_thread}, {"stop", cmd_stop},       {"rename", cmd_rename},
		{"in", cmd_in},         {"go", cmd_in},           {"join", cmd_in},
		{"list", cmd_list},
		{"class", cmd_class},   {"object", cmd_object},   {"juc", cmd_object},
		{"move", cmd_move},     {"monitor", cmd_monitor}, {"owner", cmd_owner},
		{"state", cmd_state},   {"flag", cmd_flag},       {"load-juc", cmd_load_juc},
	};

	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (!strcmp(f->v[0], commands[i].name))
			return commands[i].run(f, answer);
	return do_in_thread(f, answer);
}

static void vm_init(bool narrow, bool late_juc)
{
	vm.use_g1 = true;
	vm.release = "17.0.99+1-fake";
	vm.info = "Fake 64-Bit Server VM (17.0.99+1-fake) for linux-amd64 JRE (17.0.99+1-fake)";
	vm.major = FAKE_MAJOR;
	vm.security = 99;
	vm.build = 1;
	vm.threads = fake_c_heap(sizeof(*vm.threads));
	vm.threads->threads = fake_c_heap(8);
	fake_heap_init(narrow, late_juc);
}

int fake_main(int argc, char **argv)
{
	bool narrow = false, late_juc = false;
	char line[1024], answer[ANSWER_MAX];
	struct fields f;

	for (int i = 1; i < argc; i++) {
		narrow |= !strcmp(argv[i], "--narrow");
		late_juc |= !strcmp(argv[i], "--late-juc");
	}
	vm_init(narrow, late_juc);
	fake_flags_init(argc, argv);
	fake_tables_init(argc, argv);
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("ok %d %ld\n", (int)getpid(), syscall(SYS_gettid));
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = 0;
		split(line, &f);
		if (!strcmp(f.v[0], "quit"))
			return f.count > 1 ? atoi(f.v[1]) : 0;
		if (do_command(&f, answer) == -ENOENT)
			say(answer, "err what is %s?", f.v[0]);
		puts(answer);
	}
	return 0;
}
