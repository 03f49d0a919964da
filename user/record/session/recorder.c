/*
 * The order of things, so that whatever fails leaves nothing behind in the target:
 *   open the JVM -> load BPF -> attach -> turn the flag on -> create the log -> record
 *   -> put the flag back -> detach -> drain the ring -> last samples -> close the log.
 * The flag is last to go on and first to go off: it is the only thing that is written to the
 * target, and a patched JVM does not need it. Should this process die at any point, the kernel
 * detaches the programs with its descriptors, and the guardian of jvm_flag_hold() puts the flag
 * back.
 */
#include "record/session/recorder.h"

#include <errno.h>
#include <linux/types.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/msg.h"
#include "base/units.h"
#include "base/version.h"
#include "bpf/wire/wire.h"
#include "bpf/wire/wire_stack.h"
#include "jvm/code/code.h"
#include "jvm/jvm.h"
#include "jvm/native.h"
#include "jvm/target/parser.h"
#include "log/format/event.h"
#include "log/write/output.h"
#include "log/write/writer.h"
#include "record/decode/chains.h"
#include "record/decode/ids.h"
#include "record/decode/losses.h"
#include "record/decode/memory.h"
#include "record/decode/translate.h"
#include "record/flight/dumps.h"
#include "record/kernel/hooks.h"
#include "record/kernel/programs.h"
#include "record/session/host.h"
#include "record/session/limits.h"
#include "record/session/log_error.h"
#include "record/session/monitor_flag.h"
#include "record/session/notes.h"
#include "record/session/vouched_facts.h"
#include "steal/procstat.h"

#define POLL_MS 50       /* how long a record may lie in the ring */
#define DRAIN_MS 100     /* how long the ring is drained at a time */
#define DRAIN_LOOK 16    /* after so many records it is looked whether they are over */
#define STARTING_MS 3000 /* how long a JVM may take from mapping libjvm.so to relocating it */
#define STARTING_SHORT_MS 300
#define FLUSH_NS NS_PER_S
#define REFRESH_MS 200 /* while the JVM is starting up */
#define NAMES_EACH_WINDOW                                                                          \
	512 /* Java threads whose names are read anew in each window; more: in each tenth */

struct recorder {
	struct jvm *j;
	struct programs *p;
	struct monitor_flag flag;
	struct log_writer *w;
	struct dumps *dumps; /* NULL: no flight recorder */
	void (*dumped)(void *ctx, const struct dump *d);
	void *dumped_ctx;
	struct ids *ids;
	struct chains *chains;
	struct translate *t;
	struct code *code;     /* NULL: no stacks are walked (yet) */
	struct native *native; /* NULL: not needed yet */
	bool without_stacks;
	const char *no_stacks; /* why call chains are missing; NULL: they are not */
	struct memory memory;
	struct losses losses;
	uint64_t window_ns, start_ns, next_window, next_refresh, next_flush;
	uint64_t windows, starting_until;
	uint64_t records;
	uint64_t drain_until; /* of the draining that goes on; UINT64_MAX: to the ring's end */
	unsigned names_every;
	bool starting;
	bool contended;    /* in this window */
	bool replaced;     /* the JVM, by another program */
	bool names_missed; /* has been said */
	bool noted[JVM_LIMIT_COUNT]; /* of what the JVM lacks */
	struct wire_cpu *cpus;
	struct procstat_cpu *stat;
	unsigned cpu_count;
	struct hooks hooks;
	bool patched;        /* the hooks are used */
	char hooks_why[200]; /* why hooks that are there are not used; "": they are */
	struct flag_hold_end flag_end;
};

static int fail(char why[RECORDER_WHY_MAX], int err, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(why, RECORDER_WHY_MAX, format, ap);
	va_end(ap);
	return err;
}

