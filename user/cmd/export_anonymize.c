#include "cmd/export_anonymize.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/create.h"
#include "base/msg.h"
#include "base/units.h"
#include "base/version.h"
#include "cmd/cmd.h"
#include "log/check/check.h"
#include "log/check/log_repair.h"
#include "log/format/event.h"
#include "log/read/reader.h"
#include "session/analyze_log.h"
#include "session/anonymize.h"
#include "session/log_source.h"
#include "session/owner.h"

#define KEY_BYTES_MIN 16
#define KEY_BYTES_MAX 4096

/* All of the file counts, whatever its form: two hashes of it, with keys that are no secret. */
static int key_read(const char *path, uint8_t key[SIPHASH_KEY_BYTES])
{
	static const uint8_t first[SIPHASH_KEY_BYTES] = {1}, second[SIPHASH_KEY_BYTES] = {2};
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = 0;
	uint8_t bytes[KEY_BYTES_MAX];
	ssize_t n = fd < 0 ? -1 : read(fd, bytes, sizeof(bytes));
	uint64_t hash;

	if (n < 0)
		err = -errno;
	if (fd >= 0)
		close(fd);
	if (!err && n < KEY_BYTES_MIN) {
		msg_error("%s: a key has %d bytes at least, such as: head -c 32 /dev/urandom > key",
			  path, KEY_BYTES_MIN);
		return -EINVAL;
	}
	if (err) {
		msg_error("%s: cannot read the key: %s", path, strerror(-err));
		return err;
	}
	hash = siphash(first, bytes, (size_t)n);
	memcpy(key, &hash, sizeof(hash));
	hash = siphash(second, bytes, (size_t)n);
	memcpy(key + sizeof(hash), &hash, sizeof(hash));
	explicit_bzero(bytes, sizeof(bytes));
	return 0;
}

static int key_make(const char *path, uint8_t key[SIPHASH_KEY_BYTES])
{
	if (path)
		return key_read(path, key);
	return getrandom(key, SIPHASH_KEY_BYTES, 0) == SIPHASH_KEY_BYTES ? 0 : -EIO;
}

static int look(const char *path, struct anonymize *a)
{
	const struct event *e;
	struct log_reader *r;
	int err = log_reader_open(path, &r);

	if (err)
		return err;
	while ((err = log_reader_next(r, &e)) == 1) {
		err = anonymize_look(a, e);
		if (err)
			break;
	}
	log_reader_close(r);
	return err;
}

/* What is damaged may hide a text from who looks for them. */
static int check(const char *path, struct log_check *ret)
{
	int err = log_check(path, NULL, NULL, ret);

	if (err) {
		log_tell_open(path, err);
		return err;
	}
	if (!ret->damage && ret->header)
		return 0;
	msg_error("%s: it is damaged: make a clean log of it first, with 'spoor repair'", path);
	return -EBADMSG;
}

static int rewrite(const char *path, const struct anonymize_options *o, struct anonymize *a)
{
	struct log_repair_options options = {path, o->output,     true,
					     NULL, SPOOR_VERSION, anonymize_rewrite(a)};
	char size[UNITS_TEXT_MAX];
	struct log_repair done;
	struct log_check sum;
	int err = check(path, &sum);

	if (err)
		return err;
	err = look(path, a);
	if (err)
		log_tell_open(path, err);
	if (!err) {
		err = log_repair(&options, &sum, &done);
		if (err)
			msg_error("%s: cannot write it: %s", o->output, file_create_error(err));
	}
	log_check_free(&sum);
	if (err)
		return err;
	msg_info("%s: %" PRIu64 " events, %s, without names but those of the JDK and the JVM",
		 o->output, done.events, size_format(done.bytes, size));
	return 0;
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat of_a, of_b;

	return !stat(a, &of_a) && !stat(b, &of_b) && of_a.st_dev == of_b.st_dev &&
	       of_a.st_ino == of_b.st_ino;
}

int export_anonymize(const struct log_source *source, const struct anonymize_options *o)
{
	uint8_t key[SIPHASH_KEY_BYTES];
	struct anonymize *a = NULL;
	const char *path = source->args[0];
	struct stat st;
	int err;

	if (source->count > 1 || !strcmp(path, "-") || (!stat(path, &st) && !S_ISREG(st.st_mode))) {
		msg_error("--anonymize takes one file, which is read several times; parts of a "
			  "recording one by one, with the same --key");
		return CMD_USAGE;
	}
	if (is_same_file(path, o->output)) {
		msg_error("%s: this is the log itself; choose another FILE for -o", o->output);
		return CMD_FAILED;
	}
	err = source->force ? 0 : owner_check(path);
	err = err ? err : key_make(o->key, key);
	if (!err) {
		err = anonymize_new(key, &a);
		if (err)
			msg_error("%s: out of memory", path);
	}
	err = err ? err : rewrite(path, o, a);
	anonymize_free(a);
	explicit_bzero(key, sizeof(key));
	return err ? CMD_FAILED : CMD_OK;
}
