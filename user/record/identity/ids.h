/* record/identity/ids.h: gives threads, classes, locks and strings their numbers in a log, and
 * writes their metadata. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct ids;
struct log_writer;
struct memory;
struct jvm_thread;
struct wire_class;
struct wire_head;
struct wire_lock;
struct wire_thread;
struct wire_thread_java;

/* All are lent until ids_free. memory NULL: without bound. 0 or -ENOMEM. */
int ids_new(struct log_writer *w, struct memory *memory, struct ids **ret);
void ids_free(struct ids *ids);

/* -ENOMEM of any call so far; numbers are 0 from then on. */
int ids_error(const struct ids *ids);

/* The number of a kernel thread; made on the spot if nothing is known of it yet. 0 for tid 0, and
 * if there is no room for another thread. */
uint32_t ids_thread(struct ids *ids, uint32_t tid, uint64_t time_ns);
void ids_thread_seen(struct ids *ids, const struct wire_thread *r, bool existed);
void ids_thread_java(struct ids *ids, const struct wire_thread_java *r);
/* Likewise of a virtual thread, whose number is its id (WIRE_VIRTUAL). */
void ids_thread_virtual(struct ids *ids, const struct wire_thread_java *r);
/* It will have no more events. */
void ids_thread_ended(struct ids *ids, uint32_t tid, uint64_t time_ns);
/* What jvm_threads() found; writes metadata only where something is new. */
void ids_thread_known(struct ids *ids, const struct jvm_thread *t, uint64_t time_ns);

/* True: a class that user space should look at again (jvm_layout_refresh). */
bool ids_class(struct ids *ids, const struct wire_class *r);

/* The number of a record's lock: a monitor, or (park) a blocker. 0: there is none. One on which the
 * record's thread blocks or waits is not forgotten until the thread's next record. */
uint32_t ids_monitor(struct ids *ids, const struct wire_lock *r);
uint32_t ids_blocker(struct ids *ids, const struct wire_lock *r);

/*
 * The same of a patched JVM, whose probes report class and hash. ids_monitor_numbered: a record
 * that has them, or of which they are unknown (klass 0). ids_monitor_known: by the ObjectMonitor's
 * address; 0: no record has had it, or it has been forgotten since. h: of the record; may be NULL.
 */
uint32_t ids_monitor_numbered(struct ids *ids, const struct wire_lock *r);
uint32_t ids_monitor_known(struct ids *ids, uint64_t monitor, const struct wire_head *h);
/* It has been deflated; the number it had, 0: none. */
uint32_t ids_monitor_forget(struct ids *ids, uint64_t monitor);
uint32_t ids_blocker_numbered(struct ids *ids, const struct wire_lock *r);

/* The number of a name; what is longer than WIRE_NAME_MAX is cut. ids_text: than IDS_TEXT_MAX. */
#define IDS_TEXT_MAX 4096
uint32_t ids_string(struct ids *ids, const char *text, uint32_t length, uint64_t time_ns);
uint32_t ids_text(struct ids *ids, const char *text, uint32_t length, uint64_t time_ns);
