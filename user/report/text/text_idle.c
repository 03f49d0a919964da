#include "base/text/format.h"
#include "base/text/print.h"
#include "report/text/text_report.h"

int text_idle(struct text *t, const struct group *locks)
{
	const struct findings_view view = {.indent = 2, .gap = true, .top = t->in->top};
	char time[FORMAT_MAX], share[FORMAT_MAX];
	struct findings *f;
	int err;

	if (!locks->idle_ns)
		return 0;
	print_text(
		t->out,
		"\n  idle turn-taking: %s (%s of the blocked time). Who holds the lock waits for "
		"new work, and who\n  waits for it wants to do the same: no work is late. Told by "
		"their call chains (docs/report.md).\n",
		duration_format(locks->idle_ns, time),
		share_format(locks->idle_ns, locks->blocked_ns, share));
	if (t->in->order == GROUP_BY_WORK)
		print_text(t->out, "  Ranked without it; --all ranks by all of the time.\n");
	f = section_idle_turns(&t->section, locks);
	err = findings_to_text(f, &view, t->out);
	findings_free(f);
	return err;
}
