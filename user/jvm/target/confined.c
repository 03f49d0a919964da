#include "jvm/target/confined.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void confined_parse(const char *text, size_t len, char ret[CONFINED_MAX])
{
	size_t n = 0;

	while (n < len && n < CONFINED_MAX - 1 && text[n] && text[n] != '\n') {
		ret[n] = text[n] >= ' ' && text[n] <= '~' ? text[n] : '?';
		n++;
	}
	ret[n] = 0;
}

/* AppArmor has a folder of its own since Linux 5.8, for machines with several modules. */
static void confined_label(pid_t pid, char ret[CONFINED_MAX])
{
	static const char *const names[] = {"apparmor/current", "current"};
	char path[48], text[CONFINED_MAX];

	ret[0] = 0;
	for (size_t i = 0; !ret[0] && i < sizeof(names) / sizeof(*names); i++) {
		ssize_t n;
		int fd;

		snprintf(path, sizeof(path), "/proc/%d/attr/%s", (int)pid, names[i]);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		n = read(fd, text, sizeof(text));
		close(fd);
		confined_parse(text, n > 0 ? (size_t)n : 0, ret);
	}
}

bool confined_apart(pid_t pid, char ret_own[CONFINED_MAX], char ret_its[CONFINED_MAX])
{
	confined_label(getpid(), ret_own);
	confined_label(pid, ret_its);
	return ret_own[0] && strcmp(ret_own, "unconfined") && strcmp(ret_own, ret_its);
}
