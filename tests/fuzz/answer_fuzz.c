/* Any bytes as a server's answer to profiles, and as the variable with headers. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ship/otlp_answer.h"
#include "ship/send_settings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *headers;

static char *env(const char *name)
{
	return strcmp(name, "OTEL_EXPORTER_OTLP_HEADERS") ? NULL : (char *)(uintptr_t)headers;
}

static void settings(const uint8_t *data, size_t size)
{
	const struct send_options o = {.endpoint = "http://localhost"};
	struct send_settings s;
	char why[SEND_WHY_MAX], *copy = malloc(size + 1);

	memcpy(copy, data, size);
	copy[size] = 0;
	headers = copy;
	send_settings_make(&o, env, &s, why);
	/* No header can end its line, and so begin another one. */
	for (uint32_t i = 0; i < s.header_count; i++)
		if (strpbrk(s.headers[i], "\r\n"))
			abort();
	send_settings_free(&s);
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Without a byte after it, so that a sanitizer sees who reads on. */
	uint8_t *bytes = malloc(size ? size : 1);
	struct otlp_answer answer;
	char text[OTLP_TEXT_MAX];

	memcpy(bytes, data, size);
	if (!otlp_answer_read(bytes, size, &answer) && (answer.rejected || *answer.text))
		abort();
	if (strlen(answer.text) >= sizeof(answer.text) ||
	    (otlp_status_read(bytes, size, text) && !*text))
		abort();
	free(bytes);
	settings(data, size);
	return 0;
}
