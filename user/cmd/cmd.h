/* cmd/cmd.h: the commands of spoor; each takes its own argv (argv[0] is what messages call it) and
 * returns an exit status. */
#pragma once

#include "base/version.h"

/* Exit statuses shared by all commands; record -- COMMAND passes on the command's own. */
enum cmd_exit {
	CMD_OK = 0,
	CMD_FAILED = 1, /* it could not be done, or only in part */
	CMD_USAGE = 2,  /* the options or arguments are wrong */
	CMD_PASSED = 3, /* it was done, and found more than the threshold that was given */
};

int cmd_record(int argc, char **argv);
int cmd_watch(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_serve(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_spans(int argc, char **argv);
int cmd_profile(int argc, char **argv);
int cmd_time(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_gc(int argc, char **argv);
int cmd_heap(int argc, char **argv);
int cmd_objects(int argc, char **argv);
int cmd_steal(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_html(int argc, char **argv);
int cmd_cat(int argc, char **argv);
int cmd_verify(int argc, char **argv);
int cmd_repair(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