/* BPF asks how to get from a pc in native code to its caller; asked once for each. */
static void answer_rule(struct recorder *r, const struct wire_native *n)
{
	struct wire_native_rule rule = {.flags = WIRE_RULE_UNUSABLE};
	uint64_t pc = n->pc & ~WIRE_RULE_RETURN;
	struct unwind_rule u;
	int err;

	if (!r->native && native_new(r->j, &r->native))
		return;
	err = native_rule(r->native, pc, pc != n->pc, &u);
	if (err == -ETIME || err == -ELIBBAD || err == -ECHILD)
		notes_write(r->w, NOTE_LEVEL_WARNING,
			    "the unwind tables of one of the JVM's libraries could not be parsed: "
			    "call chains that begin in it are missing");
	if (!err && u.rbp_offset == (int16_t)u.rbp_offset) {
		rule.cfa_offset = u.cfa_offset;
		rule.rbp_offset = (int16_t)u.rbp_offset;
		rule.flags = (u.cfa_from_rbp ? WIRE_RULE_CFA_RBP : 0) |
			     (u.rbp_saved ? WIRE_RULE_RBP_SAVED : 0);
	}
	programs_set_native_rule(r->p, n->pc, &rule);
}

/*
 * A target that fires its probes as fast as its records are translated has always more of them in
 * the ring. An error ends libbpf's round behind this record, and the others stay in the ring, which
 * polls readable.
 */
static int on_record(void *ctx, void *data, size_t size)
{
	const struct wire_head *h = data;
	struct recorder *r = ctx;

	if (size < sizeof(struct wire_native) || h->kind != WIRE_NATIVE) {
		translate_record(r->t, data, size);
		if (++r->records % DRAIN_LOOK)
			return 0;
	} else if (!programs_detached(r->p)) { /* else nobody walks any more */
		answer_rule(r, data);
	}
	return clock_mono_ns() < r->drain_until ? 0 : -EAGAIN;
}

/* Until the ring is empty or DRAIN_MS are over; it gets no more records, and is drained to its end,
 * when nothing is attached. */
static void drain(struct recorder *r)
{
	r->drain_until =
		programs_detached(r->p) ? UINT64_MAX : clock_mono_ns() + DRAIN_MS * NS_PER_MS;
	programs_consume(r->p);
}

/* Lets BPF walk stacks as soon as everything that it takes is known. */
static void refresh_code(struct recorder *r)
{
	const struct code_layout *l;

	if (r->without_stacks)
		return;
	l = jvm_code_layout(r->j, &r->no_stacks);
	if (r->code || !l || jvm_code_refresh(r->j) <= 0 || code_new(jvm_mem(r->j), l, &r->code))
		return;
	if (r->chains)
		chains_resolve_by(r->chains, r->code);
	programs_set_code(r->p);
}

static void refresh(struct recorder *r)
{
	refresh_code(r);
	if (jvm_layout_refresh(r->j) > 0) {
		programs_set_layout(r->p);
		programs_set_java_threads(r->p);
	}
}

/* --- attaching --------------------------------------------------------------------------- */

/* True: something may be there now that was not a millisecond ago. */
static bool starting_wait(const struct recorder *r)
{
	struct timespec ms = {.tv_nsec = (long)NS_PER_MS};

	if (clock_mono_ns() > r->starting_until || (r->j && !jvm_alive(r->j)))
		return false;
	nanosleep(&ms, NULL);
	return true;
}

/* A patched JVM has probes that tell more, and need no flag. */
static int choose_probes(struct recorder *r, const struct recorder_options *o,
			 char why[RECORDER_WHY_MAX])
{
	int err = hooks_read(r->j, &r->hooks);

	if (err)
		return fail(why, err, "%s cannot be read: %s", jvm_libjvm_name(r->j),
			    parser_error_text(err));
	r->patched = r->hooks.usable && !o->stock_probes;
	if (!r->patched && r->hooks.version)
		snprintf(r->hooks_why, sizeof(r->hooks_why), "%s",
			 o->stock_probes ? "--stock-probes was given" : r->hooks.why);
	return 0;
}

static bool monitor_recorded(const struct recorder *r)
{
	return strcmp(r->flag.state, "missing") != 0;
}

static json_t *describe_sources(const struct recorder *r)
{
	json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:I}", "steal",
			      programs_steal_clock(r->p), "sched", "tp_btf", "throttled",
			      programs_throttle_clock(r->p), "monitor", r->flag.state, "probes",
			      programs_attached(r->p), "probes_missing", programs_missing(r->p),
			      "owner_sample_ns", (json_int_t)programs_owner_period_ns(r->p));

	if (o && r->hooks_why[0])
		json_object_set_new(o, "hooks_why", json_string(r->hooks_why));
	if (o && r->no_stacks)
		json_object_set_new(o, "stacks_missing", json_string(r->no_stacks));
	if (o && r->flag.why[0])
		json_object_set_new(o, "monitor_why", json_string(r->flag.why));
	return o;
}

