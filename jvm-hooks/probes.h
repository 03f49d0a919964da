/* jvm-hooks/probes.h: the probes of a patched HotSpot: names, arguments, and what they mean. */
#pragma once

/*
 * Plain C, for the patches' C++, bpf/, user/ and tests/. SPOOR_HOOKS is its version, exported by
 * libjvm as the int spoor_hooks: a tool that does not know it treats the JVM as a stock one.
 *
 * Provider "spoor". Every probe is a 5-byte nop behind a guard: a semaphore that the kernel raises
 * while somebody is attached to it. Those marked (switch) are guards of their whole family: attach
 * them last and detach them first, and no number is drawn that is not seen.
 *
 * Arguments have 64 bits. Times are CLOCK_MONOTONIC ns of the moment they speak of; probes may fire
 * later. tid: a thread's id in the JVM's pid namespace; or SPOOR_VIRTUAL | Thread.threadId().
 *
 * On the right, how to walk the stack. vm: start at JavaThread::_anchor, which is set. leaf: the
 * anchor may be clear; walk out of libjvm by its unwinding tables (.eh_frame). none: a VM thread.
 */

#define SPOOR_HOOKS 1
#define SPOOR_PROVIDER "spoor"
#define SPOOR_VIRTUAL 0x80000000

/*
 * Monitors. Each has a sequence: enter, entered, exit and notify draw the next number when that
 * happens of which they tell, under the monitor if they own it, and fire later. Within one
 * attachment the numbers of a monitor have no gap. A monitor is watched while a thread is between
 * enter and entered, or was notified and is not back yet.
 *
 *  monitor__inflate(monitor, cause, klass, hash)                              vm or none
 *	An object gets an ObjectMonitor (cause: ObjectSynchronizer::InflateCause), and an identity
 *	hash code if it has none.
 *  monitor__deflate(monitor, klass, hash)                                     none
 *	Its address may be another object's monitor from now on.
 *  monitor__enter(monitor, sequence, klass, hash, flags)          (switch)    vm
 *	The thread is about to block. SPOOR_AFTER_WAIT: wait() ended by timeout or interrupt.
 *  monitor__entered(monitor, sequence, acquired, flags)                       do not: owns it
 *	It owns the monitor since acquired. SPOOR_AFTER_WAIT: it was waiting (its time blocked began
 *	with its enter or with the notify that named it).
 *  monitor__exit(monitor, sequence, acquired, released, flags, forward)       leaf or vm
 *	The thread has released a watched monitor, by whatever path. acquired: since when it had it,
 *	0: since before the monitor was watched, or not known. It may be too early, if so then
 *	earlier than the release before: the later one counts. SPOOR_IN_WAIT: by Object.wait();
 *	forward, if not 0, stands for the call chain of the method that has entered the monitor.
 *	SPOOR_RESOLVES: this is the exit that forward stands for. Forward numbers are sequence
 *	numbers of the monitor's exits in wait().
 *  monitor__fold(monitor, first, last, tid, like, count, held, ended, parts)  do not: other thread
 *	A lock storm: while no enter, entered or notify drew a number, threads released the monitor
 *	over and over. Of each thread and place the first release is told by its own exit; the
 *	others from first to last are told by parts fold events, one for each thread and place.
 *	tid: who released; like: the number of the exit that was like these; 0 and 0: any thread,
 *	there were too many. count releases, held ns in sum; ended: the last release of all. At
 *	most SPOOR_FOLD_MAX parts for each SPOOR_FOLD_NS and monitor.
 *  monitor__wait(monitor, klass, hash, millis)                                vm
 *  monitor__waited(monitor, how)          how: SPOOR_WAIT_*                   do not: owns it
 *  monitor__notify(monitor, sequence, tid, all)                               vm or leaf
 *	Once for each thread that is woken: it goes from waiting to blocked.
 */
#define SPOOR_AFTER_WAIT 1
#define SPOOR_IN_WAIT 2
#define SPOOR_RESOLVES 4
#define SPOOR_FOLD_MAX 32
#define SPOOR_FOLD_NS 1000000

#define SPOOR_WAIT_NOTIFIED 1
#define SPOOR_WAIT_TIMEOUT 2
#define SPOOR_WAIT_INTERRUPTED 3

/*
 * Park. One sequence for the whole JVM.
 *
 *  park__begin(sequence, parker, klass, hash, absolute, time)     (switch)    vm
 *	klass, hash: of Thread.parkBlocker, 0: none. It is given a hash if it has none. absolute:
 *	time is a deadline in ms since 1970; else a timeout in ns; 0: none.
 *  park__end(sequence, parker, how, by)                                       vm
 *	how: SPOOR_PARK_*; by: the number of the unpark that ended it, if that was seen.
 *  unpark(sequence, parker, tid)                                              vm
 */
#define SPOOR_PARK_UNKNOWN 0
#define SPOOR_PARK_UNPARKED 1
#define SPOOR_PARK_TIMEOUT 2
#define SPOOR_PARK_INTERRUPTED 3
#define SPOOR_PARK_SPURIOUS 4

/*
 * Collections and safepoints. gc: the VM's own id of the collection, as in -Xlog:gc.
 *
 *  gc__begin(gc, collector, cause)                                            none
 *	Two strings that end with NUL: GCNames and GCCause, e.g. G1New, G1 Evacuation Pause.
 *  gc__end(gc)
 *  gc__phase__begin(gc, name, level, kind)                                    none
 *  gc__phase__end(gc, name, level, kind)
 *	name ends with NUL. level: depth by its timer; thread and order tell better what is within
 *	what. kind: SPOOR_PHASE_*; a WORKER's is one worker's part. gc may be -1: no number yet.
 *  safepoint(name, length, tid, begun, reached, cleaned, ended, threads, running)  none
 *	At its end. name, length: the VM operation, not terminated; tid: of the thread that asked
 *	for it, 0: the VM. From begun to reached it waited for threads, of which running ran.
 */
#define SPOOR_PHASE_PAUSE 0
#define SPOOR_PHASE_CONCURRENT 1
#define SPOOR_PHASE_WORKER 2

/*
 * The switch of object events (objects.h): a recorder that attaches to objects__start asks for a
 * ring; the VM looks at the guard each SPOOR_OBJECTS_LOOK_MS. The kernel lowers the guard when the
 * recorder is gone, and the ring goes, too. objects__exact, raised before: SPOOR_OBJECTS_EXACT.
 *
 *  objects__start(on, found, begun, ended)   switched; found objects; of the safepoint      none
 *  objects__exact(on)                        not fired                                         none
 */
#define SPOOR_OBJECTS_LOOK_MS 50
#define SPOOR_SWITCHES(X) X(objects__start) X(objects__exact)

/* X(name) for each; those that begin something come after those that end it, switches last. */
#define SPOOR_PROBES(X)                                                                            \
	X(monitor__deflate) X(monitor__inflate) X(monitor__entered)                                \
	X(monitor__fold) X(monitor__exit) X(monitor__waited)                                       \
	X(monitor__notify) X(monitor__wait) X(monitor__enter)                                      \
	X(park__end) X(unpark) X(park__begin)                                                      \
	X(gc__end) X(gc__phase__end) X(gc__phase__begin)                                           \
	X(gc__begin) X(safepoint)
