#include "cmd/record/doctor_repair.h"

#include "base/text/msg.h"
#include "base/text/print.h"
#include "cmd/cmd.h"
#include "jvm/flag/flag_hold.h"
#include "jvm/jvm.h"
#include "record/session/monitor_flag.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Nothing was done; why that is. */
static int nothing_left(const struct jvm *j)
{
	enum flag_state state;
	int err = flag_hold_state(j, MONITOR_FLAG, &state);

	if (err)
		msg_error(MONITOR_FLAG " cannot be read: %s", strerror(-err));
	else if (state == FLAG_OFF)
		print_text(stdout, MONITOR_FLAG " is off: there is nothing to repair.\n");
	else if (state == FLAG_SET)
		print_text(stdout, MONITOR_FLAG
			   " is on because the JVM was told so when it was started: there "
			   "is nothing to repair.\n");
	else
		msg_error(MONITOR_FLAG " is on, and this JVM does not say who has set it: it was "
				       "left alone");
	return err || state == FLAG_UNKNOWN ? CMD_FAILED : CMD_OK;
}

static int repair(const struct jvm *j)
{
	int err = flag_hold_repair(j, MONITOR_FLAG);

	switch (err) {
	case 0:
		print_text(stdout, MONITOR_FLAG
			   " was on, left behind by a recorder that was killed. It is off "
			   "now.\n");
		return CMD_OK;
	case -ENODATA:
		return nothing_left(j);
	case -EBUSY:
		msg_error(MONITOR_FLAG " is on for a recording that is running: it was left alone");
		return CMD_FAILED;
	case -ENOENT:
		print_text(stdout,
			   "This JVM has no flag " MONITOR_FLAG ": there is nothing to repair.\n");
		return CMD_OK;
	default:
		msg_error(MONITOR_FLAG " cannot be turned off in process %d: %s", (int)jvm_pid(j),
			  strerror(-err));
		return CMD_FAILED;
	}
}

int doctor_repair(pid_t pid)
{
	char *why = NULL;
	struct jvm *j;
	int err = jvm_open(pid, &j, &why), status;

	if (err) {
		msg_error("%s", why ? why : strerror(-err));
		free(why);
		return CMD_FAILED;
	}
	status = repair(j);
	jvm_close(j);
	return status;
}