static json_t *describe_jvm(const struct recorder *r, enum command_line how)
{
	json_t *jvm = jvm_describe(r->j, how);

	if (jvm)
		json_object_set_new(jvm, "kind", json_string(r->patched ? "patched" : "stock"));
	if (jvm && r->hooks.version)
		json_object_set_new(jvm, "hooks", json_integer(r->hooks.version));
	return jvm;
}

static json_t *describe(const struct recorder *r, const struct recorder_options *o)
{
	uint64_t wall = clock_wall_ns(), mono = clock_mono_ns();
	char boot_id[40];

	host_boot_id(boot_id);
	return json_pack(
		"{s:s, s:s, s:s, s:I, s:I, s:o, s:o, s:o, s:{s:O?, s:I, s:I, s:I, s:b, s:b, s:b}, "
		"s:o}",
		"spoor", SPOOR_VERSION, "boot_id", boot_id, "clock", "CLOCK_MONOTONIC",
		"start_mono_ns", (json_int_t)mono, "start_wall_ns", (json_int_t)wall, "host",
		host_describe(), "jvm", describe_jvm(r, o->command_line), "sources",
		describe_sources(r), "record", "command", o->command, "window_ns",
		(json_int_t)o->window_ns, "off_cpu_ns", (json_int_t)o->off_cpu_ns, "buffer_bytes",
		(json_int_t)o->buffer_bytes, "no_write", (int)o->no_write, "no_stacks",
		(int)o->no_stacks, "stock_probes", (int)o->stock_probes, "facts",
		facts_describe(r->patched, jvm_layout(r->j)->monitor_owner_is_address));
}

static int create_flight(struct recorder *r, const struct recorder_options *o,
			 struct log_writer_options *log)
{
	struct dumps_options flight = o->flight;

	flight.path = o->log.path;
	flight.max_bytes = o->log.max_bytes;
	log->keep_ns = flight.keep_ns;
	log->watch = dumps_watch;
	r->dumped = o->dumped;
	r->dumped_ctx = o->dumped_ctx;
	if (dumps_new(&flight, &r->dumps, &log->output))
		return -ENOMEM;
	log->watch_ctx = r->dumps;
	return 0;
}

static int create_log(struct recorder *r, const struct recorder_options *o,
		      char why[RECORDER_WHY_MAX])
{
	struct log_writer_options log = o->log;
	char text[LOG_EXISTS_MAX];
	json_t *header;
	int err = o->flight.keep_ns ? create_flight(r, o, &log) : 0;

	if (err)
		return fail(why, err, "out of memory");
	memory_divide(&r->memory, o->max_memory, o->max_memory_other);
	log.carry = &r->memory.part[MEMORY_CARRY];
	header = describe(r, o);
	err = header ? log_writer_open(&log, header, &r->w) : -ENOMEM;
	json_decref(header);
	if (err == -EEXIST)
		return fail(why, -EEXIST, "%s", log_exists_text(&o->log, text));
	if (err)
		return fail(why, err, "%s cannot be written: %s", o->log.path, log_error_text(err));
	err = ids_new(r->w, &r->memory, &r->ids);
	if (!err)
		err = chains_new(r->w, &r->memory, programs_class_epoch(r->p), &r->chains);
	if (!err && r->code)
		chains_resolve_by(r->chains, r->code);
	if (!err)
		err = translate_new(r->ids, r->chains, r->w, &r->t);
	return err ? fail(why, err, "out of memory") : 0;
}

/*
 * Between the mapping of libjvm.so and its relocation its tables are there, but their pointers are
 * not: then they name no flag, and what was read of them is thrown away.
 */
