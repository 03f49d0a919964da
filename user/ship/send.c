/*
 * By "OTLP/HTTP Response" of https://opentelemetry.io/docs/specs/otlp/: 429, 502, 503 and 504 are
 * tried again, as late as Retry-After says, or after pauses that double, of random length; so is a
 * connection that cannot be made, or that breaks. Any other status is the last word. A server that
 * asks for more patience than a command has is not waited for.
 */
#include "ship/send.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

#include "base/text/print.h"
#include "ship/otlp_answer.h"

#define ATTEMPTS 5
#define PAUSE_MS 1000
#define PATIENCE_S 60
#define GZIP_BITS (15 + 16)

static bool passes(long status)
{
	return status == 429 || status == 502 || status == 503 || status == 504;
}

static bool is_protobuf(const struct http_reply *r)
{
	return !strncasecmp(r->type, "application/x-protobuf", 22);
}

/* Of a body that is text, its first line. */
static void first_line(const struct http_reply *r, char ret[OTLP_TEXT_MAX])
{
	char line[OTLP_TEXT_MAX / 4]; /* what is not for a terminal becomes longer */
	size_t n = 0;

	while (n < r->count && n < sizeof(line) - 1 && r->body[n] && r->body[n] != '\n' &&
	       r->body[n] != '\r') {
		line[n] = (char)r->body[n];
		n++;
	}
	line[n] = 0;
	print_buffer(ret, OTLP_TEXT_MAX, "%s", line);
}

static void say_status(const struct http_reply *r, char why[SEND_WHY_MAX])
{
	static const struct {
		long status;
		const char *hint;
	} hints[] = {
		{400, " (the message was not understood: does the server know profiles of "
		      "opentelemetry-proto 1.10?)"},
		{401, " (who sends it is not known: --headers FILE with the header Authorization)"},
		{403, " (who sends it may not: look at the header Authorization)"},
		{404, " (the server has no profiles at this path)"},
		{405, " (the server takes no POST at this path)"},
		{413, " (it is too long for the server: --from and --until choose a part)"},
		{415, " (the server takes no protobuf, or no gzip)"},
	};
	char text[OTLP_TEXT_MAX] = "";
	const char *hint = r->status / 100 == 3
				   ? " (it is somewhere else; no redirection is followed)"
				   : "";

	for (size_t i = 0; i < sizeof(hints) / sizeof(*hints); i++)
		if (hints[i].status == r->status)
			hint = hints[i].hint;
	if (!is_protobuf(r) || !otlp_status_read(r->body, r->count, text))
		first_line(r, text);
	print_buffer(why, SEND_WHY_MAX, "the server answers %ld%s%s%s", r->status, hint,
		     *text ? ": " : "", text);
}

static int taken(const struct http_reply *r, struct send_result *ret, char why[SEND_WHY_MAX])
{
	struct otlp_answer answer;

	*ret = (struct send_result){0};
	if (r->cut || (r->count && !is_protobuf(r)) ||
	    !otlp_answer_read(r->body, r->count, &answer)) {
		print_buffer(why, SEND_WHY_MAX,
			     "the server answers %ld, but not as OTLP has it: is it a collector?",
			     r->status);
		return -EPROTO;
	}
	ret->rejected = answer.rejected;
	print_buffer(ret->said, sizeof(ret->said), "%s", answer.text);
	return 0;
}

/* From a half to one and a half of the pause. */
static uint64_t pause_ms(uint64_t *random, unsigned attempt)
{
	uint64_t ms = (uint64_t)PAUSE_MS << (attempt - 1);

	*random = *random * 6364136223846793005ull + 1442695040888963407ull;
	return ms / 2 + (*random >> 33) % ms;
}

int send_message(const struct send_ways *w, const uint8_t *body, size_t count,
		 struct send_result *ret, char why[SEND_WHY_MAX])
{
	struct http_reply *r = malloc(sizeof(*r));
	uint64_t random = w->random;
	int err = -ENOMEM;

	print_buffer(why, SEND_WHY_MAX, "out of memory");
	for (unsigned attempt = 1; r; attempt++) {
		uint64_t ms;
		bool again;

		w->post(w->ctx, body, count, r);
		err = r->status / 100 == 2 ? taken(r, ret, why) : -EPERM;
		if (err != -EPERM)
			break;
		if (r->status)
			say_status(r, why);
		else
			print_buffer(why, SEND_WHY_MAX, "%s", r->why);
		again = r->status ? passes(r->status) : r->again;
		if (!again) {
			err = r->status ? -EPERM : -EIO;
			break;
		}
		err = -ETIMEDOUT;
		if (attempt == ATTEMPTS || r->after_s > PATIENCE_S)
			break;
		ms = r->after_s ? r->after_s * 1000 : pause_ms(&random, attempt);
		w->again(w->ctx, why, ms, attempt, ATTEMPTS);
		w->pause(w->ctx, ms);
	}
	if (err == -ETIMEDOUT && r->after_s > PATIENCE_S) {
		size_t length = strlen(why);

		print_buffer(why + length, SEND_WHY_MAX - length,
			     "; it asks to come back in %llu s: send it again then",
			     (unsigned long long)r->after_s);
	}
	free(r);
	return err;
}

int send_compress(const uint8_t *bytes, size_t count, uint8_t **ret, size_t *ret_count)
{
	z_stream z = {0};
	size_t room;
	uint8_t *to;
	int err;

	if (count > UINT32_MAX || deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_BITS, 8,
					       Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	room = deflateBound(&z, count);
	to = room <= UINT32_MAX ? malloc(room) : NULL;
	z.next_in = (Bytef *)(uintptr_t)bytes;
	z.avail_in = (uInt)count;
	z.next_out = to;
	z.avail_out = (uInt)room;
	err = to && deflate(&z, Z_FINISH) == Z_STREAM_END ? 0 : -ENOMEM;
	*ret_count = z.total_out;
	deflateEnd(&z);
	if (err)
		free(to);
	else
		*ret = to;
	return err;
}
