/* report/jfr/jfr.h: contentions as a recording of JDK Flight Recorder. */
#pragma once

#include <stdio.h>

struct contention_events;

/*
 * One chunk: jdk.JavaMonitorEnter and jdk.ThreadPark for each interval in which a thread was
 * blocked, and spoor.LockHeld for each thread that it is charged to. Writes to out, whose error
 * flag tells the rest. 0 or -ENOMEM.
 */
int jfr_contentions(const struct contention_events *in, FILE *out);