static int open_jvm(struct recorder *r, pid_t pid, char why[RECORDER_WHY_MAX])
{
	char *jvm_why;
	bool on;
	int err;

	for (;;) {
		jvm_why = NULL;
		err = jvm_open(pid, &r->j, &jvm_why);
		if (err)
			fail(why, err, "%s", jvm_why ? jvm_why : strerror(-err));
		free(jvm_why);
		if (err && err != -ENOTSUP)
			return err;
		if (!err && jvm_flag_read(r->j, MONITOR_FLAG, &on) != -ENOENT)
			return 0;
		if (!err && !jvm_layout(r->j)->ready && !r->starting) { /* it is starting indeed */
			r->starting = true;
			r->starting_until = clock_mono_ns() + STARTING_MS * NS_PER_MS;
		}
		if (!starting_wait(r))
			return err;
		jvm_close(r->j);
		r->j = NULL;
	}
}

/* The header has the JVM's flags and version: these are final when the heap is set up. */
static void wait_until_ready(struct recorder *r)
{
	while (!jvm_layout(r->j)->ready && starting_wait(r))
		refresh(r);
}

static int attach(struct recorder *r, const struct recorder_options *o, char why[RECORDER_WHY_MAX])
{
	struct programs_options po = {.buffer_bytes = o->buffer_bytes,
				      .off_cpu_ns = o->off_cpu_ns,
				      .record = on_record,
				      .ctx = r};
	int err;

	/* A pid may be that of a JVM in its first milliseconds too: it is worth a short wait. */
	r->starting_until =
		clock_mono_ns() + (o->starting ? STARTING_MS : STARTING_SHORT_MS) * NS_PER_MS;
	err = open_jvm(r, o->pid, why);
	if (err)
		return err;
	err = choose_probes(r, o, why);
	if (err)
		return err;
	po.patched = r->patched;
	err = programs_load(r->j, &po, &r->p, why);
	if (err)
		return err;
	r->cpu_count = (unsigned)sysconf(_SC_NPROCESSORS_CONF);
	if (r->cpu_count > WIRE_CPUS_MAX)
		r->cpu_count = WIRE_CPUS_MAX;
	r->cpus = calloc(r->cpu_count, sizeof(*r->cpus));
	r->stat = calloc(r->cpu_count, sizeof(*r->stat));
	if (!r->cpus || !r->stat)
		return fail(why, -ENOMEM, "out of memory");
	refresh_code(r); /* so that the first event has its chain */
	err = programs_attach(r->p, why);
	if (err)
		return err;
	if (o->before_write)
		o->before_write(o->before_write_ctx);
	if (r->patched)
		monitor_flag_not_needed(&r->flag);
	else
		monitor_flag_hold(r->j, o->guard, o->no_write, &r->flag);
	programs_set_first_reasons(r->p, monitor_recorded(r));
	wait_until_ready(r);
	return 0;
}

static void discard(struct recorder *r)
{
	if (!r)
		return;
	monitor_flag_release(&r->flag, NULL);
	programs_free(r->p);
	translate_free(r->t);
	chains_free(r->chains);
	code_free(r->code);
	native_free(r->native);
	ids_free(r->ids);
	log_writer_close(r->w);
	dumps_free(r->dumps);
	jvm_close(r->j);
	free(r->cpus);
	free(r->stat);
	free(r);
}

/* --- samples ----------------------------------------------------------------------------- */

static void write_cpu(struct recorder *r, unsigned cpu, uint64_t now)
{
	const struct wire_cpu *c = &r->cpus[cpu];
	const struct procstat_cpu *s = &r->stat[cpu];
	struct event e = {.id = EVENT_CPU_SAMPLE, .time_ns = now};
	/* What has been stolen since the last switch belongs to whoever is on the CPU. */
	uint64_t open = c->seen && c->sample_ns > c->clock_ns ? c->sample_ns - c->clock_ns : 0;

	e.v[CPU_SAMPLE_CPU].u = cpu;
	e.v[CPU_SAMPLE_CLOCK_NS].u = c->seen ? c->clock_ns + open - c->base_ns : 0;
	e.v[CPU_SAMPLE_JVM_STOLEN_NS].u =
		c->jvm_stolen_ns + (c->current == WIRE_CPU_JVM ? open : 0);
	e.v[CPU_SAMPLE_OTHER_STOLEN_NS].u =
		c->other_stolen_ns + (c->current == WIRE_CPU_OTHER ? open : 0);
	e.v[CPU_SAMPLE_IDLE_STOLEN_NS].u =
		c->idle_stolen_ns + (c->current == WIRE_CPU_IDLE ? open : 0);
	e.v[CPU_SAMPLE_STAT_USER].u = s->user;
	e.v[CPU_SAMPLE_STAT_SYSTEM].u = s->system;
	e.v[CPU_SAMPLE_STAT_IDLE].u = s->idle;
	e.v[CPU_SAMPLE_STAT_STEAL].u = s->steal;
	log_write(r->w, &e);
}

