/*
 * The order of things, so that whatever fails leaves nothing behind in the target:
 *   open the JVM -> load BPF -> attach -> turn the flag on -> create the log -> record
 *   -> put the flag back -> detach -> drain the ring -> last samples -> close the log.
 * The flag is last to go on and first to go off: it is the only thing that is written to the
 * target, and a patched JVM does not need it. Should this process die at any point, the kernel
 * detaches the programs with its descriptors, and the guardian of jvm_flag_hold() puts the flag
 * back.
 */
#include "record/session/recorder_internal.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/text/strbuf.h"
#include "base/text/units.h"
#include "record/decode/chains.h"
#include "record/decode/fragments.h"
#include "record/decode/translate.h"
#include "record/identity/ids.h"
#include "record/kernel/bpf_session.h"
#include "record/session/log_error.h"
#include "record/session/notes.h"

#define POLL_MS 50     /* how long a record may lie in the ring */
#define OBJECTS_MS 10  /* likewise of object events */
#define LOADING_MS 5   /* how late the sampler of owners may run when it is loaded */
#define REFRESH_MS 200 /* while the JVM is starting up */
#define WAITS_MS 400   /* readers put into order what comes up to a second late */

static void note_found_off(struct recorder *r)
{
	char text[sizeof(MONITOR_FLAG_FOUND_OFF) + 16];

	snprintf(text, sizeof(text), MONITOR_FLAG_FOUND_OFF, r->flag_end.found_off);
	if (r->flag_end.found_off)
		notes_write(r->w, NOTE_LEVEL_WARNING, text);
}

static void report_dumps(struct recorder *r)
{
	struct dump d;

	while (dumps_next(r->dumps, &d))
		r->dumped(r->dumped_ctx, &d);
}

static int pass_dumps(struct recorder *r, uint64_t now)
{
	int err = dumps_pass(r->dumps, r->w, now);

	report_dumps(r);
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
	report_dumps(r);
}

int recorder_dump(struct recorder *r, const char *reason, char why[RECORDER_WHY_MAX])
{
	int err = dumps_write(r->dumps, r->w, reason, false);

	return err ? recorder_fail(why, err, "the flight recorder's memory cannot be taken: %s",
				   log_error_text(err))
		   : 0;
}

static int poll_timeout(const struct recorder *r, uint64_t now, uint64_t deadline)
{
	uint64_t until = r->next_window < deadline ? r->next_window : deadline;
	uint64_t ms = until > now ? (until - now + NS_PER_MS - 1) / NS_PER_MS : 0;
	uint64_t most = r->loading ? LOADING_MS : r->objects ? OBJECTS_MS : POLL_MS;

	return (int)(ms < most ? ms : most);
}

/* A JVM may end before the next window: the names of its first threads are read as soon as it has
 * them. */
static void refresh(struct recorder *r)
{
	bool ready = jvm_layout(r->j)->ready;

	recorder_refresh(r);
	if (!ready && jvm_layout(r->j)->ready)
		recorder_read_names(r);
}

