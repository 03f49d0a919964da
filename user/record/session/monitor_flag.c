#include "record/session/monitor_flag.h"

#include "jvm/flag/flag_hold.h"
#include "jvm/jvm.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void monitor_flag_not_needed(struct monitor_flag *ret, const char *state)
{
	*ret = (struct monitor_flag){.state = state};
}

void monitor_flag_hold(const struct jvm *j, struct flag_guard *g, bool no_write,
		       struct monitor_flag *ret)
{
	struct monitor_flag f = {.state = "missing"};
	enum flag_kind found;
	bool on = false;
	int err = jvm_flag_read(j, MONITOR_FLAG, &on);

	if (err) {
		snprintf(f.why, sizeof(f.why),
			 "this JVM has no flag " MONITOR_FLAG " (built without dtrace?): %s",
			 strerror(-err));
	} else if (no_write && on) {
		f.state = "was_on";
	} else if (no_write) {
		snprintf(f.why, sizeof(f.why),
			 MONITOR_FLAG " is off and --no-write forbids turning it on: "
				      "start the JVM with -XX:+" MONITOR_FLAG
				      ", or record without --no-write");
	} else {
		err = g ? flag_hold(j, MONITOR_FLAG, g, &f.hold, &found) : -ECHILD;
		if (err)
			snprintf(f.why, sizeof(f.why),
				 "the flag " MONITOR_FLAG " cannot be turned on in the JVM: %s; "
				 "start the JVM with -XX:+" MONITOR_FLAG,
				 err == -ECHILD ? "the guardian that would put it back is not there"
						: strerror(-err));
		else
			f.state = found == FLAG_WAS_ON ? "was_on" : "on";
		f.left = !err && found == FLAG_WAS_LEFT;
	}
	*ret = f;
}

int monitor_flag_release(struct monitor_flag *f, struct flag_hold_end *ret)
{
	int err = flag_hold_release(f->hold, ret);

	f->hold = NULL;
	return err;
}