static void sample(struct recorder *r)
{
	uint64_t now;

	procstat_read(r->stat, r->cpu_count);
	now = clock_mono_ns();
	if (!programs_sample_cpus(r->p, r->cpus, r->cpu_count))
		for (unsigned i = 0; i < r->cpu_count; i++)
			if (r->cpus[i].seen || r->stat[i].idle)
				write_cpu(r, i, now);
	programs_sample_threads(r->p);
	drain(r);
}

static void write_losses(struct recorder *r)
{
	uint64_t lost[LOSSES_KEYS], walks[WALK_RESULT_COUNT];

	if (!programs_lost(r->p, lost, LOSSES_KEYS))
		losses_write_lost(&r->losses, lost, r->t, r->w);
	if (!programs_walks(r->p, walks))
		losses_write_walks(&r->losses, walks, r->chains, r->w);
	chains_count(r->chains);
	memory_write(&r->memory, r->w, clock_mono_ns());
}

static void read_names(struct recorder *r)
{
	struct jvm_thread *threads;
	size_t count;
	int err = jvm_threads(r->j, &threads, &count);

	if (err == -EAGAIN && jvm_layout(r->j)->ready && !r->names_missed) {
		r->names_missed = true;
		notes_write(r->w, NOTE_LEVEL_WARNING,
			    "the JVM's list of threads does not make sense: names of threads may "
			    "be missing");
	}
	if (err)
		return;
	for (size_t i = 0; i < count; i++)
		ids_thread_known(r->ids, &threads[i], clock_mono_ns());
	free(threads);
	r->names_every = count > NAMES_EACH_WINDOW ? 10 : 1;
}

static void look_for_exec(struct recorder *r)
{
	r->replaced = jvm_replaced(r->j);
	if (r->replaced)
		notes_write(r->w, NOTE_LEVEL_INFO,
			    "the JVM has ended: its process runs another program now (exec)");
}

/* What has happened is out of this process a second later. */
static void flush(struct recorder *r)
{
	log_writer_flush(r->w);
	r->next_flush = clock_mono_ns() + FLUSH_NS;
}

static void window(struct recorder *r)
{
	programs_look_for_marks(r->p, notes_marks, r->w);
	refresh(r);
	notes_support(r->w, r->j, r->noted);
	sample(r);
	translate_flush(r->t, clock_mono_ns() - NS_PER_S);
	write_losses(r);
	programs_sample_owners(r->p, r->contended);
	r->contended = false;
	if (++r->windows % r->names_every == 0)
		read_names(r);
	look_for_exec(r);
	flush(r);
}

/* The hooks are there and are not used: readers of the log should know. */
static void note_hooks(struct recorder *r)
{
	char text[sizeof(r->hooks_why) + 64];

	if (!r->hooks_why[0])
		return;
	snprintf(text, sizeof(text), "the JVM is patched, but its stock probes were used: %s",
		 r->hooks_why);
	notes_write(r->w, r->hooks.usable ? NOTE_LEVEL_INFO : NOTE_LEVEL_WARNING, text);
}

static void note_found_off(struct recorder *r)
{
	char text[sizeof(MONITOR_FLAG_FOUND_OFF) + 16];

	snprintf(text, sizeof(text), MONITOR_FLAG_FOUND_OFF, r->flag_end.found_off);
	if (r->flag_end.found_off)
		notes_write(r->w, NOTE_LEVEL_WARNING, text);
}

/* --- the public side --------------------------------------------------------------------- */

