/* Reads any text as the kernel's files, probe arguments, durations and sizes: it must end, without a wrong access. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/units.h"
#include "jvm/elf/usdt_arg.h"
#include "jvm/target/process.h"
#include "steal/sources/procstat.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct procstat_cpu cpus[4];
	struct process_stat stat;
	struct process_lib lib;
	struct usdt_spec spec;
	uint64_t n;
	pid_t pid;

	memcpy(text, data, size);
	text[size] = 0;
	memset(cpus, 0, sizeof(cpus));
	procstat_parse(text, cpus, 4);
	process_stat_parse(text, &stat);
	process_maps_parse(text, "libjvm.so", &lib);
	process_ns_pid_parse(text, &pid);
	process_code_parse(text, &n);
	if (!usdt_spec_parse(text, &spec) && (spec.arg_cnt < 0 || spec.arg_cnt > USDT_ARGS_MAX))
		abort();
	duration_parse(text, &n);
	size_parse(text, &n);
	free(text);
	return 0;
}
