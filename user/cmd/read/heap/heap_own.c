#include "cmd/read/heap/heap_own.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text/msg.h"
#include "heap/classify/heap_feature.h"
#include "heap/script/heap_script.h"
#include "session/owner.h"

#define OWN_BYTES_MAX (1u << 20)
_Static_assert(OWN_BYTES_MAX == HEAP_SCRIPT_BYTES_MAX && OWN_BYTES_MAX == HEAP_FEATURES_BYTES_MAX,
	       "what is read is what may be parsed");

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

_Static_assert(HEAP_OWN_MAX == 2 + HEAP_OWN_FILES_MAX * HEAP_SCRIPT_CLASSIFIERS_MAX,
	       "there is room for all of all files");

static void add_all(struct heap_own_files *own, const struct heap_script *s)
{
	const struct heap_classifier *c;

	for (unsigned i = 0; (c = heap_script_get(s, i)); i++)
		own->classifiers.all[own->classifiers.count++] = c;
}

static int read_own(const char *name, bool force, char **ret, size_t *ret_length)
{
	int err;

	if (!force && owner_check(name))
		return -EPERM;
	err = read_file(name, OWN_BYTES_MAX, ret, ret_length);
	if (err == -EFBIG)
		msg_error("%s is larger than such a file may be, 1 MiB", name);
	else if (err)
		msg_error("cannot read %s: %s", name, strerror(-err));
	return err;
}

int heap_own_features(struct heap_own_files *own, const char *name, bool force)
{
	char *text = NULL, error[HEAP_FEATURES_ERROR_MAX];
	size_t length = 0;
	int err = read_own(name, force, &text, &length);

	if (err)
		return err;
	err = heap_features_new(text, length, &own->features, error);
	free(text);
	if (err) {
		msg_error("%s: %s", name, err == -EINVAL ? error : strerror(-err));
		return err;
	}
	own->classifiers.all[own->classifiers.count++] = heap_features_classifier(own->features);
	own->classifiers.all[own->classifiers.count++] = heap_features_any(own->features);
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
	err = read_own(name, force, &text, &length);
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
	add_all(own, s);
	return 0;
}

void heap_own_free(struct heap_own_files *own)
{
	heap_features_free(own->features);
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
