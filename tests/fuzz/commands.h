/* tests/fuzz/commands.h: runs commands of spoor within this process, as main() would, on a log in memory. */
#pragma once

#include <fcntl.h>
#include <jansson.h>

#include "cmd/cmd.h"
#include "cmd/rights.h"
#include "log_events.h"
#include "log_read.h"

/* In the place of the real one: a process of many commands must not give its rights up for good. */
int rights_filter(void)
{
	return 0;
}

int rights_send(void)
{
	return 0;
}

int rights_write_to(const char *output)
{
	(void)output;
	return 0;
}

#define WORDS_MAX 12
#define OUTPUT_CHECKED_BYTES (1024 * 1024) /* of longer outputs the rest is not looked at */

enum output {
	OUTPUT_TEXT,  /* for a terminal */
	OUTPUT_JSON,  /* one value */
	OUTPUT_LINES, /* of JSON values */
	OUTPUT_OTHER,
};

struct command_line {
	int (*run)(int argc, char **argv);
	enum output output;
	const char *words[WORDS_MAX - 2]; /* the options; what follows is the log */
};

/* Text for a terminal has no control character, in whatever form, but line feeds and tabs. */
static void text_check(const uint8_t *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		ENSURE(text[i] >= 0x20 || text[i] == '\n' || text[i] == '\t');
		ENSURE(text[i] != 0x7f);
		ENSURE(text[i] != 0xc2 || i + 1 == size || text[i + 1] >= 0xa0);
	}
}

static void json_check(const char *text, size_t size)
{
	json_t *value = json_loadb(text, size, JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL, NULL);

	ENSURE(value);
	json_decref(value);
}

static void lines_check(const char *text, size_t size)
{
	bool cut = size == OUTPUT_CHECKED_BYTES;
	const char *end;

	for (; size && (end = memchr(text, '\n', size));
	     size -= (size_t)(end + 1 - text), text = end + 1)
		json_check(text, (size_t)(end - text));
	ENSURE(!size || cut);
}

static void output_check(enum output kind, int fd)
{
	off_t length = lseek(fd, 0, SEEK_END);
	size_t size = (size_t)length < OUTPUT_CHECKED_BYTES ? (size_t)length : OUTPUT_CHECKED_BYTES;
	char *text = malloc(size + 1);

	ENSURE(length >= 0 && text && pread(fd, text, size, 0) == (ssize_t)size);
	if (kind == OUTPUT_TEXT)
		text_check((const uint8_t *)text, size);
	else if (kind == OUTPUT_JSON && size == (size_t)length && size)
		json_check(text, size);
	else if (kind == OUTPUT_LINES)
		lines_check(text, size);
	free(text);
}

/* Its standard output is a file in memory, which is then looked at. */
static void command_run(const struct command_line *c, const char *log)
{
	int out = memfd_create("stdout", MFD_CLOEXEC), copy = dup(out), argc = 1, status;
	char name[] = "spoor", *argv[WORDS_MAX] = {name};
	FILE *before = stdout;

	for (; c->words[argc - 1]; argc++)
		ENSURE(argc < WORDS_MAX - 2 && (argv[argc] = strdup(c->words[argc - 1])));
	ENSURE(argv[argc] = strdup(log));
	ENSURE(copy >= 0 && (stdout = fdopen(copy, "w")));
	status = c->run(argc + 1, argv);
	ENSURE(!fclose(stdout));
	stdout = before;
	ENSURE(status == CMD_OK || status == CMD_FAILED);
	output_check(c->output, out);
	close(out);
	for (; argc; argc--)
		free(argv[argc]);
}

/* The first byte chooses the command line, the rest is the log. */
static void commands_fuzz(const struct command_line *lines, size_t count, const uint8_t *data,
			  size_t size)
{
	char path[PATH_ROOM];
	int fd;

	if (!size)
		return;
	fd = file_of(data + 1, size - 1, path);
	command_run(&lines[data[0] % count], path);
	close(fd);
}
