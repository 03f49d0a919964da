#include "cmd/record/live_run.h"

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
#include "cmd/record/top_source.h"
#include "cmd/rights.h"
#include "record/decode/memory.h"
#include "session/max_memory.h"

/* More than an interval: what is late, and an asker who is. All that is kept is read each time. */
#define KEEP_MORE_NS (2500 * NS_PER_MS)
#define KEEP_BYTES (64ull << 20)
#define FOLDER_MAX 200

void live_recorder_init(struct recorder_options *r, uint64_t interval_ns)
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

int live_signals_open(void)
{
	static const int which[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP};
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(which) / sizeof(*which); i++)
		sigaddset(&set, which[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

int live_give_up_rights(const char *folder)
{
	char *none[] = {"", NULL};
	int err = rights_read_only(none);

	if (!err)
		max_memory_default();
	return err ? err : rights_write_to(folder);
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

int live_in_folder(int (*run)(const void *options, const char *folder), const void *options)
{
	char folder[FOLDER_MAX];
	int status;

	snprintf(folder, sizeof(folder), "%s/spoor-top-XXXXXX", folder_above());
	if (!mkdtemp(folder)) {
		msg_error("%s: cannot be made: %s", folder, strerror(errno));
		return CMD_FAILED;
	}
	status = run(options, folder);
	if (top_source_remove(folder))
		msg_warning("%s: cannot be removed: %s", folder, strerror(errno));
	return status;
}
