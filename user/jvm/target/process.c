#include "jvm/target/process.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/tables/array.h"

#define FILE_MAX (64u << 20)
/* An emulator reads the code of what it runs: tests/walk looks at JVMs in one. */
#ifndef CODE_IS
#define CODE_IS 'x'
#endif

int process_stat_parse(const char *text, struct process_stat *ret)
{
	/* The name, in parentheses, may hold anything; what follows its last one is regular. */
	const char *rest = strrchr(text, ')');
	struct process_stat s;

	if (!rest ||
	    sscanf(rest + 1,
		   " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %" SCNu32
		   " %*d %" SCNu64,
		   &s.state, &s.threads, &s.start_ticks) != 3)
		return -EPROTO;
	*ret = s;
	return 0;
}

struct maps_line {
	struct process_lib lib;
	bool executable;
	uint64_t offset;
};

/* One line "start-end perms offset major:minor inode   path"; false: it has no path or is not of
 * this form. */
static bool line_parse(const char *line, size_t len, struct maps_line *ret)
{
	static const char deleted[] = " (deleted)";
	char head[160], perms[8];
	int used = 0;
	size_t n = len < sizeof(head) - 1 ? len : sizeof(head) - 1;
	struct process_lib *lib = &ret->lib;

	memcpy(head, line, n);
	head[n] = 0;
	if (sscanf(head,
		   "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %" SCNx32 ":%" SCNx32 " %" SCNu64 " %n",
		   &lib->start, &lib->end, perms, &ret->offset, &lib->dev_major, &lib->dev_minor,
		   &lib->inode, &used) != 7 ||
	    !used)
		return false;
	line += used;
	len -= (size_t)used;
	if (!len || *line != '/' || len >= sizeof(lib->path))
		return false;
	memcpy(lib->path, line, len);
	lib->path[len] = 0;
	n = sizeof(deleted) - 1;
	lib->deleted = len > n && !strcmp(lib->path + len - n, deleted);
	if (lib->deleted)
		lib->path[len - n] = 0;
	ret->executable = perms[2] == CODE_IS;
	return true;
}

static bool is_called(const char *path, const char *name)
{
	return !fnmatch(name, strrchr(path, '/') + 1, 0);
}

static bool same_file(const struct process_lib *a, const struct process_lib *b)
{
	return a->inode == b->inode && a->dev_major == b->dev_major && a->dev_minor == b->dev_minor;
}

/* Where a line of a text that ends at stop ends. Not strchrnul(), which under ASan's strict checks
 * goes through all the rest for each line. */
static const char *line_end(const char *line, const char *stop)
{
	const char *end = memchr(line, '\n', (size_t)(stop - line));

	return end ? end : stop;
}

int process_maps_parse(const char *text, const char *name, struct process_lib *ret)
{
	struct process_lib first = {0};
	struct maps_line line;
	const char *end, *stop = text + strlen(text);

	for (; text < stop; text = end + 1) {
		end = line_end(text, stop);
		if (!line_parse(text, (size_t)(end - text), &line) ||
		    !is_called(line.lib.path, name))
			continue;
		if (!line.offset)
			first = line.lib;
		/* A tool that reads the file may map it too: only code that can run counts. */
		if (!line.executable || !first.end || !same_file(&first, &line.lib))
			continue;
		*ret = first;
		return 0;
	}
	return -ENOENT;
}

void process_code_each(const char *text, void (*take)(void *ctx, const struct process_lib *lib),
		       void *ctx)
{
	struct process_lib first = {0};
	struct maps_line line;
	const char *end, *stop = text + strlen(text);

	for (; text < stop; text = end + 1) {
		end = line_end(text, stop);
		if (!line_parse(text, (size_t)(end - text), &line))
			continue;
		if (!line.offset)
			first = line.lib;
		line.lib.base = first.end && same_file(&first, &line.lib) ? first.start : 0;
		if (line.executable)
			take(ctx, &line.lib);
	}
}

