/* jvm/find.h: finds a running JVM by a part of its command line. */
#pragma once

#include <sys/types.h>

#define JVM_FIND_WHY_MAX 512

/*
 * The only process with a libjvm.so whose command line contains name; spoor's own is none. -ESRCH:
 * there is none, -ENOTUNIQ: there are several; why says it in the user's terms.
 */
int jvm_find(const char *name, pid_t *ret, char why[JVM_FIND_WHY_MAX]);
