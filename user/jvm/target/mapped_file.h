/* jvm/target/mapped_file.h: opens a file that another process has mapped. */
#pragma once

#include <sys/types.h>

struct process_lib;

/*
 * A descriptor for reading of the very file that lib is a mapping of, to be closed by the caller,
 * or a negative errno. What is no regular file is never opened: -ENOEXEC. -ESTALE: the mapping's
 * file cannot be had, and at its path is another one. All who read, lock or attach to the file use
 * this descriptor, or /proc/self/fd/N: nobody opens it a second time by its name.
 */
int mapped_file_open(pid_t pid, const struct process_lib *lib);
