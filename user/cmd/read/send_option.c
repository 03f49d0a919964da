/*
 * Who reads a log may make no socket, and who makes sockets reads no log: what sends is a process
 * of its own. It is forked before the log is opened, is given the message in memory, and is asked
 * by a byte; when the other one ends without asking, nothing is sent. It may write no file.
 */
#include "cmd/read/send_option.h"

#include <argp.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text/msg.h"
#include "base/text/units.h"
#include "cmd/cmd.h"
#include "cmd/rights.h"
#include "ship/send.h"

bool send_option_parse(struct send_option *s, int key, const char *arg, struct argp_state *state)
{
	switch (key) {
	case SEND_KEY_ENDPOINT:
		s->o.endpoint = arg;
		return true;
	case SEND_KEY_HEADERS:
		s->o.headers = arg;
		return true;
	case SEND_KEY_CA:
		s->o.ca = arg;
		return true;
	case SEND_KEY_TIMEOUT:
		if (duration_parse(arg, &s->o.timeout_ns) || s->o.timeout_ns < (uint64_t)NS_PER_MS)
			argp_error(state, "--timeout is a time, such as 10s, not '%s'", arg);
		return true;
	default:
		return false;
	}
}

void send_option_check(const struct send_option *s, bool otlp, const char *output,
		       struct argp_state *state)
{
	if (!s->o.endpoint && (s->o.headers || s->o.ca || s->o.timeout_ns))
		argp_error(state, "--headers, --ca and --timeout are for --endpoint");
	if (s->o.endpoint && !otlp)
		argp_error(state, "--endpoint is for profiles of OpenTelemetry: otlp");
	if (s->o.endpoint && output)
		argp_error(state, "--endpoint sends, and --output writes: one of them");
}

/* --- the process that sends --- */

struct sender {
	struct send_settings settings;
	struct http_poster *poster;
	int to, body;
};

static void post(void *ctx, const uint8_t *body, size_t count, struct http_reply *ret)
{
	struct sender *s = ctx;

	http_post(s->poster, body, count, ret);
}

static void wait_ms(void *ctx, uint64_t ms)
{
	(void)ctx;
	poll(NULL, 0, (int)ms);
}

static void say_again(void *ctx, const char *why, uint64_t ms, unsigned attempt, unsigned of)
{
	const struct sender *s = ctx;

	msg_warning("%s: %s; again in %.1f s, attempt %u of %u", s->settings.url, why,
		    (double)ms / 1000, attempt + 1, of);
}

static int say_result(const struct sender *s, size_t count, const struct send_result *r)
{
	if (r->rejected) {
		msg_error("%s: the server has rejected %llu of the profiles%s%s", s->settings.url,
			  (unsigned long long)r->rejected, *r->said ? ": " : "", r->said);
		return -EPERM;
	}
	if (*r->said)
		msg_warning("%s: the server says: %s", s->settings.url, r->said);
	msg_info("%zu bytes have been sent to %s", count, s->settings.url);
	return 0;
}

static int send_body(struct sender *s, const uint8_t *bytes, size_t count)
{
	struct send_ways ways = {
		.post = post, .pause = wait_ms, .again = say_again, .ctx = s};
	struct send_result result;
	char why[SEND_WHY_MAX];
	uint8_t *packed = NULL;
	size_t packed_count = count;
	int err = s->settings.plain ? 0 : send_compress(bytes, count, &packed, &packed_count);

	if (getrandom(&ways.random, sizeof(ways.random), GRND_NONBLOCK) < 0)
		ways.random = (uint64_t)getpid();
	if (err)
		msg_error("%s: cannot send it: out of memory", s->settings.url);
	else
		err = send_message(&ways, packed ? packed : bytes, packed_count, &result, why);
	if (err && (packed || s->settings.plain))
		msg_error("%s: nothing was taken: %s", s->settings.url, why);
	free(packed);
	return err ? err : say_result(s, packed_count, &result);
}

/* 0, or a negative errno, and it has been said. */
static int serve_one(struct sender *s, const struct send_options *o)
{
	char why[SEND_WHY_MAX], byte = 1;
	struct stat st;
	void *bytes;
	int err = rights_send();

	if (err)
		return err;
	err = send_settings_make(o, getenv, &s->settings, why);
	err = err ? err : http_poster_open(&s->settings, &s->poster, why);
	if (err) {
		msg_error("it cannot be sent: %s", why);
		return err;
	}
	/* That all is there, then the request, or the end. */
	if (send(s->to, &byte, 1, MSG_NOSIGNAL) != 1 || read(s->to, &byte, 1) != 1)
		return -ECANCELED;
	if (fstat(s->body, &st))
		return -errno;
	bytes = st.st_size ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, s->body, 0)
			   : NULL;
	if (bytes == MAP_FAILED) {
		msg_error("%s: cannot send it: out of memory", s->settings.url);
		return -ENOMEM;
	}
	return send_body(s, bytes, (size_t)st.st_size);
}

static int sender_run(const struct send_options *o, int to, int body)
{
	struct sender s = {.to = to, .body = body};
	int err = serve_one(&s, o);

	http_poster_close(s.poster);
	send_settings_free(&s.settings);
	return err ? CMD_FAILED : CMD_OK;
}

/* --- the process that reads the log --- */

static int start(struct send_option *s)
{
	int pair[2] = {-1, -1};
	char byte;

	s->body = memfd_create("spoor-profile", MFD_CLOEXEC);
	if (s->body < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) {
		msg_error("cannot send: %s", strerror(errno));
		return -EIO;
	}
	s->pid = fork();
	if (!s->pid) {
		close(pair[0]);
		_exit(sender_run(&s->o, pair[1], s->body));
	}
	s->to = pair[0];
	close(pair[1]);
	if (s->pid < 0) {
		msg_error("cannot send: %s", strerror(errno));
		return -EIO;
	}
	return read(s->to, &byte, 1) == 1 ? 0 : -EIO; /* it has said why */
}

int send_option_start(struct send_option *s)
{
	int err;

	s->to = s->body = -1;
	if (!s->o.endpoint)
		return 0;
	err = start(s);
	if (err)
		send_option_end(s);
	return err;
}

FILE *send_option_open(const struct send_option *s)
{
	int fd = dup(s->body);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");

	if (fd >= 0 && !out)
		close(fd);
	return out;
}

int send_option_send(struct send_option *s)
{
	int status = 0, err = send(s->to, "", 1, MSG_NOSIGNAL) == 1 ? 0 : -EIO;

	while (waitpid(s->pid, &status, 0) < 0 && errno == EINTR)
		;
	s->pid = 0;
	if (!err && (!WIFEXITED(status) || WEXITSTATUS(status)))
		err = -EIO;
	if (WIFSIGNALED(status))
		msg_error("what sends was ended by signal %d", WTERMSIG(status));
	return err;
}

void send_option_end(struct send_option *s)
{
	if (s->to >= 0)
		close(s->to);
	if (s->body >= 0)
		close(s->body);
	while (s->pid > 0 && waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
		;
	*s = (struct send_option){.to = -1, .body = -1};
}
