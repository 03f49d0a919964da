/* cmd/rights.h: which rights each command keeps, and when it gives up the rest:
 * docs/security.md. */
#pragma once

#include <stdbool.h>

#include "log/write/writer.h"

/*
 * All print what failed and return a negative errno then: the command must not go on. Each gives up
 * more than the one before it; nothing comes back.
 */

/*
 * For a command that reads logs, first thing in main. Drops every capability; where root could not
 * reach a file or folder that argv names without CAP_DAC_READ_SEARCH (a home of mode 0700), that
 * one stays. Sets a seccomp filter.
 */
int rights_read_only(char *const argv[]);
/* The same without the filter, for a command that may start what sends: it calls rights_filter()
 * when that has been started, and before it opens a log. */
int rights_read_and_send(char *const argv[]);
int rights_filter(void);
/* For what sends: no capability, sockets, no file to write to. */
int rights_send(void);
/* For the same, once its options are known: from here on it can write nowhere but to output, a file
 * or folder that need not exist (NULL: none), and to the folder of temporary files. */
int rights_write_to(const char *output);

/* For record, steal and doctor, when what they start has been started: what attaching takes. */
int rights_attach(void);
/* For record, when it is attached: what looking for marks and reading the target's memory takes.
 * kill_command: the command that was started runs as another user. */
int rights_record(const struct log_writer_options *log, bool later_files, bool kill_command);
/* For steal, when it is attached: nothing. */
int rights_none(void);
