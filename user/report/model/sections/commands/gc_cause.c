/*
 * The probes of a stock JVM do not have the cause. The VM operation stands for a few causes each
 * (GCCause of JDK 17 to 25), and they get one word together here:
 *
 *	allocation      Allocation Failure, G1 Evacuation Pause, G1 Humongous Allocation, GCLocker
 *			Initiated GC, G1 Preventive Collection, Ergonomics
 *	asked for       System.gc(), and all that jcmd, JVMTI and WhiteBox ask for
 *	metadata        Metadata GC Threshold, Metadata GC Clear Soft References
 *	start of cycle  any cause that begins G1's concurrent cycle out of turn
 *	in a cycle      a pause of a concurrent cycle: the cycle has the cause
 */
#include "report/model/sections/commands/gc_cause.h"

#include <stddef.h>
#include <string.h>

#include "analyze/gc/gc_series.h"
#include "log/read/names.h"

/* Of the first that fits. */
#define IN_A_CYCLE "in a cycle"

static const struct {
	const char *prefix, *cause;
} operations[] = {
	{"CollectForMetadata", "metadata"},
	{"CollectForCodeCache", "code cache"},
	{"G1CollectForAllocation", "allocation"},
	{"GenCollectForAllocation", "allocation"},    /* up to 22 */
	{"SerialCollectForAllocation", "allocation"}, /* from 23 on */
	{"ParallelGCFailedAllocation", "allocation"}, /* up to 22 */
	{"ParallelCollectForAllocation", "allocation"},
	{"G1CollectFull", "asked for"},
	{"GenCollectFull", "asked for"},
	{"SerialGCCollect", "asked for"},
	{"ParallelGCSystemGC", "asked for"},
	{"ParallelGCCollect", "asked for"},
	{"G1TryInitiateConcMark", "start of cycle"},
	{"GC_HeapInspection", "heap inspection"},
	{"HeapDumper", "heap dump"},
	{"G1Pause", IN_A_CYCLE},
	{"G1Concurrent", IN_A_CYCLE},
	{"ZMark", IN_A_CYCLE},
	{"ZRelocate", IN_A_CYCLE},
	{"XMark", IN_A_CYCLE},
	{"XRelocate", IN_A_CYCLE},
	{"Shenandoah Init", IN_A_CYCLE},
	{"Shenandoah Final", IN_A_CYCLE},
	{"ShenandoahInit", IN_A_CYCLE},
	{"ShenandoahFinal", IN_A_CYCLE},
};

struct gc_cause gc_cause_of(const struct log_names *names, const struct gc_row *r)
{
	const char *cause = r->cause ? log_names_string(names, r->cause) : NULL;
	const char *operation = r->operation ? log_names_string(names, r->operation) : NULL;

	if (cause)
		return (struct gc_cause){.text = cause, .basis = GC_CAUSE_RECORDED};
	for (size_t i = 0; operation && i < sizeof(operations) / sizeof(*operations); i++)
		if (!strncmp(operation, operations[i].prefix, strlen(operations[i].prefix)))
			return (struct gc_cause){.text = operations[i].cause,
						 .basis = GC_CAUSE_INFERRED,
						 .is_part =
							 !strcmp(operations[i].cause, IN_A_CYCLE)};
	return (struct gc_cause){.basis = GC_CAUSE_UNKNOWN};
}

const char *gc_cause_basis_name(enum gc_cause_basis basis)
{
	static const char *const names[GC_CAUSE_BASIS_COUNT] = {"unknown", "recorded", "inferred"};

	return names[basis];
}
