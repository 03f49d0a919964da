#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *what;
} commands[] = {
	{"record", cmd_record, "record a running JVM, or a command to its end"},
	{"report", cmd_report, "say who waited for what, and who held it"},
	{"spans", cmd_spans, "say how long requests took, and where their time went"},
	{"time", cmd_time, "show the course of the threads' states over time"},
	{"steal", cmd_steal, "say what the hypervisor takes, from which threads; no JVM needed"},
	{"export", cmd_export, "write call chains for flame graphs, or a timeline for Perfetto"},
	{"cat", cmd_cat, "print a log as JSON, one event per line"},
	{"verify", cmd_verify, "check a log byte by byte, and say what is in it"},
	{"repair", cmd_repair, "make a clean log of a damaged one"},
	{"doctor", cmd_doctor, "say whether this machine and a JVM can be recorded"},
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
			return commands[i].run(argc - 1, argv + 1);
	fprintf(stderr, "spoor: there is no command '%s'; `spoor --help` lists them\n", argv[1]);
	return CMD_USAGE;
}
