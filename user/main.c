#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/text/print.h"
#include "cmd/cmd.h"
#include "cmd/rights.h"
#include "session/max_memory.h"

enum rights {
	LOOKS_AT_PROCESSES, /* needs capabilities, and sees to them itself */
	READS,
	READS_AND_WRITES, /* to an output that its options name */
	READS_AND_SENDS,  /* or writes; it sets its own filter when it knows */
};

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *what;
	enum rights rights;
} commands[] = {
	{"record", cmd_record, "record a running JVM, or a command to its end", LOOKS_AT_PROCESSES},
	{"watch", cmd_watch, "record the JVMs of this machine as they begin and end",
	 LOOKS_AT_PROCESSES},
	{"top", cmd_top, "show live who waits for what, and who holds it", LOOKS_AT_PROCESSES},
	{"serve", cmd_serve, "serve metrics of a running JVM to Prometheus", LOOKS_AT_PROCESSES},
	{"report", cmd_report, "say who waited for what, and who held it", READS},
	{"spans", cmd_spans, "say how long requests took, and where their time went", READS},
	{"time", cmd_time, "show the course of the threads' states over time", READS},
	{"diff", cmd_diff,
	 "compare recordings: what is waited for more, or less, and what is chance",
	 READS_AND_WRITES},
	{"gc", cmd_gc, "say what collections did, whether the heap grows, when it is full", READS},
	{"heap", cmd_heap, "say what fills the heap of a heap dump, and who keeps it",
	 READS_AND_WRITES},
	{"objects", cmd_objects, "say which objects were allocated, where, and what survived",
	 READS},
	{"profile", cmd_profile, "show where threads were while they ran", READS_AND_SENDS},
	{"steal", cmd_steal, "say what the hypervisor takes, from which threads; no JVM needed",
	 LOOKS_AT_PROCESSES},
	{"export", cmd_export, "write call chains for flame graphs, or a timeline for Perfetto",
	 READS_AND_SENDS},
	{"html", cmd_html, "write a page for a browser, to look at a log in all ways",
	 READS_AND_WRITES},
	{"cat", cmd_cat, "print a log as JSON, one event per line", READS},
	{"verify", cmd_verify, "check a log byte by byte, and say what is in it", READS},
	{"repair", cmd_repair, "make a clean log of a damaged one", READS_AND_WRITES},
	{"doctor", cmd_doctor, "say whether this machine and a JVM can be recorded",
	 LOOKS_AT_PROCESSES},
};

static void help(FILE *to)
{
	fputs("spoor says where every thread's time of a Java process went, and who took it.\n\n"
	      "Usage: spoor COMMAND [OPTIONS]\n\n",
	      to);
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		print_text(to, "  %-8s %s\n", commands[i].name, commands[i].what);
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
 * anything.
 */
static int run(const struct command *c, int argc, char **argv)
{
	static char name[32];

	snprintf(name, sizeof(name), "spoor %s", c->name);
	argv[0] = name; /* what argp calls it in its messages */
	if (c->rights != LOOKS_AT_PROCESSES &&
	    (c->rights == READS_AND_SENDS ? rights_read_and_send : rights_read_only)(argv))
		return CMD_FAILED;
	if (c->rights != LOOKS_AT_PROCESSES)
		max_memory_default();
	if (c->rights != LOOKS_AT_PROCESSES)
		signal(SIGPIPE, SIG_IGN); /* a pipe whose reader has seen enough is no failure */
	if (c->rights == READS && rights_write_to(NULL))
		return CMD_FAILED;
	return c->run(argc, argv);
}

int main(int argc, char **argv)
{
	static char name[] = "spoor", option_help[] = "--help";

	program_invocation_short_name = name; /* whatever the file is called */
	if (argc < 2) {
		help(stderr);
		return CMD_USAGE;
	}
	/* spoor help report: spoor report --help. */
	if (argc == 3 && !strcmp(argv[1], "help")) {
		argv[1] = argv[2];
		argv[2] = option_help;
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
	print_text(stderr, "spoor: there is no command '%s'; `spoor --help` lists them\n", argv[1]);
	return CMD_USAGE;
}
