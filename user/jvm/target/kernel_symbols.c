#include "jvm/target/kernel_symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/tables/array.h"
#include "jvm/target/process.h"

#define NAME_MAX_BYTES 512 /* KSYM_NAME_LEN of Linux 6.1 on */

struct function {
	uint64_t start;
	uint32_t name; /* where it begins in names */
};

struct kernel_symbols {
	struct function *rows; /* by start */
	uint32_t count, capacity;
	char *names;
	size_t used, room;
};

static int by_start(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->name > y->name) - (x->name < y->name);
}

static int function_add(struct kernel_symbols *s, uint64_t start, const char *name)
{
	size_t len = strlen(name) + 1;
	int err = array_grow(&s->rows, &s->capacity, s->count, sizeof(*s->rows));

	if (!err && s->room < s->used + len)
		err = bytes_reserve(&s->names, &s->room, 2 * s->used + 4096 + len);
	if (err)
		return err;
	if (s->used + len > UINT32_MAX)
		return -ENOMEM;
	memcpy(s->names + s->used, name, len);
	s->rows[s->count++] = (struct function){start, (uint32_t)s->used};
	s->used += len;
	return 0;
}

/* "ffffffff81000000 T _stext", and "	[module]" after that. */
static int line_add(struct kernel_symbols *s, const char *line, bool *hidden)
{
	char name[NAME_MAX_BYTES], type;
	uint64_t start;

	if (sscanf(line, "%" SCNx64 " %c %511[^ \t\n]", &start, &type, name) != 3 ||
	    !strchr("tTwW", type))
		return 0;
	*hidden |= !start;
	return start ? function_add(s, start, name) : 0;
}

int kernel_symbols_parse(const char *text, struct kernel_symbols **ret)
{
	struct kernel_symbols *s = calloc(1, sizeof(*s));
	const char *end, *stop = text + strlen(text);
	bool hidden = false;
	int err = s ? 0 : -ENOMEM;

	for (; text < stop && !err; text = end + 1) {
		char line[NAME_MAX_BYTES + 64];
		size_t len;

		end = memchr(text, '\n', (size_t)(stop - text));
		end = end ? end : stop;
		len = (size_t)(end - text);
		len = len < sizeof(line) - 1 ? len : sizeof(line) - 1;
		memcpy(line, text, len);
		line[len] = 0;
		err = line_add(s, line, &hidden);
	}
	if (!err && !s->count)
		err = hidden ? -EACCES : -ENOENT;
	if (err) {
		kernel_symbols_free(s);
		return err;
	}
	qsort(s->rows, s->count, sizeof(*s->rows), by_start);
	*ret = s;
	return 0;
}

int kernel_symbols_open(void)
{
	int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int kernel_symbols_read(int fd, struct kernel_symbols **ret)
{
	char *text;
	size_t len;
	int err = process_text(fd, &text, &len);

	if (err)
		return err;
	err = kernel_symbols_parse(text, ret);
	free(text);
	return err;
}

uint64_t kernel_symbols_tick(void)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	char name[64], line[512];
	uint64_t address, found = 0;

	while (f && !found && fgets(line, sizeof(line), f))
		if (sscanf(line, "%" SCNx64 " %*c %63s", &address, name) == 2 &&
		    (!strcmp(name, "tick_nohz_handler") || !strcmp(name, "tick_sched_timer")))
			found = address;
	if (f)
		fclose(f);
	return found;
}

void kernel_symbols_free(struct kernel_symbols *s)
{
	if (!s)
		return;
	free(s->rows);
	free(s->names);
	free(s);
}

const char *kernel_symbols_find(const struct kernel_symbols *s, uint64_t pc, uint64_t *ret_start,
				uint64_t *ret_end)
{
	uint32_t from = 0, to = s->count;

	/* The first that begins after it. */
	while (from < to) {
		uint32_t middle = from + (to - from) / 2;

		if (s->rows[middle].start <= pc)
			from = middle + 1;
		else
			to = middle;
	}
	/* After the last one is what BPF has compiled, or nothing: its end is not known. */
	if (!from || from == s->count)
		return NULL;
	*ret_start = s->rows[from - 1].start;
	*ret_end = s->rows[from].start;
	while (from > 1 && s->rows[from - 2].start == *ret_start)
		from--;
	return s->names + s->rows[from - 1].name;
}
