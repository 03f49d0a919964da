/* jvm/elf/parser.c: answers come back; the process has no rights; what it dies of hurts nobody. */
#include "base/arch/arch.h"
#include "jvm/elf/parser.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "jvm/elf/libjvm.h"
#include "jvm/elf/parser_wire.h"
#include "jvm/elf/usdt.h"
#include "tests/unit/alloc_fail.h"

#define DEADLINE_MS 20000

extern const char __executable_start[]; /* the linker's: where address 0 of the file is */

static int setup(void **state)
{
	return parser_new((struct parser **)state);
}

static int teardown(void **state)
{
	parser_free(*state);
	return 0;
}

static int exe_open(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static int file_of(const void *bytes, size_t size)
{
	int fd = memfd_create("file", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	return fd;
}

/* The first child of a process, 0: it has none. */
static pid_t child_of(pid_t pid)
{
	char path[96], text[32] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	f = fopen(path, "re");
	if (f) {
		if (!fgets(text, sizeof(text), f))
			*text = 0;
		fclose(f);
	}
	return (pid_t)atoi(text);
}

static void status_line(pid_t pid, const char *key, char ret[64])
{
	char path[64], line[256];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	assert_non_null(f);
	*ret = 0;
	while (fgets(line, sizeof(line), f))
		if (!strncmp(line, key, strlen(key)) && line[strlen(key)] == ':')
			snprintf(ret, 64, "%.*s", (int)strcspn(line + strlen(key) + 2, "\n"),
				 line + strlen(key) + 2);
	fclose(f);
}

static void assert_usable(struct parser *p)
{
	struct usdt_list list;
	int fd = exe_open();

	assert_int_equal(parser_usdt(p, fd, DEADLINE_MS, &list), 0);
	usdt_list_free(&list);
	close(fd);
}

static void rules_come_from_the_file(void **state)
{
	/* At any function's entry what the call has put there alone is on the stack. */
	uint64_t vaddr = (uint64_t)((uintptr_t)parser_free - (uintptr_t)__executable_start);
	struct unwind_rule r;
	int fd;

	/* Where no walk begins they are not asked for: on arm64 none was found for this program. */
	if (ARCH_HERE.walks_last < ARCH_HERE.walks_first)
		skip();
	fd = exe_open();
	assert_int_equal(parser_rule(*state, 1, fd, vaddr, &r), 0);
	assert_int_equal(r.cfa_offset, -ARCH_HERE.call_return_at);
	assert_false(r.cfa_from_fp);
	assert_int_equal(parser_rule(*state, 1, fd, UINT64_MAX - 8, &r), -ENOENT);
	assert_int_equal(parser_rule(*state, PARSER_SLOTS, fd, vaddr, &r), -EINVAL);
	close(fd);
}

/* A mapping of a file that is no ELF file made the recorder free what was on its stack. */
static void what_is_no_library_leaves_the_result_alone(void **state)
{
	struct usdt_list list;
	struct unwind_rule r;
	struct libjvm lib;
	char before[sizeof(list)];
	int fds[2], fd = file_of("x\n", 2), exe = exe_open();

	memset(&list, 0x41, sizeof(list));
	memcpy(before, &list, sizeof(list));
	assert_int_equal(parser_usdt(*state, fd, DEADLINE_MS, &list), -ENOEXEC);
	assert_int_equal(parser_libjvm(*state, fd, &lib), -ENOEXEC);
	assert_int_equal(parser_rule(*state, 0, fd, 0, &r), -EPROTO);
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(parser_usdt(*state, fds[0], DEADLINE_MS, &list), -ENOEXEC);
	assert_int_equal(parser_usdt(*state, -1, DEADLINE_MS, &list), -EBADF);
	assert_memory_equal(&list, before, sizeof(list));
	assert_int_equal(parser_libjvm(*state, exe, &lib), -ENOENT);
	assert_usable(*state);
	close(fds[0]);
	close(fds[1]);
	close(fd);
	close(exe);
}

static void it_has_no_rights(void **state)
{
	pid_t both[] = {child_of(getpid()), 0};
	char text[64];

	assert_usable(*state); /* it is past its preparations now */
	both[1] = child_of(both[0]);
	assert_true(both[0] > 0 && both[1] > 0);
	for (size_t i = 0; i < 2; i++) {
		status_line(both[i], "CapEff", text);
		assert_string_equal(text, "0000000000000000");
		status_line(both[i], "CapPrm", text);
		assert_string_equal(text, "0000000000000000");
		status_line(both[i], "NoNewPrivs", text);
		assert_string_equal(text, "1");
		status_line(both[i], "Seccomp", text);
		assert_string_equal(text, "2");
		status_line(both[i], "Name", text);
		assert_string_equal(text, "spoor-parser");
	}
}

/* 64 MiB of notes take longer than a millisecond. */
static int long_file(void)
{
	const Elf64_Ehdr head = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB},
		.e_shoff = sizeof(head),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 1};
	const Elf64_Shdr section = {.sh_type = SHT_NOTE, .sh_size = 64u << 20, .sh_offset = 4096};
	int fd = file_of(&head, sizeof(head));

	assert_int_equal(write(fd, &section, sizeof(section)), sizeof(section));
	assert_int_equal(ftruncate(fd, 128 << 20), 0);
	return fd;
}

