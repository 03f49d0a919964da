/* log/write/object_out.h: writes blocks of object events into a log. */
#pragma once

struct log_writer;
struct object_out;
struct object_record;

/* The writer is lent until object_out_free. NULL: no memory. */
struct object_out *object_out_new(struct log_writer *w);
/* Without what has not been flushed. NULL is ignored. */
void object_out_free(struct object_out *o);
/* Texts are cleaned and cut on the way. 0 or -ENOMEM; errors of writing are the writer's. */
int object_out_add(struct object_out *o, const struct object_record *r);
void object_out_flush(struct object_out *o);
