/*
 * libcurl with GnuTLS brings 30 more libraries into a process: linked to it, `spoor --version` took
 * 13.0 million instructions in place of 0.5 (callgrind, Debian 12). Only who sends loads it, after
 * it has been forked for that. The variant with GnuTLS
 * (LGPL) goes before the one with OpenSSL 3 (Apache-2.0, which GPL-2.0 code is not to be
 * distributed with); the latter is what other systems than Debian have under the plain name.
 */
#include "ship/http_post.h"

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/print.h"
#include "base/version.h"

#define CONNECT_MS 10000

#define CURL_FUNCTIONS(F)                                                                          \
	F(easy_init)                                                                               \
	F(easy_setopt) F(easy_perform) F(easy_getinfo) F(easy_strerror) F(easy_cleanup)            \
		F(slist_append) F(slist_free_all) F(global_init)

struct http_poster {
	const struct send_settings *s;
	void *library;
	CURL *curl;
	struct curl_slist *headers;
	char error[CURL_ERROR_SIZE];
#define MEMBER(name) typeof(&curl_##name) name;
	CURL_FUNCTIONS(MEMBER)
#undef MEMBER
};

static int load(struct http_poster *p, char why[SEND_WHY_MAX])
{
	static const char *const names[] = {"libcurl-gnutls.so.4", "libcurl.so.4"};
	bool whole = true;

	for (size_t i = 0; !p->library && i < sizeof(names) / sizeof(*names); i++)
		p->library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	if (!p->library) {
		print_buffer(why, SEND_WHY_MAX,
			     "libcurl is not installed (Debian: apt install libcurl3-gnutls): %s",
			     dlerror());
		return -ENOENT;
	}
#define LOAD(name)                                                                                 \
	p->name = (typeof(p->name))dlsym(p->library, "curl_" #name);                               \
	whole &= p->name != NULL;
	CURL_FUNCTIONS(LOAD)
#undef LOAD
	if (whole)
		return 0;
	print_buffer(why, SEND_WHY_MAX, "libcurl lacks a function: it is too old");
	return -ENOENT;
}

static size_t on_body(char *bytes, size_t one, size_t count, void *reply)
{
	struct http_reply *r = reply;
	size_t room = HTTP_REPLY_MAX - r->count, taken = count < room ? count : room;

	(void)one; /* it is 1 */
	memcpy(r->body + r->count, bytes, taken);
	r->count += taken;
	r->cut |= taken < count;
	return taken; /* less than count: no more is read */
}

static int add_header(struct http_poster *p, const char *line)
{
	struct curl_slist *longer = p->slist_append(p->headers, line);

	p->headers = longer ? longer : p->headers;
	return longer ? 0 : -ENOMEM;
}

static int set_headers(struct http_poster *p)
{
	/* Without Expect, libcurl would wait a second for a 100 that many servers never send. */
	int err = add_header(p, "Content-Type: application/x-protobuf");

	err = err ? err : add_header(p, "Expect:");
	if (!p->s->plain)
		err = err ? err : add_header(p, "Content-Encoding: gzip");
	for (uint32_t i = 0; i < p->s->header_count; i++)
		err = err ? err : add_header(p, p->s->headers[i]);
	return err;
}

/* The first that is refused says why. */
static int set_options(struct http_poster *p, char why[SEND_WHY_MAX])
{
	const struct send_settings *s = p->s;
	long connect_ms = s->timeout_ms < CONNECT_MS ? (long)s->timeout_ms : CONNECT_MS;
	CURLcode code = CURLE_OK;

#define SET(option, value) (code = code ? code : p->easy_setopt(p->curl, option, value))
	SET(CURLOPT_ERRORBUFFER, p->error);
	SET(CURLOPT_URL, s->url);
	SET(CURLOPT_PROTOCOLS_STR, "http,https");
	SET(CURLOPT_NOSIGNAL, 1L);
	SET(CURLOPT_POST, 1L);
	SET(CURLOPT_USERAGENT, "spoor/" SPOOR_VERSION);
	SET(CURLOPT_HTTPHEADER, p->headers);
	SET(CURLOPT_TIMEOUT_MS, (long)s->timeout_ms);
	SET(CURLOPT_CONNECTTIMEOUT_MS, connect_ms);
	SET(CURLOPT_WRITEFUNCTION, on_body);
	SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	if (s->ca) {
		SET(CURLOPT_CAINFO, s->ca);
		SET(CURLOPT_CAPATH, NULL);
	}
	if (s->certificate)
		SET(CURLOPT_SSLCERT, s->certificate);
	if (s->key)
		SET(CURLOPT_SSLKEY, s->key);
#undef SET
	if (!code)
		return 0;
	print_buffer(why, SEND_WHY_MAX, "libcurl: %s", p->easy_strerror(code));
	return code == CURLE_OUT_OF_MEMORY ? -ENOMEM : -EINVAL;
}

int http_poster_open(const struct send_settings *s, struct http_poster **ret,
		     char why[SEND_WHY_MAX])
{
	struct http_poster *p = calloc(1, sizeof(*p));
	int err = p ? load(p, why) : -ENOMEM;

	if (!err) {
		p->s = s;
		p->curl = p->global_init(CURL_GLOBAL_DEFAULT) ? NULL : p->easy_init();
		err = p->curl ? set_headers(p) : -ENOMEM;
	}
	err = err ? err : set_options(p, why);
	if (err == -ENOMEM)
		print_buffer(why, SEND_WHY_MAX, "out of memory");
	if (!err)
		*ret = p;
	else
		http_poster_close(p);
	return err;
}

/* The library stays loaded: its threads may still run. */
void http_poster_close(struct http_poster *p)
{
	if (!p)
		return;
	if (p->headers)
		p->slist_free_all(p->headers);
	if (p->curl)
		p->easy_cleanup(p->curl);
	free(p);
}

/* A server that is starting, or a network that is slow, may answer the next time; a certificate
 * that does not hold will not. */
static bool may_pass(CURLcode code)
{
	return code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST ||
	       code == CURLE_COULDNT_RESOLVE_PROXY || code == CURLE_OPERATION_TIMEDOUT ||
	       code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR || code == CURLE_GOT_NOTHING ||
	       code == CURLE_PARTIAL_FILE;
}

static void read_answer(struct http_poster *p, struct http_reply *ret)
{
	const char *type = NULL;
	curl_off_t after_s = 0;

	p->easy_getinfo(p->curl, CURLINFO_RESPONSE_CODE, &ret->status);
	p->easy_getinfo(p->curl, CURLINFO_CONTENT_TYPE, &type);
	p->easy_getinfo(p->curl, CURLINFO_RETRY_AFTER, &after_s);
	ret->after_s = after_s > 0 ? (uint64_t)after_s : 0;
	print_buffer(ret->type, sizeof(ret->type), "%s", type ? type : "");
}

void http_post(struct http_poster *p, const uint8_t *body, size_t count, struct http_reply *ret)
{
	CURLcode code;

	*ret = (struct http_reply){0};
	*p->error = 0;
	p->easy_setopt(p->curl, CURLOPT_WRITEDATA, ret);
	p->easy_setopt(p->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)count);
	p->easy_setopt(p->curl, CURLOPT_POSTFIELDS, body);
	code = p->easy_perform(p->curl);
	if (!code || (code == CURLE_WRITE_ERROR && ret->cut)) {
		read_answer(p, ret);
		return;
	}
	ret->again = may_pass(code);
	print_buffer(ret->why, sizeof(ret->why), "%s",
		     *p->error ? p->error : p->easy_strerror(code));
}
