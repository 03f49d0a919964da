#include "record/doctor/doctor_check.h"

#include "jvm/flag/cgroup.h"
#include "jvm/flag/flag_hold.h"
#include "jvm/jvm.h"
#include "record/session/monitor_flag.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int check_left(struct checks *c, const struct jvm *j)
{
	char advice[96];

	snprintf(advice, sizeof(advice),
		 "spoor doctor --repair -p %d turns it off; so does the next recording at its end",
		 (int)jvm_pid(j));
	return check_add(c, "monitor-flag", CHECK_WARNING, advice,
			 MONITOR_FLAG " is on, but nobody has set it and nobody is recording: a "
				      "recorder that was killed has left it on");
}

static int check_state(struct checks *c, const struct jvm *j, enum flag_state state)
{
	static const char *const found[] = {
		[FLAG_OFF] = "off and can be turned on while the JVM runs",
		[FLAG_SET] = "on: the JVM was started with it, and keeps it",
		[FLAG_HELD] = "on for a recording that is running",
		[FLAG_UNKNOWN] = "on, and stays on: this JVM does not say who has set it",
	};

	if (state == FLAG_LEFT)
		return check_left(c, j);
	return check_add(c, "monitor-flag", CHECK_OK, NULL, MONITOR_FLAG " is %s", found[state]);
}

int check_flag(struct checks *c, const struct jvm *j)
{
	enum flag_state state;
	int err = flag_hold_possible(j, MONITOR_FLAG);

	if (!err)
		err = flag_hold_state(j, MONITOR_FLAG, &state);
	if (!err)
		return check_state(c, j, state);
	if (err == -ENOENT)
		return check_add(c, "monitor-flag", CHECK_WARNING,
				 "use a JVM built with --enable-dtrace",
				 "this JVM has no flag " MONITOR_FLAG
				 ": monitors cannot be recorded, parking, "
				 "pauses and scheduling can");
	return check_add(
		c, "monitor-flag", CHECK_WARNING,
		"start the JVM with -XX:+" MONITOR_FLAG ", or run spoor as root",
		MONITOR_FLAG
		" cannot be turned on from here (%s): monitors are only recorded if it is on",
		strerror(-err));
}

/* Of a JVM without the probes that the flag switches on. */
int check_flag_useless(struct checks *c)
{
	return check_add(c, "monitor-flag", CHECK_OK, NULL,
			 MONITOR_FLAG " is of no use, and stays as it is: the JVM has no probes "
				      "that it would switch on");
}

int check_guardian(struct checks *c, pid_t pid)
{
	int err = cgroup_may_leave();
	char advice[128];

	if (!err && !cgroup_is_namespaced())
		return check_add(c, "guardian", CHECK_OK, NULL,
				 MONITOR_FLAG " is turned off again also if spoor's whole cgroup "
					      "is killed: its guardian leaves that cgroup");
	snprintf(advice, sizeof(advice),
		 "if that has happened, spoor doctor --repair -p %d turns the flag off", (int)pid);
	return check_add(c, "guardian", CHECK_WARNING, advice,
			 "the guardian cannot leave %s%s%s: if that is killed as a whole (docker "
			 "kill, a service's final SIGKILL), " MONITOR_FLAG " stays on in the JVM",
			 err ? "spoor's cgroup (cgroup.procs: " : "this container",
			 err ? strerror(-err) : "", err ? ")" : "");
}