static void a_deadline_ends_the_parser_and_another_follows(void **state)
{
	pid_t zygote = child_of(getpid()), first;
	struct usdt_list list;
	int fd = long_file();

	assert_usable(*state);
	first = child_of(zygote);
	assert_int_equal(parser_usdt(*state, fd, DEADLINE_MS, &list), 0);
	assert_int_equal(list.count, 0);
	usdt_list_free(&list);
	assert_int_equal(parser_usdt(*state, fd, 1, &list), -ETIME);
	assert_usable(*state);
	assert_int_equal(child_of(getpid()), zygote);
	assert_int_not_equal(child_of(zygote), first);
	close(fd);
}

/* It is nobody's fault: no file is to be blamed for it. */
static void one_that_is_killed_meanwhile_is_replaced(void **state)
{
	pid_t zygote = child_of(getpid()), first;

	assert_usable(*state);
	first = child_of(zygote);
	assert_int_equal(kill(first, SIGKILL), 0);
	while (child_of(zygote) == first || !child_of(zygote))
		sched_yield();
	assert_usable(*state);
}

/* One that was taken over may not answer at all. */
static void one_that_does_not_answer_is_given_up(void **state)
{
	pid_t zygote = child_of(getpid()), parser;
	struct usdt_list list;
	struct unwind_rule r;
	int fd = exe_open();

	assert_usable(*state);
	parser = child_of(zygote);
	assert_int_equal(kill(parser, SIGSTOP), 0);
	assert_int_equal(parser_usdt(*state, fd, 1, &list), -ETIME);
	assert_int_equal(child_of(getpid()), 0);
	assert_int_equal(parser_usdt(*state, fd, DEADLINE_MS, &list), -ECHILD);
	assert_int_equal(parser_rule(*state, 0, fd, 0, &r), -ECHILD);
	close(fd);
}

/* --- answers of one that was taken over ---------------------------------------------------- */

/* A parser of whom the test is the other end. */
struct forger {
	struct parser *p;
	int sock, file;
};

static void forger_begin(struct forger *f)
{
	int sock[2];
	pid_t child;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sock), 0);
	child = fork();
	if (!child) {
		pause();
		_exit(0);
	}
	assert_int_equal(parser_over(sock[0], child, &f->p), 0);
	f->sock = sock[1];
	f->file = exe_open();
}

static void forger_end(struct forger *f)
{
	parser_free(f->p);
	close(f->sock);
	close(f->file);
}

struct forged {
	struct forger *f;
	struct parser_head heads[3]; /* seq 1: that of the request */
	size_t lens[3];
	unsigned count;
};

/* Answers the next request. */
static void *forge(void *forged)
{
	static const struct parser_packet empty;
	const struct forged *a = forged;
	struct parser_packet packet = empty;
	struct parser_request q;

	if (recv(a->f->sock, &q, sizeof(q), 0) != sizeof(q))
		return NULL;
	for (unsigned i = 0; i < a->count; i++) {
		packet.head = a->heads[i];
		if (packet.head.seq == 1)
			packet.head.seq = q.seq;
		send(a->f->sock, &packet, a->lens[i], MSG_NOSIGNAL);
	}
	return NULL;
}

static int ask_forger(struct forged *a)
{
	struct unwind_rule r;
	pthread_t thread;
	int err;

	assert_int_equal(pthread_create(&thread, NULL, forge, a), 0);
	err = parser_rule(a->f->p, 0, a->f->file, 0, &r);
	pthread_join(thread, NULL);
	return err;
}

