#include "cmd/read/export/export_anonymize.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/create.h"
#include "base/io.h"
#include "base/text/msg.h"
#include "base/text/units.h"
#include "base/version.h"
#include "cmd/cmd.h"
#include "cmd/read/export_output.h"
#include "log/check/check.h"
#include "log/check/log_repair.h"
#include "log/format/event.h"
#include "log/read/reader.h"
#include "session/analyze_log.h"
#include "session/anonymize.h"
#include "session/log_source.h"
#include "session/max_memory.h"
#include "session/owner.h"

#define KEY_BYTES_MIN 16
#define KEY_BYTES_MAX 4096

/* Up to room bytes, of a pipe too. */
static int key_bytes(const char *path, uint8_t *bytes, size_t room, size_t *ret_count)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = fd < 0 ? -errno : 0;

	if (!err)
		err = read_all(fd, bytes, room, ret_count);
	if (fd >= 0)
		close(fd);
	if (err)
		msg_error("%s: cannot read the key: %s", path, strerror(-err));
	return err;
}

/* Each byte of the file counts, in any form: two hashes of it, with keys that are no secret. */
static int key_read(const char *path, uint8_t key[SIPHASH_KEY_BYTES])
{
	static const uint8_t first[SIPHASH_KEY_BYTES] = {1}, second[SIPHASH_KEY_BYTES] = {2};
	uint8_t bytes[KEY_BYTES_MAX + 1];
	size_t count = 0;
	uint64_t hash;
	int err = key_bytes(path, bytes, sizeof(bytes), &count);

	if (!err && (count < KEY_BYTES_MIN || count > KEY_BYTES_MAX)) {
		msg_error("%s: a key has %d bytes at least and %d at most, such as: head -c 32 "
			  "/dev/urandom > key",
			  path, KEY_BYTES_MIN, KEY_BYTES_MAX);
		err = -EINVAL;
	}
	if (!err) {
		hash = siphash(first, bytes, count);
		memcpy(key, &hash, sizeof(hash));
		hash = siphash(second, bytes, count);
		memcpy(key + sizeof(hash), &hash, sizeof(hash));
	}
	explicit_bzero(bytes, sizeof(bytes));
	return err;
}

static int key_make(const char *path, uint8_t key[SIPHASH_KEY_BYTES])
{
	if (path)
		return key_read(path, key);
	if (getrandom(key, SIPHASH_KEY_BYTES, 0) == SIPHASH_KEY_BYTES)
		return 0;
	msg_error("cannot make a key: %s", strerror(errno));
	return -EIO;
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
		log_report_open(path, err);
		return err;
	}
	if (!ret->damage && ret->header)
		return 0;
	msg_error("%s: it is damaged: make a clean log of it first, with 'spoor repair'", path);
	return -EBADMSG;
}

/* Of a log that is not whole, nothing is left that looks like one. */
static void report_failed(const char *path, const struct anonymize_options *o,
			  const struct log_repair *done, int err)
{
	if (err == -ENOMEM)
		msg_error("%s: cannot export it: %s", path, max_memory_error(err));
	else if (done->write_failed)
		msg_error("%s: cannot write it: %s", o->output, file_create_error(err));
	else if (err == -EBADMSG)
		msg_error("%s: cannot export it: an event in it has a form that this spoor does "
			  "not know, and may hide a name",
			  path);
	else if (err == -EFBIG)
		msg_error("%s: cannot export it: with hashes in the place of names a block of it "
			  "is longer than a log's may be",
			  path);
	else
		msg_error("%s: cannot read it: %s", path, strerror(-err));
	if (done->opened && strcmp(o->output, "-"))
		export_output_remove(o->output);
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
		log_report_open(path, err);
	if (!err) {
		err = log_repair(&options, &sum, &done);
		if (err)
			report_failed(path, o, &done, err);
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
			msg_error("%s: cannot export it: %s", path, max_memory_error(err));
	}
	err = err ? err : rewrite(path, o, a);
	anonymize_free(a);
	explicit_bzero(key, sizeof(key));
	return err ? CMD_FAILED : CMD_OK;
}
