/* jvm/target/redact.h: takes what looks like a secret out of a command line. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum command_line { COMMAND_LINE_REDACTED, COMMAND_LINE_FULL, COMMAND_LINE_NONE };

/* What a secret becomes. */
#define REDACTED "[redacted]"

/* What the argument before says of the next one; all false at the first. */
struct redact {
	bool value; /* the whole of it is a secret: --password VALUE */
	bool login; /* it may be NAME:PASSWORD: -u NAME:PASSWORD */
};

/*
 * Copies one argument, as much of it as there is room for, with REDACTED in place of secrets. Bytes
 * used, without the NUL that is always there; size is 1 at least.
 *
 * A secret is: the value of a key that speaks of a password, a token, a key, credentials (-Dk=v,
 * --k=v, --k v, k=v, also within URLs, agents' options and JSON); the password of a URL; text of a
 * known form (JWT, keys of AWS, GitHub, GitLab, Slack, Google, PEM) or without any (32 characters
 * of hex, 40 of base64). When in doubt, more is taken out than less.
 */
size_t redact_argument(struct redact *r, const char *argument, char *buf, size_t size);

/* The arguments as /proc/PID/cmdline has them, each with a NUL after it, joined by blanks. */
size_t redact_command(const char *arguments, size_t length, enum command_line how, char *buf,
		      size_t size);
