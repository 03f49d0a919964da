/*
 * The target's files are its own: with forged headers, notes and unwind tables they are the input
 * that a process of root should parse least. So they are parsed in another process
 * (parser_child.c), which has no capability, no descriptor but a socket and the file in question, a
 * seccomp filter, and limits on memory and time: what a file can take over or hold up there is
 * nothing.
 *
 * There are two: the parser, and a zygote that forks it, so that one that a file has killed, by its
 * deadline or by a fault, is followed by another without a copy of the recorder, which is large by
 * then. Requests and answers are packets on one socket; a file goes with its request.
 *
 * Answers are believed as little as the files: their lengths and numbers are looked at here, and
 * what they say leads to nothing but reads of the target's memory, and to probes in its file, which
 * the kernel looks at. A parser that answers nothing at all is waited for GRACE_MS beyond the
 * deadline, then both are killed, and nothing more is parsed.
 */
#include "jvm/elf/parser.h"

#include "jvm/elf/libjvm.h"
#include "jvm/elf/parser_wire.h"
#include "jvm/elf/usdt.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define GRACE_MS 2000

struct parser {
	int sock; /* -1: there is no parser any more */
	pid_t zygote;
	uint32_t seq;
	struct parser_packet packet;
};

int parser_over(int sock, pid_t zygote, struct parser **ret)
{
	struct parser *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->sock = sock;
	p->zygote = zygote;
	*ret = p;
	return 0;
}

int parser_new(struct parser **ret)
{
	pid_t self = getpid(), zygote;
	struct parser *p;
	int sock[2], err;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sock))
		return -errno;
	err = parser_over(sock[0], 0, &p);
	if (err) {
		close(sock[0]);
		close(sock[1]);
		return err;
	}
	zygote = fork();
	if (!zygote)
		parser_zygote_run(sock[1], self);
	err = zygote < 0 ? -errno : 0;
	close(sock[1]);
	if (err) {
		close(sock[0]);
		free(p);
		return err;
	}
	p->zygote = zygote;
	*ret = p;
	return 0;
}

/* The parser dies with the zygote. */
static void stop(struct parser *p)
{
	if (p->sock < 0)
		return;
	close(p->sock);
	p->sock = -1;
	kill(p->zygote, SIGKILL);
	while (waitpid(p->zygote, NULL, 0) < 0 && errno == EINTR)
		;
}

void parser_free(struct parser *p)
{
	if (!p)
		return;
	stop(p);
	free(p);
}

