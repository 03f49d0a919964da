/* What is done once, before anything is recorded: from a pid to a log whose header is written. */
#include "record/session/recorder_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/text/units.h"
#include "base/version.h"
#include "bpf/wire/wire_cpu.h"
#include "jvm/code/code.h"
#include "jvm/elf/parser.h"
#include "jvm/native.h"
#include "jvm/native_symbols.h"
#include "jvm/target/labels.h"
#include "record/decode/chains.h"
#include "record/decode/fragments.h"
#include "record/decode/translate.h"
#include "record/identity/ids.h"
#include "record/kernel/bpf_session.h"
#include "record/kernel/features/softirq.h"
#include "record/session/basis_facts.h"
#include "record/session/host.h"
#include "record/session/limits.h"
#include "record/session/log_error.h"
#include "record/session/notes.h"
#include "steal/sources/procstat.h"

#define STARTING_MS 3000 /* how long a JVM may take from mapping libjvm.so to relocating it */
#define STARTING_SHORT_MS 300

/* True: something may be there now that was not a millisecond ago. */
static bool starting_wait(const struct recorder *r)
{
	struct timespec ms = {.tv_nsec = (long)NS_PER_MS};

	if (clock_mono_ns() > r->starting_until || (r->j && !jvm_alive(r->j)))
		return false;
	nanosleep(&ms, NULL);
	return true;
}

/*
 * A patched JVM has probes that report more, and need no flag. What is taken of a stock JVM: see
 * probes_auto().
 */
static int choose_probes(struct recorder *r, const struct recorder_options *o,
			 char why[RECORDER_WHY_MAX])
{
	const char *lacks = switches_lack(r->j);
	int err = hooks_read(r->j, &r->hooks);

	if (err)
		return recorder_fail(why, err, "%s cannot be read: %s", jvm_libjvm_name(r->j),
				     parser_error_text(err));
	r->probes = o->probes;
	if (r->probes == PROBES_AUTO)
		r->probes = probes_auto(r->j, &r->hooks);
	if (probes_hooked(r->probes) && !r->hooks.usable)
		return recorder_fail(
			why, -ENOTSUP, "--probes %s: the hooks of %s cannot be used: %s",
			probe_set_names[r->probes], jvm_libjvm_name(r->j),
			r->hooks.version ? r->hooks.why : "it is not a patched JVM (make jvm)");
	if (probes_by_switches(r->probes) && lacks)
		return recorder_fail(why, -ENOTSUP,
				     "--probes %s: %s does not say in its vmStructs where %s is, "
				     "so that the reason for which a thread blocks cannot be read; "
				     "record with --probes usdt",
				     probe_set_names[r->probes], jvm_libjvm_name(r->j), lacks);
	if (r->probes == PROBES_MONITORS && jvm_has_virtual(r->j))
		return recorder_fail(why, -ENOTSUP,
				     "--probes monitors: the scheduler sees no parks of virtual "
				     "threads, which this JVM has; record with --probes hooks");
	if (!probes_hooked(r->probes) && r->hooks.version)
		snprintf(r->hooks_why, sizeof(r->hooks_why), "%s",
			 !r->hooks.usable           ? r->hooks.why
			 : r->probes == PROBES_NONE ? "--probes none was given"
						    : "--probes usdt was given");
	return 0;
}

bool recorder_has_monitors(const struct recorder *r)
{
	return strcmp(r->flag.state, "missing") != 0;
}

bool recorder_sees_unmounted(const struct recorder *r)
{
	return probes_hooked(r->probes) || bpf_session_has_all(r->p, PROBE_OF_FUNCTION);
}

/* Why parks of virtual threads that unmount are not recorded; NULL: they are. */
static const char *parks_unseen(const struct recorder *r)
{
	if (!jvm_has_virtual(r->j))
		return "this JVM has no virtual threads, which OpenJDK has from 21 on";
	if (probes_hooked(r->probes))
		return "the hooks of a patched JVM do not report them; record with --probes usdt "
		       "or --probes none";
	if (!bpf_session_has_all(r->p, PROBE_OF_MOVE))
		return "libjvm.so has no symbol table that names freeze() and "
		       "Continuation::prepare_thaw(); run a build that is not stripped, as "
		       "Debian's and Temurin's are";
	return NULL;
}

