/* cmd/record/doctor_repair.h: spoor doctor --repair. */
#pragma once

#include <sys/types.h>

/* Turns the monitor flag off if a killed recorder has left it on, and says what it did. The exit
 * status. */
int doctor_repair(pid_t pid);
