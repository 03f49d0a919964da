#include "record/session/basis_facts.h"

/* Of a stock JVM: from where the owner of a lock is known. */
static const char owners_read[] =
	"read from ObjectMonitor::_owner, or the lock's owner field, at the moment of blocking; "
	"between two observations the holder is inferred";
static const char owners_missing[] = "monitors: not resolved, a note says why; "
				     "java.util.concurrent: read from "
				     "the lock's owner field at the moment of blocking";

static json_t *of_stock(bool owners)
{
	return json_pack("{s:s, s:s, s:s}", "owner", owners ? owners_read : owners_missing,
			 "monitor_exit",
			 "partial: a stock JVM reports 20-100 % of the releases of contended "
			 "monitors",
			 "lock_identity",
			 "identity hash where the object has one, else ObjectMonitor, else address "
			 "(inferred)");
}

/* Of any JVM, by bpf/lib/waits.bpf.h. */
static json_t *of_switches(bool owners)
{
	return json_pack(
		"{s:s, s:s, s:s, s:s, s:s, s:s}", "owner", owners ? owners_read : owners_missing,
		"monitor_exit",
		"each release that wakes a thread, with the chain of who woke it; releases that "
		"wake nobody are not seen",
		"lock_identity",
		"identity hash where the object has one, else ObjectMonitor, else address "
		"(inferred)",
		"blocked",
		"from leaving a CPU to getting one: threads that spin for a lock and get it "
		"without going to sleep are not seen; a contention that goes on within 0.2 ms "
		"of CPU time after a wake-up, or 5 ms with the same owner, is taken for the same "
		"one (inferred)",
		"waits",
		"conditions, queues, Object.wait() and other waits that are no contentions: one "
		"by one from record.single_ns on, shorter ones as sums by thread, blocker and "
		"call chain",
		"notify",
		"not seen: who notifies is known as the one whose release wakes the thread");
}

/* Of a patched JVM whose parks the scheduler tells of. */
static const char parks_by_switches[] =
	"by the scheduler, from leaving a CPU to getting one, without numbers; a lock's release is "
	"the unpark that wakes a thread; threads that get a lock of java.util.concurrent without "
	"going to sleep are not seen; waits that are no contentions: one by one from "
	"record.single_ns on, shorter ones as sums by thread, blocker and call chain";

static json_t *of_hooks(void)
{
	return json_pack(
		"{s:s, s:s, s:s, s:s, s:s}", "owner",
		"monitors: exact, every release while a thread is blocked tells since when it was "
		"held and from where; java.util.concurrent: read from the lock's owner field at "
		"the moment of blocking",
		"monitor_exit",
		"complete: each release of a monitor for which a thread is blocked, in storms "
		"folded into sums",
		"lock_identity",
		"identity hash; one number per class where so many were parked on that "
		"a note says so",
		"sequence",
		"monitor events by monitor, park events in all, numbered by the JVM without gaps; "
		"numbers may be missing at the beginning, at the end, and where events were lost",
		"blocked",
		"from the JVM's own clock: entered has the time of acquisition, exit that of the "
		"release; after Object.wait() too");
}

json_t *facts_describe(enum probe_set probes, bool owners)
{
	json_t *facts;

	if (probes == PROBES_NONE)
		return of_switches(owners);
	if (!probes_hooked(probes))
		return of_stock(owners);
	facts = of_hooks();
	if (facts && probes == PROBES_MONITORS) {
		json_object_set_new(facts, "sequence",
				    json_string("monitor events by monitor, numbered by the JVM "
						"without gaps; parks have no numbers"));
		json_object_set_new(facts, "parks", json_string(parks_by_switches));
	}
	return facts;
}