/* What was interrupted in the kernel is known to a clock only. */
static enum sample_event event_of(const struct recorder_options *o)
{
	if (o->sample.event != SAMPLE_AUTO)
		return o->sample.event;
	return o->sample.symbols || softirq_threads() ? SAMPLE_CPU_CLOCK : SAMPLE_TIMER;
}

static int check_event(const struct recorder_options *o, char why[RECORDER_WHY_MAX])
{
	const char *threads = softirq_threads();

	if (o->sample.period_ns && o->sample.event == SAMPLE_TIMER && threads)
		return recorder_fail(why, -ENOTSUP,
				     "--sample: event=timer: this kernel (%s) runs timers' "
				     "functions in threads of their own, which do not see who was "
				     "interrupted: use event=cpu-clock",
				     threads);
	if (o->sample.period_ns && o->sample.event == SAMPLE_CYCLES && pmu_interrupts_by_nmi())
		return recorder_fail(why, -ENOTSUP,
				     "--sample: event=cycles: the PMU interrupts with an NMI here, "
				     "in which BPF may not keep a call chain: use "
				     "event=cpu-clock");
	return 0;
}

static json_t *describe_sources(const struct recorder *r, const struct recorder_options *options)
{
	const struct sample_request *sample = &options->sample;
	json_t *o =
		json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:s, s:I}", "steal",
			  bpf_session_steal_clock(r->p), "sched", "tp_btf", "throttled",
			  bpf_session_throttle_clock(r->p), "monitor", r->flag.state, "probes",
			  bpf_session_attached(r->p), "probes_missing", bpf_session_missing(r->p),
			  "owner_sample", bpf_session_owner_clock(r->p), "owner_sample_ns",
			  (json_int_t)bpf_session_owner_period_ns(r->p));

	if (o && sample->period_ns)
		json_object_set_new(o, "sample",
				    json_pack("{s:s, s:I, s:b, s:b, s:I}", "event",
					      sample_event_names[event_of(options)], "period_ns",
					      (json_int_t)sample->period_ns, "jitter",
					      (int)sample->jitter, "symbols", (int)sample->symbols,
					      "fragment_bytes",
					      (json_int_t)options->fragment_bytes));
	if (o && r->objects_ring.memory)
		json_object_set_new(o, "objects",
				    json_pack("{s:I, s:I, s:b}", "heap_bytes",
					      (json_int_t)r->objects_ring.heap_bytes, "mode",
					      (json_int_t)r->objects_ring.mode, "switched",
					      (int)r->objects_ring.switched));
	if (o && r->hooks_why[0])
		json_object_set_new(o, "hooks_why", json_string(r->hooks_why));
	if (o && r->no_stacks)
		json_object_set_new(o, "stacks_missing", json_string(r->no_stacks));
	if (o && r->flag.why[0])
		json_object_set_new(o, "monitor_why", json_string(r->flag.why));
	if (o && options->virtual_parks)
		json_object_set_new(o, "virtual_parks",
				    json_string(r->no_parks ? "missing" : "on"));
	if (o && r->no_parks)
		json_object_set_new(o, "virtual_parks_why", json_string(r->no_parks));
	return o;
}

static json_t *describe_jvm(const struct recorder *r, enum command_line how)
{
	json_t *jvm = jvm_describe(r->j, how);

	if (jvm)
		json_object_set_new(jvm, "kind",
				    json_string(probes_hooked(r->probes) ? "patched" : "stock"));
	if (jvm && r->hooks.version)
		json_object_set_new(jvm, "hooks", json_integer(r->hooks.version));
	return jvm;
}

/* NULL: its cgroup says nothing. */
static json_t *describe_labels(pid_t pid)
{
	json_t *list = json_object();
	struct labels labels;

	if (labels_read(pid, &labels) || !list) {
		json_decref(list);
		return NULL;
	}
	for (enum label l = 0; l < LABEL_COUNT; l++)
		if (*labels.value[l])
			json_object_set_new(list, label_name(l), json_string(labels.value[l]));
	json_object_set_new(list, "cgroup", json_string(labels.cgroup));
	return list;
}

