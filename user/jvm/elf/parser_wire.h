/* jvm/elf/parser_wire.h: what goes between the recorder and its parser process. For parser*.c
 * only. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "jvm/elf/parser.h"

enum parser_kind {
	PARSER_LIBJVM,
	PARSER_USDT,
	PARSER_FUNCTIONS,
	PARSER_RULE,
	PARSER_SYMBOL, /* the answer is a struct elf_symbol */
	PARSER_KIND_COUNT
};

/* A request is one packet, with the file's descriptor. */
struct parser_request {
	uint32_t seq;  /* of its answer */
	uint32_t kind; /* enum parser_kind */
	uint32_t slot, deadline_ms;
	uint64_t vaddr;
};

/* seq of a packet by which the zygote says that a parser died; err is its wait status. */
#define PARSER_DIED 0

#define PARSER_CHUNK 32768
#define PARSER_ANSWER_MAX (8u << 20)

/* An answer is one packet or more: this, and the next chunk of it. */
struct parser_head {
	uint32_t seq;
	int32_t err;
	uint32_t size, at; /* of the whole answer; of this chunk in it */
};

struct parser_packet {
	struct parser_head head;
	char bytes[PARSER_CHUNK];
};

/* The answer to PARSER_RULE. */
struct parser_rule_answer {
	uint32_t cfa_from_fp, fp_saved;
	int32_t cfa_offset, fp_offset;
	uint32_t return_kept;
	int32_t return_offset;
};

/* The recorder's end of a socket to a process that has been started. Both become the parser's. */
int parser_over(int sock, pid_t zygote, struct parser **ret);
/* The child's whole life: sock is its end of the socket. */
__attribute__((noreturn)) void parser_zygote_run(int sock, int parent);