int recorder_run(struct recorder *r, int timeout_ms, int fd, char why[RECORDER_WHY_MAX])
{
	int fragments = fragment_ring_fd(bpf_session_fragments(r->p));
	struct pollfd fds[] = {{.fd = bpf_session_fd(r->p), .events = POLLIN},
			       {.fd = jvm_pidfd(r->j), .events = POLLIN},
			       {.fd = fd, .events = POLLIN},
			       {.fd = fragments, .events = POLLIN}};
	uint64_t now = clock_mono_ns(), deadline = now + (uint64_t)timeout_ms * NS_PER_MS;
	bool more = false;
	int err;

	do {
		if (poll(fds, 4, more ? 0 : poll_timeout(r, now, deadline)) < 0 && errno != EINTR)
			return recorder_fail(why, -errno, "poll: %s", strerror(errno));
		recorder_drain(r);
		more = recorder_objects_pass(r);
		recorder_objects_resync(r, more);
		if (translate_contended(r->t) | bpf_session_contended(r->p))
			r->contended = true;
		if (r->contended)
			recorder_sample_owners(r);
		now = clock_mono_ns();
		recorder_marks_pass(r, now);
		if (translate_wants_refresh(r->t) ||
		    ((!jvm_layout(r->j)->ready || (!r->code && !r->no_stacks)) &&
		     now >= r->next_refresh)) {
			refresh(r);
			r->next_refresh = now + REFRESH_MS * NS_PER_MS;
		}
		if (now >= r->next_window) {
			recorder_window(r);
			r->next_window +=
				r->window_ns * (1 + (now - r->next_window) / r->window_ns);
		}
		if (now >= r->next_flush)
			recorder_flush(r);
		if (now >= r->next_waits) {
			bpf_session_flush_waits(r->p);
			r->next_waits = now + WAITS_MS * NS_PER_MS;
		}
		err = r->dumps ? pass_dumps(r, now) : 0;
		if (!err)
			err = log_writer_error(r->w);
		if (!err)
			err = recorder_objects_error(r);
		if (!err)
			err = ids_error(r->ids);
		if (!err)
			err = chains_error(r->chains);
		if (!err && r->fragments)
			err = fragments_error(r->fragments);
		if (err)
			return recorder_fail(
				why, err,
				"the log cannot be written any more: %s; what was written "
				"before can be read",
				log_error_text(err));
		if (r->replaced)
			return recorder_fail(why, 2, "the process runs another program now");
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
	recorder_objects_stats(r, ret);
}

bool recorder_monitor_missing(const struct recorder *r)
{
	return !recorder_has_monitors(r);
}

bool recorder_owners_unseen(const struct recorder *r)
{
	return !bpf_session_owner_period_ns(r->p);
}

const char *recorder_kernel_limits(const struct recorder *r)
{
	return bpf_session_limits(r->p);
}

bool recorder_flag_left(const struct recorder *r)
{
	return r->flag.left;
}

const char *recorder_probes_missing(const struct recorder *r, char *buf, size_t size)
{
	json_t *list = bpf_session_missing(r->p), *name;
	size_t i;

	buf[0] = 0;
	json_array_foreach (list, i, name)
		buffer_add(buf, size, "%s%s", *buf ? ", " : "", json_string_value(name));
	json_decref(list);
	return buf;
}

void recorder_support(const struct recorder *r, struct jvm_support *ret)
{
	jvm_support(r->j, ret);
	if (r->without_stacks)
		*ret->text[JVM_LIMIT_STACKS] = 0;
	if (recorder_sees_unmounted(r))
		*ret->text[JVM_LIMIT_VIRTUAL] = 0;
}

const char *recorder_monitor_why(const struct recorder *r)
{
	return r->flag.why;
}

const char *recorder_parks_missing(const struct recorder *r)
{
	return r->no_parks;
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

	recorder_drain(r);
	flag_err = monitor_flag_release(&r->flag, &r->flag_end);
	if (end != RECORDER_JVM_EXITED && end != RECORDER_JVM_KILLED)
		recorder_read_names(r);
	bpf_session_detach(r->p);
	recorder_drain(r);
	recorder_sample(r);
	translate_flush(r->t, UINT64_MAX);
	recorder_write_losses(r);
	note_found_off(r);
	recorder_objects_end(r, end);
	log_note_less(r->w, clock_mono_ns());
	write_end(r, end);
	if (r->dumps)
		write_last_dump(r, end);
	log_writer_finish(r->w);
	if (ret_stats)
		recorder_stats(r, ret_stats);
	log_err = log_writer_close(r->w);
	r->w = NULL;
	recorder_discard(r);
	if (log_err)
		return recorder_fail(
			why, log_err,
			"the log is not complete: %s; what was written before can be read",
			log_error_text(log_err));
	if (flag_err)
		return recorder_fail(
			why, flag_err,
			"the flag " MONITOR_FLAG
			" could not be turned off again in the JVM: %s (it costs nothing "
			"measurable while nobody records); spoor doctor --repair -p %d "
			"tries that again",
			flag_err == -EBUSY ? "it is still on" : strerror(-flag_err), pid);
	return 0;
}