int process_ns_pid_parse(const char *text, pid_t *ret)
{
	const char *at = strstr(text, "\nNSpid:");
	const char *end;
	long value = 0;
	char *next;

	if (!at)
		return -ENOENT;
	at += strlen("\nNSpid:");
	end = strchrnul(at, '\n');
	while (at < end) {
		long v = strtol(at, &next, 10);

		if (next == at || next > end)
			break;
		value = v;
		at = next;
	}
	if (value <= 0 || value > INT_MAX)
		return -ENOENT;
	*ret = (pid_t)value;
	return 0;
}

int process_code_parse(const char *text, uint64_t *ret)
{
	const char *at = strstr(text, "\nVmLib:");
	uint64_t value;
	char *next;

	if (!at)
		return -ENOENT;
	at += strlen("\nVmLib:");
	at += strspn(at, " \t");
	if (!isdigit((unsigned char)*at))
		return -ENOENT;
	value = strtoull(at, &next, 10);
	if (strncmp(next, " kB\n", strlen(" kB\n")))
		return -ENOENT;
	*ret = value;
	return 0;
}

/* To its end, or the first bytes, most of them at most. */
static int file_read(int fd, size_t most, char **ret, size_t *ret_len)
{
	size_t size = 0, len = 0;
	char *text = NULL;
	ssize_t n = 1;
	int err = bytes_reserve(&text, &size, 16384);

	while (!err && n && len < most) {
		size_t room = size - 1 - len;

		if (!room) {
			err = bytes_reserve(&text, &size, 2 * size);
			continue;
		}
		n = read(fd, text + len, room < most - len ? room : most - len);
		if (n < 0)
			err = errno == EINTR ? 0 : -errno;
		else
			len += (size_t)n;
	}
	if (err) {
		free(text);
		return err;
	}
	text[len] = 0;
	*ret = text;
	*ret_len = len;
	return 0;
}

int process_text(int fd, char **ret, size_t *ret_len)
{
	return file_read(fd, FILE_MAX, ret, ret_len);
}

int process_file_head(pid_t pid, const char *name, size_t most, char **ret, size_t *ret_len)
{
	char path[64];
	int fd, err;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	err = file_read(fd, most, ret, ret_len);
	close(fd);
	return err;
}

int process_file(pid_t pid, const char *name, char **ret, size_t *ret_len)
{
	size_t len;
	int err = process_file_head(pid, name, FILE_MAX, ret, &len);

	if (err)
		return err;
	if (len == FILE_MAX) {
		free(*ret);
		return -ENOMEM;
	}
	if (ret_len)
		*ret_len = len;
	return 0;
}

int process_stat(pid_t pid, struct process_stat *ret)
{
	char *text;
	int err = process_file(pid, "stat", &text, NULL);

	if (err)
		return err;
	err = process_stat_parse(text, ret);
	free(text);
	return err;
}

int process_lib(pid_t pid, const char *name, struct process_lib *ret)
{
	char *text;
	int err = process_file(pid, "maps", &text, NULL);

	if (err)
		return err;
	err = process_maps_parse(text, name, ret);
	free(text);
	return err;
}

int process_ns_pid(pid_t pid, pid_t *ret)
{
	char *text;
	int err = process_file(pid, "status", &text, NULL);

	if (err)
		return err;
	err = process_ns_pid_parse(text, ret);
	free(text);
	return err;
}

int process_code(pid_t pid, uint64_t *ret)
{
	char *text;
	int err = process_file(pid, "status", &text, NULL);

	if (err)
		return err;
	err = process_code_parse(text, ret);
	free(text);
	return err;
}

int process_open_statm(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

int process_pages(int statm, uint64_t *ret)
{
	char text[32], *end;
	ssize_t len = pread(statm, text, sizeof(text) - 1, 0);

	if (len < 0)
		return -errno;
	text[len] = 0;
	*ret = strtoull(text, &end, 10);
	return end == text || *end != ' ' ? -EINVAL : 0;
}

int process_command(pid_t pid, char *ret, size_t size)
{
	size_t len, i;
	char *text;
	int err = process_file_head(pid, "cmdline", size, &text, &len);

	if (err)
		return err;
	while (len && !text[len - 1])
		len--;
	for (i = 0; i < len && i < size - 1; i++)
		ret[i] = text[i] ? text[i] : ' ';
	ret[i] = 0;
	free(text);
	return 0;
}
