/* report/model/diff/diff_name.h: names by which logs are aligned. */
#pragma once

struct log_method;
struct strbuf;

/* "a.Table.lookUp", of generated classes as generated_name.h has it. */
void diff_name_method(struct strbuf *s, const struct log_method *m);
/* "a.Table (1)": rank is the lock's among those of its class. */
void diff_name_lock(struct strbuf *s, const char *class_name, unsigned rank);
