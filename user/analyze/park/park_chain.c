/* What the frames of a chain say of a lock of java.util.concurrent; the essay is in juc_names.c. */
#include "analyze/park/park_chain.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/park/juc_names.h"
#include "log/format/event.h"
#include "log/read/names.h"

#define FRAMES_MAX 16 /* there are fewer between unpark and the method of the lock */

static void clue_take(const struct juc_clue *clue, struct park_chain *ret)
{
	if (!clue)
		return;
	if (!ret->unpark || (ret->unpark == UNPARK_REPAIR && clue->unpark == UNPARK_GIVE_UP))
		ret->unpark = clue->unpark;
	if (!ret->mode)
		ret->mode = clue->mode;
}

/* false: the frames after this one have nothing more to say. */
static bool frame_take(const struct log_method *m, bool *acquire, struct park_chain *ret)
{
	enum juc_code code = juc_code_of(m->class_name);

	clue_take(juc_clue_find(code, m->name), ret);
	if (code == JUC_AQS) {
		*acquire |= !strcmp(m->name, "acquire");
	} else if (code == JUC_CONDITION) {
		ret->awaits |= !strncmp(m->name, "await", 5);
	} else if (code == JUC_OTHER) {
		if (!ret->unpark)
			ret->unpark = UNPARK_OTHER;
		return false;
	}
	return true;
}

/* Shared acquisition goes through a method that says so; what only says acquire is exclusive. */
static struct park_chain read_chain(const struct log_names *names, uint64_t stack, bool *ret_known)
{
	struct park_chain chain = {0};
	bool acquire = false;

	*ret_known = false;
	for (int i = 0; i < FRAMES_MAX && stack; i++) {
		const struct log_stack *frame = log_names_stack(names, stack);
		const struct log_method *m = frame ? log_names_method(names, frame->method) : NULL;

		if (!m) {
			*ret_known = frame && !frame->method;
			return chain;
		}
		if (!frame_take(m, &acquire, &chain))
			break;
		stack = frame->caller;
	}
	if (acquire && !chain.mode)
		chain.mode = PARK_EXCLUSIVE;
	*ret_known = true;
	return chain;
}

bool park_chains_read_ready(const struct park_chains *c, uint64_t stack)
{
	bool known;

	if (!stack || !c->names)
		return true;
	read_chain(c->names, stack, &known);
	return known;
}

/* A new one. */
int park_chains_read(struct park_chains *c, uint64_t stack, struct park_chain *ret)
{
	struct keymap_key key = {.a = stack};
	struct park_chain chain = {0};
	uint32_t index;
	bool known;
	int err;

	if (!stack || !c->names) {
		*ret = chain;
		return 0;
	}
	/* What is not known by now is not waited for again. */
	chain = read_chain(c->names, stack, &known);
	err = keymap_add_row(&c->map, key, &c->rows, &c->capacity, sizeof(*c->rows), &index);
	if (err)
		return err;
	c->rows[index] = chain;
	*ret = chain;
	return 0;
}

void park_chains_free(struct park_chains *c)
{
	keymap_free(&c->map);
	free(c->rows);
	*c = (struct park_chains){.names = c->names};
}