static void forged_answers_are_refused(void **state)
{
	enum { HEAD = sizeof(struct parser_head), RULE = sizeof(struct parser_rule_answer) };
	static const struct {
		struct parser_head head[2];
		size_t len[2];
		unsigned count;
		int err;
	} cases[] = {
		{{{1, 0, RULE, 0}}, {HEAD + RULE}, 1, 0},
		{{{7, 0, RULE, 0}, {1, 0, RULE, 0}}, {HEAD + RULE, HEAD + RULE}, 2, 0},
		{{{1, 0, RULE, 0}, {1, 0, RULE, 4}}, {HEAD + 4, HEAD + RULE - 4}, 2, 0},
		{{{1, -ENOENT, 0, 0}}, {HEAD}, 1, -ENOENT},
		{{{1, 5, 0, 0}}, {HEAD}, 1, -EPROTO},
		{{{1, INT32_MIN, 0, 0}}, {HEAD}, 1, -EPROTO},
		{{{1, 0, 0, 0}}, {HEAD}, 1, -EPROTO},               /* nothing */
		{{{1, 0, RULE, 0}}, {HEAD + RULE + 1}, 1, -EPROTO}, /* more than said */
		{{{1, 0, RULE, 8}}, {HEAD + 8}, 1, -EPROTO},        /* from the middle */
		{{{1, 0, RULE, 0}}, {HEAD}, 1, -EPROTO},            /* a chunk of nothing */
		{{{1, 0, RULE + 1, 0}}, {HEAD + RULE + 1}, 1, -EPROTO},
		{{{1, 0, UINT32_MAX, 0}}, {HEAD + RULE}, 1, -EPROTO},
		{{{1, 0, RULE, 0}, {1, 0, 1 << 20, 4}}, {HEAD + 4, HEAD + 64}, 2, -EPROTO},
		{{{PARSER_DIED, SIGALRM, 0, 0}}, {HEAD}, 1, -ETIME},
		{{{PARSER_DIED, SIGSEGV, 0, 0}}, {HEAD}, 1, -ELIBBAD},
	};
	struct forger f;

	(void)state;
	forger_begin(&f);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct forged a = {.f = &f, .count = cases[i].count};

		memcpy(a.heads, cases[i].head, sizeof(cases[i].head));
		memcpy(a.lens, cases[i].len, sizeof(cases[i].len));
		assert_int_equal(ask_forger(&a), cases[i].err);
	}
	forger_end(&f);
}

static void a_packet_without_a_head_is_the_end(void **state)
{
	struct forger f;
	struct forged a = {.f = &f, .count = 1, .lens = {3}};

	(void)state;
	forger_begin(&f);
	assert_int_equal(ask_forger(&a), -ECHILD);
	forger_end(&f);
}

static void without_its_zygote_there_is_none(void **state)
{
	pid_t zygote = child_of(getpid());
	struct usdt_list list = {0};
	int fd = exe_open();

	assert_usable(*state);
	assert_int_equal(kill(zygote, SIGKILL), 0);
	for (; parser_usdt(*state, fd, DEADLINE_MS, &list) != -ECHILD; list = (struct usdt_list){0})
		usdt_list_free(&list);
	close(fd);
}

static void allocations_may_fail(void **state)
{
	unsigned long n = 0;
	int fd = exe_open(), err;
	bool failed;

	(void)state;
	assert_true(alloc_fail_share());
	do {
		struct parser *p = NULL;
		struct usdt_list list;

		alloc_fail_at(n++);
		err = parser_new(&p);
		if (!err)
			err = parser_usdt(p, fd, DEADLINE_MS, &list);
		failed = alloc_fail_off();
		/* One of a child's: it does not start, or dies of it. */
		assert_true(!err || (failed && (err == -ENOMEM || err == -ECHILD || err == -ELIBBAD)));
		if (!err)
			usdt_list_free(&list);
		parser_free(p);
	} while (failed);
	assert_true(n > 10);
	close(fd);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(rules_come_from_the_file),
		TEST(what_is_no_library_leaves_the_result_alone),
		TEST(it_has_no_rights),
		TEST(a_deadline_ends_the_parser_and_another_follows),
		TEST(one_that_is_killed_meanwhile_is_replaced),
		TEST(one_that_does_not_answer_is_given_up),
		cmocka_unit_test(forged_answers_are_refused),
		cmocka_unit_test(a_packet_without_a_head_is_the_end),
		TEST(without_its_zygote_there_is_none),
		cmocka_unit_test(allocations_may_fail),
	};

	return cmocka_run_group_tests_name("parser", tests, NULL, NULL);
}
