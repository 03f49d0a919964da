/* report/protobuf/proto.h: fields of messages, as https://protobuf.dev/programming-guides/encoding/
 * has them. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/text/strbuf.h"

/*
 * A message is a row of fields, each with its number and its wire type before it: numbers as
 * varints or as eight bytes, texts and messages with their length. Fields are added to m, whose err
 * tells of missing memory.
 */
void proto_number(struct strbuf *m, unsigned field, uint64_t n);
/* One of several numbers that are a field together, as proto_part() of them. */
void proto_packed(struct strbuf *m, uint64_t n);
void proto_fixed64(struct strbuf *m, unsigned field, uint64_t n);
void proto_double(struct strbuf *m, unsigned field, double value);
/* UTF-8, as readers demand it: what is none becomes U+FFFD. */
void proto_text(struct strbuf *m, unsigned field, const char *text);
/* What is in part, as one field of m; part is an empty message after that. */
void proto_part(struct strbuf *m, unsigned field, struct strbuf *part);
/* Writes m, which is an empty one after that. 0 or -ENOMEM, and nothing is written; the error flag
 * of out tells the rest. */
int proto_write(struct strbuf *m, FILE *out);
