/* record/watch/jvm_name.h: a short name of a JVM, for file names and messages. */
#pragma once

#include <stddef.h>

#define JVM_NAME_MAX 48

/*
 * The jar's or the main class's or module's own name, without path, package and ".jar", of the
 * arguments as /proc/PID/cmdline has them: of letters, digits, '.', '_' and '-', and never empty
 * ("java" if there is none). Options of java with a value of their own: those of JDK 11 to 25.
 */
void jvm_name(const char *arguments, size_t length, char ret[JVM_NAME_MAX]);
