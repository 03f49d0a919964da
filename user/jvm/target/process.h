/* jvm/target/process.h: what /proc says of a process: its libjvm.so, start time, ids, command
 * line. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct process_stat {
	char state; /* R, S, D, Z, ... */
	uint32_t threads;
	uint64_t start_ticks;
};

/* A library as mapped: the mapping of its file's beginning. */
struct process_lib {
	uint64_t start, end;
	uint64_t
		base; /* of process_code_each(): where the file's beginning is mapped; 0: nowhere */
	uint64_t inode;
	uint32_t dev_major, dev_minor;
	bool deleted;
	char path[4096]; /* in the process's own mount namespace */
};

/* Parses the text of /proc/PID/stat. -EPROTO. */
int process_stat_parse(const char *text, struct process_stat *ret);
/* Finds the library that is mapped executable in the text of /proc/PID/maps and whose file name is
 * the pattern name (fnmatch(3)). -ENOENT. */
int process_maps_parse(const char *text, const char *name, struct process_lib *ret);
/* Calls take for each executable mapping of a file in the text of /proc/PID/maps; start and end are
 * those of that mapping. lib is lent for the call. */
void process_code_each(const char *text, void (*take)(void *ctx, const struct process_lib *lib),
		       void *ctx);
/* The last number of NSpid in the text of /proc/PID/status. -ENOENT. */
int process_ns_pid_parse(const char *text, pid_t *ret);
/* VmLib in that text: kB that are mapped to run and not to be written, outside of the program's own
 * file. A library that is loaded changes it; code that is compiled meanwhile does not. -ENOENT. */
int process_code_parse(const char *text, uint64_t *ret);

/* A whole file of /proc, NUL-terminated; *ret is freed with free(). */
int process_text(int fd, char **ret, size_t *ret_len);
/* The same of /proc/PID. -ESRCH: no such process. */
int process_file(pid_t pid, const char *name, char **ret, size_t *ret_len);
/* The same of its first bytes, most of them at most. */
int process_file_head(pid_t pid, const char *name, size_t most, char **ret, size_t *ret_len);
int process_stat(pid_t pid, struct process_stat *ret);
/* -ENOENT: it is not mapped. */
int process_lib(pid_t pid, const char *name, struct process_lib *ret);
int process_ns_pid(pid_t pid, pid_t *ret);
/* Of process_code_parse(). Costs no lock of the process's mappings, other than its maps. */
int process_code(pid_t pid, uint64_t *ret);
/* A descriptor of /proc/PID/statm; -1: it cannot be opened. */
int process_open_statm(pid_t pid);
/* By it: how large all mappings are together, in pages. -EINVAL: that is not what is there. */
int process_pages(int statm, uint64_t *ret);
/* The arguments, separated by spaces, cut to size - 1 bytes. */
int process_command(pid_t pid, char *ret, size_t size);
