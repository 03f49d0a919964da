#include "cmd/signals.h"

#include <signal.h>
#include <stddef.h>
#include <sys/signalfd.h>

int signals_open(const int *which)
{
	sigset_t set;

	sigemptyset(&set);
	for (; *which; which++)
		sigaddset(&set, *which);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

void signals_deadly(bool deadly)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		sigaddset(&set, ends[i]);
	sigprocmask(deadly ? SIG_UNBLOCK : SIG_BLOCK, &set, NULL);
}
