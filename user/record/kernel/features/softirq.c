#include "record/kernel/features/softirq.h"

#include <stdio.h>
#include <string.h>

#include "base/arch/arch.h"

static bool has_word(const char *path, const char *word)
{
	FILE *f = fopen(path, "re");
	char line[4096], *rest = line;
	bool found = false;

	if (!f)
		return false;
	if (fgets(line, sizeof(line), f))
		for (const char *w = strtok_r(rest, " \n", &rest); w && !found;
		     w = strtok_r(NULL, " \n", &rest))
			found = !strcmp(w, word);
	fclose(f);
	return found;
}

const char *softirq_threads(void)
{
	if (has_word("/sys/kernel/realtime", "1"))
		return "PREEMPT_RT";
	return has_word("/proc/cmdline", "threadirqs") ? "threadirqs" : NULL;
}

bool pmu_interrupts_by_nmi(void)
{
	return ARCH_HERE.pmu_nmi || has_word("/proc/cmdline", "irqchip.gicv3_pseudo_nmi=1");
}
