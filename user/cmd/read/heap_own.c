#include "cmd/read/heap_own.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text/msg.h"
#include "heap/script/heap_script.h"
#include "session/owner.h"

/* Of at most most bytes; *ret is to be freed. -EFBIG. */
static int read_file(const char *name, size_t most, char **ret, size_t *ret_length)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC), err = 0;
	size_t length = 0;
	ssize_t n = 0;
	char *text;

	if (fd < 0)
		return -errno;
	text = malloc(most + 1);
	if (!text)
		err = -ENOMEM;
	while (!err && length <= most && (n = read(fd, text + length, most + 1 - length)) > 0)
		length += (size_t)n;
	if (n < 0)
		err = -errno;
	if (!err && length > most)
		err = -EFBIG;
	close(fd);
	if (err) {
		free(text);
		return err;
	}
	*ret = text;
	*ret_length = length;
	return 0;
}

static int add_all(struct heap_own_files *own, const struct heap_script *s)
{
	const struct heap_classifier *c;

	for (unsigned i = 0; (c = heap_script_get(s, i)); i++) {
		if (own->classifiers.count == HEAP_OWN_MAX)
			return -E2BIG;
		own->classifiers.all[own->classifiers.count++] = c;
	}
	return 0;
}

int heap_own_script(struct heap_own_files *own, const char *name, bool force)
{
	struct heap_script *s = NULL;
	char *text = NULL, error[HEAP_SCRIPT_ERROR_MAX];
	size_t length = 0;
	int err;

	if (own->count == HEAP_OWN_FILES_MAX) {
		msg_error("--script may be given %d times at most", HEAP_OWN_FILES_MAX);
		return -E2BIG;
	}
	if (!force && owner_check(name))
		return -EPERM;
	err = read_file(name, HEAP_SCRIPT_BYTES_MAX, &text, &length);
	if (err == -EFBIG)
		msg_error("%s is larger than a script may be, 1 MiB", name);
	else if (err)
		msg_error("cannot read %s: %s", name, strerror(-err));
	if (err)
		return err;
	err = heap_script_new(name, text, length, &own->classifiers, &s, error);
	free(text);
	if (err) {
		msg_error("%s", err == -EINVAL ? error : strerror(-err));
		return err;
	}
	own->names[own->count] = name;
	own->scripts[own->count++] = s;
	return add_all(own, s);
}

void heap_own_free(struct heap_own_files *own)
{
	for (unsigned i = 0; i < own->count; i++)
		heap_script_free(own->scripts[i]);
}

void heap_own_say_errors(const struct heap_own_files *own)
{
	for (unsigned i = 0; i < own->count; i++) {
		const char *error = heap_script_error(own->scripts[i]);

		if (error)
			msg_warning("%s: objects for which it failed are in the group (error); "
				    "the first failure: %s",
				    own->names[i], error);
	}
}

void heap_own_say_stopped(const struct heap_own_files *own)
{
	for (unsigned i = 0; i < own->count; i++) {
		const char *stopped = heap_script_stopped(own->scripts[i]);

		if (stopped)
			msg_error("%s", stopped);
	}
}