int recorder_open(const struct recorder_options *o, struct recorder **ret,
		  char why[RECORDER_WHY_MAX])
{
	char text[LOG_EXISTS_MAX];
	struct recorder *r;
	int err;

	/* Before anything is touched; log_writer_open() looks again. */
	if (log_exists(&o->log))
		return fail(why, -EEXIST, "%s", log_exists_text(&o->log, text));
	r = calloc(1, sizeof(*r));
	if (!r)
		return fail(why, -ENOMEM, "out of memory");
	r->window_ns = o->window_ns;
	r->names_every = 1;
	r->without_stacks = o->no_stacks;
	if (o->no_stacks)
		r->no_stacks = "--no-stacks was given";
	limits_raise_files();
	err = attach(r, o, why);
	if (err == -EMFILE)
		limits_files_why(why, RECORDER_WHY_MAX);
	if (!err)
		err = create_log(r, o, why);
	if (err) {
		discard(r);
		return err;
	}
	r->start_ns = clock_mono_ns();
	r->next_window = r->start_ns + r->window_ns;
	note_hooks(r);
	notes_support(r->w, r->j, r->noted);
	if (r->flag.left)
		notes_write(r->w, NOTE_LEVEL_INFO, MONITOR_FLAG_LEFT);
	programs_look_for_marks(r->p, notes_marks, r->w);
	drain(r);
	sample(r);
	read_names(r);
	flush(r);
	*ret = r;
	return 0;
}

static void tell_dumps(struct recorder *r)
{
	struct dump d;

	while (dumps_next(r->dumps, &d))
		r->dumped(r->dumped_ctx, &d);
}

static int pass_dumps(struct recorder *r, uint64_t now)
{
	int err = dumps_pass(r->dumps, r->w, now);

	tell_dumps(r);
	return err;
}

/* The last file, which has the log's own end. */
static void write_last_dump(struct recorder *r, enum recorder_end end)
{
	static const char *const why[] = {
		[RECORDER_DONE] = "the recording's time was over",
		[RECORDER_INTERRUPTED] = "the recording was interrupted",
		[RECORDER_JVM_EXITED] = "the JVM has ended",
		[RECORDER_JVM_KILLED] = "the JVM was killed",
		[RECORDER_FAILED] = "the recording has failed",
	};

	dumps_wait(r->dumps);
	if (!dumps_write(r->dumps, r->w, why[end], true))
		dumps_wait(r->dumps);
	tell_dumps(r);
}

int recorder_dump(struct recorder *r, const char *reason, char why[RECORDER_WHY_MAX])
{
	int err = dumps_write(r->dumps, r->w, reason, false);

	return err ? fail(why, err, "the flight recorder's memory cannot be taken: %s",
			  log_error_text(err))
		   : 0;
}

static int poll_timeout(const struct recorder *r, uint64_t now, uint64_t deadline)
{
	uint64_t until = r->next_window < deadline ? r->next_window : deadline;
	uint64_t ms = until > now ? (until - now + NS_PER_MS - 1) / NS_PER_MS : 0;

	return ms < POLL_MS ? (int)ms : POLL_MS;
}

int recorder_run(struct recorder *r, int timeout_ms, int fd, char why[RECORDER_WHY_MAX])
{
	struct pollfd fds[] = {{.fd = programs_fd(r->p), .events = POLLIN},
			       {.fd = jvm_pidfd(r->j), .events = POLLIN},
			       {.fd = fd, .events = POLLIN}};
	uint64_t now = clock_mono_ns(), deadline = now + (uint64_t)timeout_ms * NS_PER_MS;
	int err;

	do {
		if (poll(fds, 3, poll_timeout(r, now, deadline)) < 0 && errno != EINTR)
			return fail(why, -errno, "poll: %s", strerror(errno));
		drain(r);
		if (translate_contended(r->t) && !r->contended) {
			r->contended = true;
			programs_sample_owners(r->p, true);
		}
		now = clock_mono_ns();
		if (translate_wants_refresh(r->t) ||
		    ((!jvm_layout(r->j)->ready || (!r->code && !r->no_stacks)) &&
		     now >= r->next_refresh)) {
			refresh(r);
			r->next_refresh = now + REFRESH_MS * NS_PER_MS;
		}
		if (now >= r->next_window) {
			window(r);
			r->next_window +=
				r->window_ns * (1 + (now - r->next_window) / r->window_ns);
		}
		if (now >= r->next_flush)
			flush(r);
		err = r->dumps ? pass_dumps(r, now) : 0;
		if (!err)
			err = log_writer_error(r->w);
		if (!err)
			err = ids_error(r->ids);
		if (!err)
			err = chains_error(r->chains);
		if (err)
			return fail(why, err,
				    "the log cannot be written any more: %s; what was written "
				    "before can be read",
				    log_error_text(err));
		if (r->replaced)
			return fail(why, 2, "the process runs another program now");
		if (fds[1].revents & POLLIN)
			return 2;
		if (fds[2].revents & (POLLIN | POLLHUP))
			return 1;
	} while (now < deadline);
	return 0;
}

