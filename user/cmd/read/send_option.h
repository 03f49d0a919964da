/* cmd/read/send_option.h: --endpoint, by which a profile is sent and not written. */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "ship/send_settings.h"

struct argp_state;

enum send_key { SEND_KEY_ENDPOINT = 0x5200, SEND_KEY_HEADERS, SEND_KEY_CA, SEND_KEY_TIMEOUT };

/* Rows of a command's table of options. */
#define SEND_OPTIONS									   \
	{"endpoint",									   \
	 SEND_KEY_ENDPOINT,								   \
	 "URL|env",									   \
	 0,										   \
	 "otlp: send it by HTTP to a collector, as http://127.0.0.1:4318, and write no file; "\
	 "env: to the one that OTEL_EXPORTER_OTLP_ENDPOINT names",			   \
	 0},										   \
		{"headers",								   \
		 SEND_KEY_HEADERS,							   \
		 "FILE",								   \
		 0,									   \
		 "With --endpoint: send the headers in FILE, lines of NAME: VALUE, too. They "\
		 "are no option, as everybody can read a command line",			   \
		 0},									   \
		{"ca",									   \
		 SEND_KEY_CA,								   \
		 "FILE",								   \
		 0,									   \
		 "With --endpoint: trust these certificates (PEM), and not the system's",  \
		 0},									   \
	{										   \
		"timeout", SEND_KEY_TIMEOUT, "TIME", 0,					   \
			"With --endpoint: how long an attempt may take (10s); there are up to 5",\
			0								   \
	}

struct send_option {
	struct send_options o; /* endpoint NULL: nothing is to be sent */
	/* The process that sends: it has no part in reading the log. */
	pid_t pid;
	int to;   /* a socket to it */
	int body; /* a file in memory */
};

/* True: the key was one of the rows above. A bad argument ends the parser with the usage error. */
bool send_option_parse(struct send_option *s, int key, const char *arg, struct argp_state *state);
/* At the parser's end. otlp: what is asked for can be sent; output: that of -o. */
void send_option_check(const struct send_option *s, bool otlp, const char *output,
		       struct argp_state *state);

/*
 * Starts what sends, if something is to be sent: before the command gives up the right to make
 * sockets, and before it opens a log. Whatever else fails afterwards, send_option_end() ends it.
 * 0, or a negative errno, and it has been said.
 */
int send_option_start(struct send_option *s);
/* What is to be sent, to be written to. NULL: see errno. */
FILE *send_option_open(const struct send_option *s);
/* Sends it, and waits until that has been done. 0, or a negative errno, and it has been said. */
int send_option_send(struct send_option *s);
/* Ends what sends, if it has not been asked to. */
void send_option_end(struct send_option *s);
