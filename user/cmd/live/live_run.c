#include "cmd/live/live_run.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/text/msg.h"
#include "base/text/units.h"
#include "cmd/cmd.h"
#include "cmd/parse.h"
#include "cmd/rights.h"
#include "cmd/signals.h"
#include "jvm/find.h"
#include "record/identity/memory.h"
#include "session/max_memory.h"

/* More than an interval: what is late, and an asker who is. All that is kept is read each time. */
#define KEEP_MORE_NS (2500 * NS_PER_MS)
#define KEEP_BYTES (64ull << 20)
#define FOLDER_MAX 200

error_t live_parse(int key, const char *arg, struct argp_state *state, struct live_options *o)
{
	switch (key) {
	case 'p':
		o->jvm = arg;
		o->recorder.pid = parse_jvm(arg, state);
		return 0;
	case LIVE_NO_WRITE:
		o->recorder.no_write = true;
		return 0;
	case LIVE_PROBES:
		o->recorder.probes =
			(enum probe_set)parse_word("probes", arg, probe_set_names, state);
		return 0;
	case LIVE_VIRTUAL_PARKS:
		o->recorder.virtual_parks = true;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "what is '%s'? The JVM is named by -p", arg);
		return 0;
	case ARGP_KEY_END:
		if (!o->jvm)
			argp_error(state, "-p PID is needed");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void recorder_init(struct recorder_options *r, uint64_t interval_ns)
{
	r->buffer_bytes = 16 << 20;
	r->off_cpu_ns = r->single_ns = NS_PER_MS;
	r->log.compression.codec = BLOCK_CODEC_ZSTD;
	r->flight.keep_ns = interval_ns + KEEP_MORE_NS;
	r->flight.max_bytes = r->log.max_bytes = KEEP_BYTES;
	r->log.keep_ns = r->flight.keep_ns;
	r->window_ns = interval_ns < NS_PER_S ? interval_ns : NS_PER_S;
	r->max_memory_other = KEEP_BYTES;
	r->max_memory = MEMORY_DEFAULT + KEEP_BYTES;
}

static const int signals_read[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP, 0};

int live_give_up_rights(const struct live_recorder *r)
{
	char *none[] = {"", NULL};
	int err = rights_read_only(none);

	if (!err)
		max_memory_default();
	return err ? err : rights_write_to(r->folder);
}

/* Files of the recorder's memory are written and removed each second, and synced: better in memory
 * than on a disk. */
static const char *folder_above(void)
{
	const char *temporary = getenv("TMPDIR");

	if (temporary && *temporary && strlen(temporary) < FOLDER_MAX / 2)
		return temporary;
	return access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";
}

static int record_in(const char *folder, const struct live_options *o, bool quiet,
		     int (*run)(void *ctx, struct live_recorder *r), void *ctx)
{
	struct live_recorder r = {.folder = folder};
	int status, err = top_source_start(&o->recorder, folder, quiet, &r.source);

	if (err) {
		msg_error("the recorder cannot be started: %s", strerror(-err));
		return CMD_FAILED;
	}
	r.signals = signals_open(signals_read);
	if (r.signals < 0) {
		msg_error("signalfd: %s", strerror(errno));
		top_source_end(&r.source);
		return CMD_FAILED;
	}
	err = run(ctx, &r);
	status = top_source_end(&r.source);
	if (*r.failed)
		msg_error("%s", r.failed);
	close(r.signals);
	return err || status || *r.failed ? CMD_FAILED : CMD_OK;
}

int live_record(struct live_options *o, bool quiet, int (*run)(void *ctx, struct live_recorder *r),
		void *ctx)
{
	char folder[FOLDER_MAX], why[JVM_FIND_WHY_MAX];
	int status;

	recorder_init(&o->recorder, o->interval_ns);
	if (!o->recorder.pid && jvm_find(o->jvm, &o->recorder.pid, why)) {
		msg_error("%s", why);
		return CMD_FAILED;
	}
	snprintf(folder, sizeof(folder), "%s/spoor-top-XXXXXX", folder_above());
	if (!mkdtemp(folder)) {
		msg_error("%s: cannot be made: %s", folder, strerror(errno));
		return CMD_FAILED;
	}
	status = record_in(folder, o, quiet, run, ctx);
	if (top_source_remove(folder))
		msg_warning("%s: cannot be removed: %s", folder, strerror(errno));
	return status;
}
