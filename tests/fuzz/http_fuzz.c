/* Any bytes as the head of a request, whole and piece by piece: both say the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/http_request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t most = size < HTTP_REQUEST_MAX ? size : HTTP_REQUEST_MAX, step = 1 + most / 64;
	struct http_request whole = {.path = ""}, part = {.path = ""};
	char *copy = malloc(most + 1);
	int status = 0, last;

	/* Without a byte after it, so that a sanitizer sees who reads on. */
	for (size_t n = 0; n <= most && !status; n += step) {
		char *bytes = malloc(n ? n : 1);

		memcpy(bytes, data, n);
		status = http_request_parse(bytes, n, &part);
		free(bytes);
	}
	memcpy(copy, data, most);
	last = http_request_parse(copy, most, &whole);
	if (status && (status != last || whole.head != part.head || strcmp(whole.path, part.path)))
		abort();
	if (last == 1 && strlen(whole.path) >= sizeof(whole.path))
		abort();
	free(copy);
	return 0;
}
