/*
 * Reads any text as the kernel's files and as a recorded audit, and audits that: it must end, and what was stolen must
 * be conserved whatever the counters say. The first bytes are also taken for what CPUID says of a hypervisor.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arch/arch.h"
#include "steal/compare.h"
#include "steal/sources/hypervisor.h"
#include "steal/sources/pidstat.h"
#include "steal/sources/procstat.h"
#include "steal/sources/recording.h"
#include "steal/top.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ENSURE(condition) ((condition) ? (void)0 : abort())

static void check(const struct steal_span *s)
{
	uint64_t shares = s->others_ns[STEAL_PROPORTIONAL], cpus = 0;
	struct steal_error error;

	for (size_t i = 0; i < s->thread_count; i++) {
		const struct steal_use *u = &s->threads[i];

		shares += u->stolen_ns[STEAL_PROPORTIONAL];
		for (int m = 0; m < STEAL_METHOD_COUNT; m++)
			steal_corrected_ns(s, u, m);
	}
	for (size_t i = 0; i < s->cpu_count; i++)
		cpus += s->cpus[i].stolen_ns;
	ENSURE(shares == s->stolen_ns);
	ENSURE(cpus == s->stolen_ns);
	ENSURE(!steal_compare(s, 0, &error));
}

static void audit(const char *text, size_t size, unsigned n)
{
	const struct steal_sample *sample;
	const struct steal_span *span;
	struct steal_source *source;
	struct steal_thefts thefts;
	struct steal_audit *a;
	FILE *in = fmemopen((void *)text, size, "r");

	if (!in || steal_source_recorded_file(in, n, 0, &source))
		return;
	ENSURE(!steal_audit_new(source, n, 3, &a));
	while (steal_source_sample(source, &sample) == 1) {
		int added = steal_audit_add(a, sample, &span);

		ENSURE(added >= 0 || added == -EINVAL);
		if (added == 1)
			check(span);
	}
	ENSURE(!steal_audit_total(a, &span));
	steal_audit_thefts(a, &thefts);
	ENSURE(thefts.longest_count <= 3);
	steal_audit_free(a);
	steal_source_free(source);
}

static void judge(const uint8_t *data, size_t size)
{
	struct hypervisor_facts f = {0};
	struct hypervisor h;

	memcpy(&f, data, size < sizeof(f) ? size : sizeof(f));
	f.arch = size % 2 ? &arch_arm64 : &arch_x86_64;
	f.type[sizeof(f.type) - 1] = f.vendor[sizeof(f.vendor) - 1] = f.product[sizeof(f.product) - 1] = 0;
	hypervisor_judge(&f, &h);
	ENSURE(h.kind < HYPERVISOR_KIND_COUNT && h.name[0] && h.why && h.clock);
	ENSURE(memchr(h.name, 0, sizeof(h.name)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct procstat_cpu cpu;
	struct pidstat stat;
	const char *at = text;
	unsigned number;
	uint64_t ns;

	memcpy(text, data, size);
	text[size] = 0;
	while (procstat_next(&at, &number, &cpu) == 1)
		;
	if (!pidstat_parse(text, &stat))
		ENSURE(memchr(stat.comm, 0, sizeof(stat.comm)));
	schedstat_parse(text, &ns);
	judge(data, size);
	for (unsigned n = 0; size && n < 2; n++)
		audit(text, size, n);
	free(text);
	return 0;
}