static json_t *describe(const struct recorder *r, const struct recorder_options *o)
{
	uint64_t wall = clock_wall_ns(), mono = clock_mono_ns();
	char boot_id[40];

	host_boot_id(boot_id);
	return json_pack("{s:s, s:s, s:s, s:I, s:I, s:o, s:o, s:o, s:o*, "
			 "s:{s:O?, s:I, s:I, s:I, s:b, s:b, s:b, s:s, s:I}, s:o}",
			 "spoor", SPOOR_VERSION, "boot_id", boot_id, "clock", "CLOCK_MONOTONIC",
			 "start_mono_ns", (json_int_t)mono, "start_wall_ns", (json_int_t)wall,
			 "host", host_describe(), "jvm", describe_jvm(r, o->command_line),
			 "sources", describe_sources(r, o), "labels", describe_labels(o->pid),
			 "record", "command", o->command, "window_ns", (json_int_t)o->window_ns,
			 "off_cpu_ns", (json_int_t)o->off_cpu_ns, "buffer_bytes",
			 (json_int_t)o->buffer_bytes, "no_write", (int)o->no_write, "no_stacks",
			 (int)o->no_stacks, "stock_probes", (int)(o->probes == PROBES_USDT),
			 "probes", probe_set_names[r->probes], "single_ns",
			 (json_int_t)(probes_by_switches(r->probes) ? o->single_ns : 0), "facts",
			 facts_describe(r->probes, jvm_layout(r->j)->owners_resolved));
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
		return recorder_fail(why, err, "out of memory");
	memory_divide(&r->memory, o->max_memory, o->max_memory_other);
	log.carry = &r->memory.part[MEMORY_CARRY];
	header = describe(r, o);
	err = header ? log_writer_open(&log, header, &r->w) : -ENOMEM;
	json_decref(header);
	if (err == -EEXIST)
		return recorder_fail(why, -EEXIST, "%s", log_exists_text(&o->log, text));
	if (err)
		return recorder_fail(why, err, "%s cannot be written: %s", o->log.path,
				     log_error_text(err));
	err = ids_new(r->w, &r->memory, &r->ids);
	if (!err)
		err = chains_new(r->w, &r->memory, bpf_session_class_epoch(r->p), &r->chains);
	if (!err && r->code)
		chains_resolve_by(r->chains, r->code);
	if (!err)
		err = translate_new(r->ids, r->chains, r->w, &r->t);
	if (!err && o->sample.period_ns && o->sample.symbols)
		err = native_symbols_new(r->j, o->kernel_symbols, &r->symbols);
	if (!err)
		translate_name_by(r->t, r->symbols);
	if (!err && o->fragment_bytes)
		err = recorder_fragments_new(r, o->fragment_bytes, o->sample.symbols);
	if (!err)
		err = recorder_objects_begin(r);
	return err ? recorder_fail(why, err, "out of memory") : recorder_objects_on(r, why);
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
			recorder_fail(why, err, "%s", jvm_why ? jvm_why : strerror(-err));
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

/*
 * The header has the JVM's flags and version: these are final when the heap is set up. That may
 * have been while BPF was loaded, which takes longer than any wait on a busy machine: the JVM is
 * looked at once in any case.
 */
static void wait_until_ready(struct recorder *r)
{
	if (jvm_layout(r->j)->ready)
		return;
	do
		recorder_refresh(r);
	while (!jvm_layout(r->j)->ready && starting_wait(r));
}

static int attach(struct recorder *r, const struct recorder_options *o, char why[RECORDER_WHY_MAX])
{
	struct bpf_session_options po = {.buffer_bytes = o->buffer_bytes,
					 .off_cpu_ns = o->off_cpu_ns,
					 .max_threads = o->max_threads,
					 .relay = o->relay,
					 .relay_slot = o->relay_slot,
					 .record = recorder_on_record,
					 .ctx = r};
	int err;

	/* A pid may be that of a JVM in its first milliseconds too: it is worth a short wait. */
	r->starting_until =
		clock_mono_ns() + (o->starting ? STARTING_MS : STARTING_SHORT_MS) * NS_PER_MS;
	err = open_jvm(r, o->pid, why);
	if (err)
		return err;
	err = choose_probes(r, o, why);
	if (!err)
		err = check_event(o, why);
	if (err)
		return err;
	po.probes = r->probes;
	po.single_ns = o->single_ns;
	po.virtual_parks = o->virtual_parks;
	po.sample_ns = o->sample.period_ns;
	po.sample_jitter = o->sample.jitter;
	po.sample_tick = o->sample.tick;
	po.sample_event = event_of(o);
	po.fragments = (struct fragment_ring_options){
		.fragment = recorder_on_fragment, .ctx = r, .bytes = o->fragment_bytes,
		.callers = o->sample.symbols};
	err = bpf_session_load(r->j, &po, &r->p, why);
	if (err)
		return err;
	r->cpu_count = (unsigned)sysconf(_SC_NPROCESSORS_CONF);
	if (r->cpu_count > WIRE_CPUS_MAX)
		r->cpu_count = WIRE_CPUS_MAX;
	r->cpus = calloc(r->cpu_count, sizeof(*r->cpus));
	r->stat = calloc(r->cpu_count, sizeof(*r->stat));
	if (!r->cpus || !r->stat)
		return recorder_fail(why, -ENOMEM, "out of memory");
	recorder_refresh_code(r); /* so that the first event has its chain */
	err = bpf_session_attach(r->p, why);
	if (err)
		return err;
	if (o->virtual_parks)
		r->no_parks = parks_unseen(r);
	if (o->before_write)
		o->before_write(o->before_write_ctx);
	if (r->probes != PROBES_USDT)
		monitor_flag_not_needed(&r->flag, probes_hooked(r->probes) ? "hooks" : "switches");
	else
		monitor_flag_hold(r->j, o->guard, o->no_write, &r->flag);
	bpf_session_set_first_reasons(r->p, recorder_has_monitors(r));
	wait_until_ready(r);
	return o->objects ? recorder_objects_open(r, o, why) : 0;
}

void recorder_discard(struct recorder *r)
{
	if (!r)
		return;
	monitor_flag_release(&r->flag, NULL);
	bpf_session_free(r->p);
	translate_free(r->t);
	fragments_free(r->fragments);
	native_symbols_free(r->symbols);
	chains_free(r->chains);
	code_free(r->code);
	native_free(r->native);
	ids_free(r->ids);
	recorder_objects_discard(r);
	log_writer_close(r->w);
	dumps_free(r->dumps);
	jvm_close(r->j);
	if (r->statm)
		close(r->statm - 1);
	free(r->cpus);
	free(r->stat);
	free(r);
}

/* The hooks are there and are not used: readers of the log should know. */
static void note_hooks(struct recorder *r)
{
	char text[sizeof(r->hooks_why) + 64];

	if (!r->hooks_why[0])
		return;
	snprintf(text, sizeof(text), "the JVM is patched, but its hooks were not used: %s",
		 r->hooks_why);
	notes_write(r->w, r->hooks.usable ? NOTE_LEVEL_INFO : NOTE_LEVEL_WARNING, text);
}

int recorder_open(const struct recorder_options *o, struct recorder **ret,
		  char why[RECORDER_WHY_MAX])
{
	char text[LOG_EXISTS_MAX];
	struct recorder *r;
	int err;

	/* Before anything is touched; log_writer_open() looks again. */
	if (log_exists(&o->log))
		return recorder_fail(why, -EEXIST, "%s", log_exists_text(&o->log, text));
	r = calloc(1, sizeof(*r));
	if (!r)
		return recorder_fail(why, -ENOMEM, "out of memory");
	r->objects_switch = OBJECT_SWITCH_NONE;
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
		recorder_discard(r);
		return err;
	}
	r->start_ns = clock_mono_ns();
	r->next_window = r->start_ns + r->window_ns;
	note_hooks(r);
	r->noted[JVM_LIMIT_VIRTUAL] = recorder_sees_unmounted(r);
	notes_support(r->w, r->j, r->noted);
	if (bpf_session_limits(r->p))
		notes_write(r->w, NOTE_LEVEL_WARNING, bpf_session_limits(r->p));
	if (r->flag.left)
		notes_write(r->w, NOTE_LEVEL_INFO, MONITOR_FLAG_LEFT);
	recorder_marks_look(r);
	recorder_drain(r);
	recorder_sample(r);
	recorder_read_names(r);
	recorder_flush(r);
	*ret = r;
	return 0;
}
