/* Settings of what is sent, answers to it, and when it is sent again: without a network. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ship/otlp_answer.h"
#include "ship/send.h"
#include "tests/unit/alloc_fail.h"

static char *env_headers, *env_endpoint;

static char *env(const char *name)
{
	if (!strcmp(name, "OTEL_EXPORTER_OTLP_PROFILES_HEADERS"))
		return env_headers;
	return strcmp(name, "OTEL_EXPORTER_OTLP_ENDPOINT") ? NULL : env_endpoint;
}

static int make(struct send_settings *s, const char *endpoint)
{
	char why[SEND_WHY_MAX];

	return send_settings_make(&(struct send_options){.endpoint = endpoint}, env, s, why);
}

static void settings(void **state)
{
	struct send_settings s;
	unsigned long n = 0;
	int err;

	(void)state;
	env_headers = "a=1, b = x%41%zz ,,A=2,c=";
	env_endpoint = "HTTPS://h/base";
	do {
		alloc_fail_at(n++);
		err = make(&s, "env");
		if (alloc_fail_off())
			assert_int_equal(err, -ENOMEM);
		else
			assert_int_equal(err, 0);
		if (!err) {
			assert_string_equal(s.url, "HTTPS://h/base/v1development/profiles");
			assert_int_equal(s.header_count, 3);
			assert_string_equal(s.headers[0], "A: 2");
			assert_string_equal(s.headers[1], "b: xA%zz");
			assert_string_equal(s.headers[2], "c;");
			assert_int_equal(s.timeout_ms, 10000);
		}
		send_settings_free(&s);
	} while (err);
	assert_true(n > 2);
	env_headers = env_endpoint = NULL;
	assert_int_equal(make(&s, "env"), -EINVAL);
	send_settings_free(&s);
}

static void answers(void **state)
{
	struct otlp_answer a;
	char text[OTLP_TEXT_MAX];

	(void)state;
	assert_true(otlp_answer_read((const uint8_t *)"", 0, &a));
	assert_int_equal(a.rejected, 0);
	assert_true(otlp_answer_read((const uint8_t *)"\x0a\x06\x08\x81\x01\x12\x01!", 8, &a));
	assert_int_equal(a.rejected, 129);
	assert_string_equal(a.text, "!");
	/* It ends in a number, in a length, beyond the end; a group; field 0; a NUL in a text. */
	assert_false(otlp_answer_read((const uint8_t *)"\x0a\x02\x08\x81", 4, &a));
	assert_false(otlp_answer_read((const uint8_t *)"\x0a\x80", 2, &a));
	assert_false(otlp_answer_read((const uint8_t *)"\x0a\x03\x08\x01", 4, &a));
	assert_false(otlp_answer_read((const uint8_t *)"\x0b", 1, &a));
	assert_false(otlp_answer_read((const uint8_t *)"\x02\x00", 2, &a));
	assert_false(otlp_answer_read((const uint8_t *)"\x0a\x03\x12\x01\x00", 5, &a));
	assert_false(otlp_status_read((const uint8_t *)"\x08\x03", 2, text));
	assert_true(otlp_status_read((const uint8_t *)"\x08\x03\x12\x01x", 5, text));
	assert_string_equal(text, "x");
}

struct script {
	const struct http_reply *replies;
	unsigned posts, pauses;
	uint64_t paused_ms[8];
};

static void post(void *ctx, const uint8_t *body, size_t count, struct http_reply *ret)
{
	struct script *s = ctx;

	assert_int_equal(count, 3);
	assert_memory_equal(body, "abc", 3);
	*ret = s->replies[s->posts++];
}

static void wait_ms(void *ctx, uint64_t ms)
{
	struct script *s = ctx;

	s->paused_ms[s->pauses++] = ms;
}

static void again(void *ctx, const char *why, uint64_t ms, unsigned attempt, unsigned of)
{
	const struct script *s = ctx;

	assert_true(*why && ms);
	assert_int_equal(attempt, s->posts);
	assert_int_equal(of, 5);
}

static int run(struct script *s, const struct http_reply *replies, uint64_t random)
{
	const struct send_ways ways = {post, wait_ms, again, s, random};
	struct send_result result;
	char why[SEND_WHY_MAX];

	*s = (struct script){.replies = replies};
	return send_message(&ways, (const uint8_t *)"abc", 3, &result, why);
}

static void tries(void **state)
{
	static const struct http_reply busy[5] = {
		{.status = 503}, {.status = 502}, {.status = 504}, {.status = 429}, {.status = 503}};
	static const struct http_reply later[3] = {
		{.status = 429, .after_s = 60}, {.again = true, .why = "refused"}, {.status = 204}};
	static const struct http_reply too_late[1] = {{.status = 503, .after_s = 61}};
	static const struct http_reply refused[1] = {{.why = "no trust"}};
	static const struct http_reply not_there[1] = {{.status = 404}};
	struct script s;

	(void)state;
	for (uint64_t random = 0; random < 100; random++) {
		assert_int_equal(run(&s, busy, random << 40), -ETIMEDOUT);
		assert_int_equal(s.posts, 5);
		assert_int_equal(s.pauses, 4);
		for (unsigned i = 0; i < s.pauses; i++)
			assert_in_range(s.paused_ms[i], 500u << i, (1500u << i) - 1);
	}
	assert_int_equal(run(&s, later, 1), 0);
	assert_int_equal(s.posts, 3);
	assert_int_equal(s.paused_ms[0], 60000);
	assert_in_range(s.paused_ms[1], 1000, 2999);
	assert_int_equal(run(&s, too_late, 1), -ETIMEDOUT);
	assert_int_equal(s.pauses, 0);
	assert_int_equal(run(&s, refused, 1), -EIO);
	assert_int_equal(run(&s, not_there, 1), -EPERM);
	alloc_fail_at(0);
	assert_int_equal(run(&s, busy, 1), -ENOMEM);
	alloc_fail_off();
	assert_int_equal(s.posts, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(settings), cmocka_unit_test(answers),
					   cmocka_unit_test(tries)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