const char *parser_error_text(int err)
{
	switch (err) {
	case -ETIME:
		return "its parsing was not done in time";
	case -ELIBBAD:
		return "the process that parsed it died of it";
	case -ECHILD:
		return "the process that parses such files could not be started, or has been "
		       "killed";
	case -EPROTO:
		return "its parsing gave no answer that makes sense";
	case -ENOEXEC:
		return "it is no library that this spoor can read";
	case -ESTALE:
		return "another file is at its path by now";
	default:
		return strerror(-err);
	}
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static int request_send(struct parser *p, struct parser_request *q, int file)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {.head = {.cmsg_len = CMSG_LEN(sizeof(int)),
			      .cmsg_level = SOL_SOCKET,
			      .cmsg_type = SCM_RIGHTS}};
	struct iovec io = {q, sizeof(*q)};
	struct msghdr m = {.msg_iov = &io,
			   .msg_iovlen = 1,
			   .msg_control = &control,
			   .msg_controllen = sizeof(control)};

	memcpy(CMSG_DATA(&control.head), &file, sizeof(file));
	return sendmsg(p->sock, &m, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

/* The length of the next packet, of which the head is complete. */
static int packet_take(struct parser *p, uint64_t until)
{
	for (;;) {
		struct pollfd fd = {.fd = p->sock, .events = POLLIN};
		uint64_t now = now_ms();
		ssize_t n;

		if (now >= until)
			return -ETIME;
		if (poll(&fd, 1, (int)(until - now)) <= 0)
			continue;
		n = recv(p->sock, &p->packet, sizeof(p->packet), MSG_DONTWAIT);
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n < (ssize_t)sizeof(p->packet.head))
			return -ECHILD;
		return (int)n;
	}
}

/* The wait status of one that died while it had our file. */
static int death(int status)
{
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? -ETIME : -ELIBBAD;
}

struct buffer {
	char *bytes;
	size_t len, size;
};

/* 1: there is more to come. */
static int chunk_add(const struct parser_packet *p, size_t len, struct buffer *b)
{
	len -= sizeof(p->head);
	if (p->head.err || p->head.size > PARSER_ANSWER_MAX || p->head.at != b->len ||
	    len > p->head.size - b->len || (!len && p->head.size))
		return p->head.err < 0 && p->head.err > -4096 ? p->head.err : -EPROTO;
	if (!b->bytes) {
		b->size = p->head.size;
		b->bytes = malloc(b->size + 1);
		if (!b->bytes)
			return -ENOMEM;
	}
	if (p->head.size != b->size)
		return -EPROTO;
	memcpy(b->bytes + b->len, p->bytes, len);
	b->len += len;
	return b->len < b->size;
}

static int answer_take(struct parser *p, uint64_t until, struct buffer *b)
{
	int err;

	do {
		int len = packet_take(p, until);

		if (len < 0)
			return len;
		if (p->packet.head.seq == PARSER_DIED)
			return death(p->packet.head.err);
		/* What is left of an earlier answer has another number. */
		err = p->packet.head.seq == p->seq ? chunk_add(&p->packet, (size_t)len, b) : 1;
	} while (err > 0);
	return err;
}

/* The answer's bytes, freed with free(). */
static int ask(struct parser *p, struct parser_request *q, int file, struct buffer *ret)
{
	struct buffer b = {0};
	uint64_t until = now_ms() + q->deadline_ms + GRACE_MS;
	int err;

	if (p->sock < 0)
		return -ECHILD;
	/* One that died between two requests has not died of this file. A parser that was taken
	 * over may send without an end: then the request goes out all the same, and the deadline
	 * comes. */
	while (now_ms() < until && recv(p->sock, &p->packet, sizeof(p->packet), MSG_DONTWAIT) > 0)
		;
	p->seq += p->seq + 1 == PARSER_DIED ? 2 : 1;
	q->seq = p->seq;
	err = request_send(p, q, file);
	if (err == -EPIPE || err == -ECONNRESET)
		err = -ECHILD;
	if (!err)
		err = answer_take(p, until, &b);
	if (err == -ECHILD || (err == -ETIME && now_ms() >= until))
		stop(p);
	if (err)
		free(b.bytes);
	else
		*ret = b;
	return err;
}

int parser_libjvm(struct parser *p, int file, struct libjvm *ret)
{
	struct parser_request q = {.kind = PARSER_LIBJVM, .deadline_ms = PARSER_ATTACH_MS};
	struct libjvm lib;
	struct buffer b;
	int err = ask(p, &q, file, &b);

	if (err)
		return err;
	if (b.len != sizeof(lib))
		err = -EPROTO;
	if (!err) {
		memcpy(&lib, b.bytes, sizeof(lib));
		err = libjvm_sound(&lib) ? 0 : -EPROTO;
	}
	if (!err)
		*ret = lib;
	free(b.bytes);
	return err;
}

static int ask_probes(struct parser *p, enum parser_kind kind, int file, unsigned deadline_ms,
		      struct usdt_list *ret)
{
	struct parser_request q = {.kind = kind, .deadline_ms = deadline_ms};
	struct buffer b;
	int err = ask(p, &q, file, &b);

	if (err)
		return err;
	err = usdt_list_decode(b.bytes, b.len, ret);
	free(b.bytes);
	return err;
}

int parser_usdt(struct parser *p, int file, unsigned deadline_ms, struct usdt_list *ret)
{
	return ask_probes(p, PARSER_USDT, file, deadline_ms, ret);
}

int parser_functions(struct parser *p, int file, unsigned deadline_ms, struct usdt_list *ret)
{
	return ask_probes(p, PARSER_FUNCTIONS, file, deadline_ms, ret);
}

int parser_rule(struct parser *p, unsigned slot, int file, uint64_t vaddr, struct unwind_rule *ret)
{
	struct parser_request q = {
		.kind = PARSER_RULE, .slot = slot, .deadline_ms = PARSER_RUN_MS, .vaddr = vaddr};
	struct parser_rule_answer flat;
	struct buffer b;
	int err = ask(p, &q, file, &b);

	if (err)
		return err;
	if (b.len == sizeof(flat)) {
		memcpy(&flat, b.bytes, sizeof(flat));
		*ret = (struct unwind_rule){.cfa_from_fp = flat.cfa_from_fp != 0,
					    .fp_saved = flat.fp_saved != 0,
					    .cfa_offset = flat.cfa_offset,
					    .fp_offset = flat.fp_offset,
					    .return_kept = flat.return_kept != 0,
					    .return_offset = flat.return_offset};
	} else {
		err = -EPROTO;
	}
	free(b.bytes);
	return err;
}

int parser_symbol(struct parser *p, unsigned slot, int file, uint64_t vaddr, struct elf_symbol *ret)
{
	struct parser_request q = {
		.kind = PARSER_SYMBOL, .slot = slot, .deadline_ms = PARSER_RUN_MS, .vaddr = vaddr};
	struct elf_symbol symbol;
	struct buffer b;
	int err = ask(p, &q, file, &b);

	if (err)
		return err;
	if (b.len == sizeof(symbol))
		memcpy(&symbol, b.bytes, sizeof(symbol));
	if (b.len == sizeof(symbol) && symbol.start <= vaddr && vaddr < symbol.end &&
	    memchr(symbol.name, 0, sizeof(symbol.name)))
		*ret = symbol;
	else
		err = -EPROTO;
	free(b.bytes);
	return err;
}
