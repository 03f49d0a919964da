/* jvm-hooks/probes.h: the probes of a patched HotSpot: names, arguments, and what they mean. */
#pragma once

/*
 * This file is plain C. The patches' C++, bpf/, user/ and tests/ all include it; `make jvm` copies
 * it into the JDK's source tree. SPOOR_HOOKS is the version of what stands here: the libjvm exports
 * it as the int spoor_hooks. A tool that does not know the version treats the JVM as a stock one.
 *
 * Provider "spoor". Every probe is a 5-byte nop behind a guard: a semaphore that the kernel raises
 * while somebody is attached to that probe. The probes marked (switch) are guards for their whole
 * family: attach them last and detach them first, and no number is drawn that is not seen.
 *
 * Arguments are integers of 64 bits unless said otherwise. Times are CLOCK_MONOTONIC ns, read by the
 * VM at the moment they speak of; the probe itself may fire later. tid: thread id in the JVM's own
 * pid namespace. name, length: bytes of modified UTF-8 or ASCII, not terminated.
 *
 * "How to walk": vm: the thread is in the VM, its JavaThread::_anchor is set, start there.
 * leaf: it came from compiled or interpreted code by a leaf call; the anchor is clear, walk out of
 * libjvm by its unwinding tables (.eh_frame). none: a VM thread, no Java frames.
 */

#define SPOOR_HOOKS 1
#define SPOOR_PROVIDER "spoor"

/*
 * Monitors. Each monitor that is fought for has a sequence: enter, entered, exit and notify draw the
 * next number at the moment when what they tell of happens, under the monitor if they own it, and
 * fire later. Within one attachment the numbers of a monitor have no gap. A monitor is watched
 * while a thread is between enter and entered, or was notified and is not back yet.
 *
 *  monitor__inflate(monitor, cause, klass, hash)                              vm or none
 *	An object gets an ObjectMonitor. cause: ObjectSynchronizer::InflateCause. hash: identity
 *	hash code of the object, which is given one here if it has none.
 *  monitor__deflate(monitor, klass, hash)                                     none
 *	Its address may be another object's monitor from now on.
 *  monitor__enter(monitor, sequence, klass, hash, flags)          (switch)    vm
 *	The thread is about to block. flags: SPOOR_AFTER_WAIT: wait() ended by timeout or interrupt.
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
 *	others from first to last are told by parts fold events, one for each thread and place. tid
 *	is the releasing thread's, like the number of the exit that was like these; 0 and 0: of any
 *	thread, there were too many. count releases, held ns in sum, the last release of all at
 *	ended. At most SPOOR_FOLD_MAX parts for each SPOOR_FOLD_NS and monitor.
 *  monitor__wait(monitor, klass, hash, millis)                                vm
 *  monitor__waited(monitor, how)                                              do not: owns it
 *	how: SPOOR_WAIT_*.
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
 *	klass, hash: of Thread.parkBlocker, 0: none. The object is given a hash if it has none.
 *	absolute: time is a deadline in ms since 1970; else a timeout in ns; 0: none.
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
 *	name ends with NUL; level: depth within phases of the same kind and thread. kind:
 *	SPOOR_PHASE_*.
 *  gc__phase__end(gc, name, level, kind)
 *	PAUSE and CONCURRENT phases are nested in their thread; a WORKER's phase is one worker's part.
 *  safepoint(name, length, tid, begun, reached, cleaned, ended, threads, running)  none
 *	At its end. name: of the VM operation; tid: of the thread that asked for it, 0: the VM.
 *	begun to reached: waiting for threads threads, of which running ran.
 */
#define SPOOR_PHASE_PAUSE 0
#define SPOOR_PHASE_CONCURRENT 1
#define SPOOR_PHASE_WORKER 2

/* All of them: SPOOR_PROBES(X) is X(name) for each. Those that begin something and switches are
 * last. */
#define SPOOR_PROBES(X)                                                                            \
	X(monitor__deflate)                                                                        \
	X(monitor__inflate)                                                                        \
	X(monitor__entered)                                                                        \
	X(monitor__fold)                                                                           \
	X(monitor__exit)                                                                           \
	X(monitor__waited)                                                                         \
	X(monitor__notify)                                                                         \
	X(monitor__wait)                                                                           \
	X(monitor__enter)                                                                          \
	X(park__end)                                                                               \
	X(unpark)                                                                                  \
	X(park__begin)                                                                             \
	X(gc__end)                                                                                 \
	X(gc__phase__end)                                                                          \
	X(gc__phase__begin)                                                                        \
	X(gc__begin)                                                                               \
	X(safepoint)
