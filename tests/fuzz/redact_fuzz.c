/* Any command line is redacted: it ends, without a wrong access, within its room; text behind a key never comes out. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "jvm/target/redact.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char key[] = "-Dpassword=", secret[] = "Hunter2";
	size_t room = size ? 1 + data[0] * 4u : 1, used;
	char *text = malloc(size + 1), *buf = malloc(room), *argument;
	struct redact r = {0};

	memcpy(text, data, size);
	text[size] = 0;
	for (int how = COMMAND_LINE_REDACTED; how <= COMMAND_LINE_NONE; how++) {
		used = redact_command(text, size, (enum command_line)how, buf, room);
		if (used >= room || used != strlen(buf))
			abort();
	}
	argument = malloc(sizeof(key) + sizeof(secret) + size);
	strcpy(argument, key);
	strcat(argument, text);
	strcat(argument, secret);
	redact_argument(&r, argument, buf, room);
	if (strstr(buf, secret) && !strstr(text, secret))
		abort();
	free(argument);
	free(buf);
	free(text);
	return 0;
}
