#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/msg.h"
#include "base/privilege.h"
#include "base/sandbox.h"
#include "cmd/cmd.h"

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *what;
	bool looks_at_processes; /* it needs capabilities, and sees to them itself */
} commands[] = {
	{"record", cmd_record, "record a running JVM, or a command to its end", true},
	{"report", cmd_report, "say who waited for what, and who held it", false},
	{"spans", cmd_spans, "say how long requests took, and where their time went", false},
	{"time", cmd_time, "show the course of the threads' states over time", false},
	{"steal", cmd_steal, "say what the hypervisor takes, from which threads; no JVM needed",
	 true},
	{"export", cmd_export, "write call chains for flame graphs, or a timeline for Perfetto",
	 false},
	{"cat", cmd_cat, "print a log as JSON, one event per line", false},
	{"verify", cmd_verify, "check a log byte by byte, and say what is in it", false},
	{"repair", cmd_repair, "make a clean log of a damaged one", false},
	{"doctor", cmd_doctor, "say whether this machine and a JVM can be recorded", true},
};

static void help(FILE *to)
{
	fputs("spoor says where every thread's time of a Java process went, and who took it.\n\n"
	      "Usage: spoor COMMAND [OPTIONS]\n\n",
	      to);
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		fprintf(to, "  %-8s %s\n", commands[i].name, commands[i].what);
	fputs("\nThe usual way (as root):\n"
	      "  spoor doctor -p PID                       can it be recorded?\n"
	      "  spoor record -p PID -d 30s -o app.spoor   record it for 30 seconds\n"
	      "  spoor report app.spoor                    read what happened\n\n"
	      "`spoor COMMAND --help` says more about each.\n",
	      to);
}

/*
 * A command that reads logs works on bytes that anybody may have made. Whatever gave spoor
 * capabilities (root, setcap, a unit's ambient set), such a command gives them up before it opens
 * anything. A kernel without seccomp (EINVAL) has to do without the filter.
 */
static int run(const struct command *c, int argc, char **argv)
{
	int err = 0;

	if (!c->looks_at_processes) {
		err = privilege_drop_all();
		if (!err)
			err = sandbox_reader();
	}
	if (err && err != -EINVAL) {
		msg_error("spoor's capabilities cannot be given up: %s; nothing was done",
			  strerror(-err));
		return CMD_FAILED;
	}
	return c->run(argc, argv);
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		help(stderr);
		return CMD_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		help(stdout);
		return CMD_OK;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "version")) {
		puts("spoor " SPOOR_VERSION);
		return CMD_OK;
	}
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (!strcmp(argv[1], commands[i].name))
			return run(&commands[i], argc - 1, argv + 1);
	fprintf(stderr, "spoor: there is no command '%s'; `spoor --help` lists them\n", argv[1]);
	return CMD_USAGE;
}
