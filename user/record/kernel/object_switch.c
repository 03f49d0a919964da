/*
 * A semaphore is raised by whoever has a breakpoint at its probe, and lowered by the kernel when
 * the breakpoint goes. That is bound to the process, so that another JVM of the same libjvm.so is
 * left alone. The probe itself is hit twice in a recording, when the JVM has switched. Kernels
 * without uprobe_multi links (6.6) have perf events on uprobes, which need CAP_SYS_ADMIN.
 */
#include "record/kernel/object_switch.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "jvm-hooks/probes.h"
#include "jvm/elf/parser.h"
#include "jvm/elf/usdt.h"
#include "jvm/jvm.h"
#include "record/kernel/features/uprobe_multi.h"

#define PMU "/sys/bus/event_source/devices/uprobe/"
#define REF_CTR_SHIFT 32 /* of config, as format/ref_ctr_offset says since Linux 4.20 */

/* A number of the kernel's in a file of the PMU. */
static int pmu_number(const char *path, const char *format, unsigned *ret)
{
	FILE *f = fopen(path, "re");
	int found = f ? fscanf(f, format, ret) : 0;

	if (f)
		fclose(f);
	return found == 1 ? 0 : -EOPNOTSUPP;
}

/* A descriptor. The probe has one location. */
static int perf_raise(const struct jvm *j, const struct usdt_probe *p)
{
	struct perf_event_attr attr = {.size = sizeof(attr)};
	unsigned type = 0, shift = 0;
	char path[32];
	long fd;
	int err;

	err = pmu_number(PMU "type", "%u", &type);
	if (!err)
		err = pmu_number(PMU "format/ref_ctr_offset", "config:%u-", &shift);
	if (err || shift != REF_CTR_SHIFT || p->semaphore_offset > UINT32_MAX)
		return -EOPNOTSUPP;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", jvm_libjvm_file(j));
	attr.type = type;
	attr.config = p->semaphore_offset << REF_CTR_SHIFT;
	attr.config1 = (uintptr_t)path;
	attr.config2 = p->file_offset;
	fd = syscall(SYS_perf_event_open, &attr, jvm_pid(j), -1, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : (int)fd;
}

static int probe_raise(const struct jvm *j, const struct usdt_list *list, const char *name)
{
	const struct usdt_probe *p = usdt_find(list, SPOOR_PROVIDER, name);

	if (!p || !p->semaphore || !p->file_offset)
		return -ENOENT;
	if (uprobe_multi_supported())
		return uprobe_multi_raise(jvm_pid(j), jvm_libjvm_file(j), p);
	return perf_raise(j, p);
}

int object_switch_raise(const struct jvm *j, bool exact, struct object_switch *s)
{
	int err = 0;

	if (!s->list.probes)
		err = parser_usdt(jvm_parser(j), jvm_libjvm_file(j), PARSER_ATTACH_MS, &s->list);
	if (err)
		return err;
	if (exact)
		s->exact = probe_raise(j, &s->list, "objects__exact");
	err = exact && s->exact < 0 ? s->exact : 0;
	if (!err) {
		s->start = probe_raise(j, &s->list, "objects__start");
		err = s->start < 0 ? s->start : 0;
	}
	if (err)
		object_switch_lower(s);
	return err;
}

void object_switch_lower(struct object_switch *s)
{
	if (s->start >= 0)
		close(s->start);
	if (s->exact >= 0)
		close(s->exact);
	s->start = s->exact = -1;
}

void object_switch_free(struct object_switch *s)
{
	object_switch_lower(s);
	usdt_list_free(&s->list);
	*s = OBJECT_SWITCH_NONE;
}