void recorder_stats(const struct recorder *r, struct recorder_stats *ret)
{
	log_writer_stats(r->w, &ret->log);
	ret->elapsed_ns = clock_mono_ns() - r->start_ns;
	ret->lost = r->losses.total;
	ret->lost_ring = r->losses.ring;
	ret->given_up = memory_given_up(&r->memory);
	ret->passed_over = r->dumps ? dumps_passed_over(r->dumps) : 0;
	ret->flag = r->flag_end;
}

bool recorder_monitor_missing(const struct recorder *r)
{
	return !monitor_recorded(r);
}

bool recorder_flag_left(const struct recorder *r)
{
	return r->flag.left;
}

const char *recorder_probes_missing(const struct recorder *r, char *buf, size_t size)
{
	json_t *list = programs_missing(r->p), *name;
	size_t i, at = 0;

	buf[0] = 0;
	json_array_foreach (list, i, name) {
		if (at < size)
			at += (size_t)snprintf(buf + at, size - at, "%s%s", at ? ", " : "",
					       json_string_value(name));
	}
	json_decref(list);
	return buf;
}

void recorder_support(const struct recorder *r, struct jvm_support *ret)
{
	jvm_support(r->j, ret);
	if (r->without_stacks)
		*ret->text[JVM_LIMIT_STACKS] = 0;
}

const char *recorder_monitor_why(const struct recorder *r)
{
	return r->flag.why;
}

const char *recorder_hooks_unused(const struct recorder *r)
{
	return r->hooks_why[0] && !r->hooks.usable ? r->hooks_why : NULL;
}

static void write_end(struct recorder *r, enum recorder_end end)
{
	struct event e = {.id = EVENT_END, .time_ns = clock_mono_ns()};

	_Static_assert((int)RECORDER_FAILED == (int)END_REASON_FAILED &&
			       (int)RECORDER_DONE == (int)END_REASON_DONE,
		       "end_reason of events.json follows enum recorder_end");
	e.v[END_REASON].u = end;
	log_write(r->w, &e);
}

int recorder_close(struct recorder *r, enum recorder_end end, struct recorder_stats *ret_stats,
		   char why[RECORDER_WHY_MAX])
{
	int flag_err, log_err, pid = (int)jvm_pid(r->j);

	drain(r);
	flag_err = monitor_flag_release(&r->flag, &r->flag_end);
	if (end != RECORDER_JVM_EXITED && end != RECORDER_JVM_KILLED)
		read_names(r);
	programs_detach(r->p);
	drain(r);
	sample(r);
	translate_flush(r->t, UINT64_MAX);
	write_losses(r);
	note_found_off(r);
	log_note_less(r->w, clock_mono_ns());
	write_end(r, end);
	if (r->dumps)
		write_last_dump(r, end);
	log_writer_finish(r->w);
	if (ret_stats)
		recorder_stats(r, ret_stats);
	log_err = log_writer_close(r->w);
	r->w = NULL;
	discard(r);
	if (log_err)
		return fail(why, log_err,
			    "the log is not complete: %s; what was written before can be read",
			    log_error_text(log_err));
	if (flag_err)
		return fail(why, flag_err,
			    "the flag " MONITOR_FLAG
			    " could not be turned off again in the JVM: %s (it costs nothing "
			    "measurable while nobody records); spoor doctor --repair -p %d "
			    "tries that again",
			    flag_err == -EBUSY ? "it is still on" : strerror(-flag_err), pid);
	return 0;
}
