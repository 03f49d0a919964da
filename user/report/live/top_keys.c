#include "report/live/top_keys.h"

#include <string.h>

#define ESCAPE 0x1b

/* Of xterm, and of all that call themselves so; of the Linux console. */
static const struct {
	const char *bytes; /* after the escape */
	enum top_key key;
} sequences[] = {
	{"[A", TOP_KEY_UP},     {"[B", TOP_KEY_DOWN},     {"OA", TOP_KEY_UP},
	{"OB", TOP_KEY_DOWN},   {"[5~", TOP_KEY_PAGE_UP}, {"[6~", TOP_KEY_PAGE_DOWN},
	{"[H", TOP_KEY_HOME},   {"[F", TOP_KEY_END},      {"OH", TOP_KEY_HOME},
	{"OF", TOP_KEY_END},    {"[1~", TOP_KEY_HOME},    {"[4~", TOP_KEY_END},
	{"OP", TOP_KEY_HELP},   {"[11~", TOP_KEY_HELP},   {"[[A", TOP_KEY_HELP},
	{"OS", TOP_KEY_FILTER}, {"[14~", TOP_KEY_FILTER}, {"[[D", TOP_KEY_FILTER},
	{"[17~", TOP_KEY_SORT}, {"[21~", TOP_KEY_QUIT},   {"[15~", TOP_KEY_ASPECTS},
	{"[[E", TOP_KEY_ASPECTS},
};

/* ESC [ parameters final, ESC O final: ECMA-48. */
static size_t sequence_length(const uint8_t *bytes, size_t count)
{
	size_t n = 2;

	if (count < 3 || (bytes[1] != '[' && bytes[1] != 'O'))
		return count < 2 ? 1 : 2;
	if (bytes[1] == '[' && bytes[2] == '[')
		return count < 4 ? count : 4;
	while (n < count && (bytes[n] < 0x40 || bytes[n] > 0x7e))
		n++;
	return n < count ? n + 1 : count;
}

int top_key(const uint8_t *bytes, size_t count, size_t *ret_used)
{
	size_t length;

	*ret_used = 1;
	if (bytes[0] != ESCAPE)
		return bytes[0];
	if (count == 1)
		return TOP_KEY_BACK;
	length = sequence_length(bytes, count);
	*ret_used = length;
	for (size_t i = 0; i < sizeof(sequences) / sizeof(*sequences); i++) {
		size_t n = strlen(sequences[i].bytes);

		if (n + 1 == length && !memcmp(bytes + 1, sequences[i].bytes, n))
			return sequences[i].key;
	}
	return TOP_KEY_NONE;
}
