#include "report/model/where.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cells/stacks.h"
#include "base/text/strbuf.h"

#define NODES_MAX 256
#define DEPTH_MAX 64 /* of parentheses and "not" */
#define AFTER_WAIT ASPECT_COUNT

enum node_kind { NODE_IS, NODE_NOT, NODE_AND, NODE_OR };

struct node {
	enum node_kind kind;
	int aspect; /* enum aspect_id, or AFTER_WAIT */
	char *glob;
	uint16_t left, right; /* NODE_NOT: left alone */
};

struct where {
	struct node nodes[NODES_MAX];
	uint16_t count, root;
};

struct parser {
	struct where *where;
	const char *text, *at;
	unsigned depth;
	char *error;
};

static int fail(const struct parser *p, const char *what)
{
	snprintf(p->error, WHERE_ERROR_MAX, "at character %zu: %s", (size_t)(p->at - p->text) + 1,
		 what);
	return -EINVAL;
}

static void skip_blanks(struct parser *p)
{
	p->at += strspn(p->at, " \t\n");
}

/* A word that is not the beginning of a longer one. */
static bool take_word(struct parser *p, const char *word)
{
	size_t length = strlen(word);

	skip_blanks(p);
	if (strncmp(p->at, word, length) || !strchr(" \t\n()", p->at[length]))
		return false;
	p->at += length;
	return true;
}

static bool take_char(struct parser *p, char c)
{
	skip_blanks(p);
	if (*p->at != c)
		return false;
	p->at++;
	return true;
}

static int node_new(struct parser *p, struct node node, uint16_t *ret)
{
	if (p->where->count == NODES_MAX) {
		free(node.glob);
		return fail(p, "the condition is too long");
	}
	*ret = p->where->count++;
	p->where->nodes[*ret] = node;
	return 0;
}

static int no_aspect(const struct parser *p, const char *name, size_t length)
{
	char what[WHERE_ERROR_MAX - 64];

	snprintf(what, sizeof(what), "there is no aspect '%.*s'; there are ",
		 (int)(length < 64 ? length : 64), name);
	for (int i = 0; i < ASPECT_COUNT; i++)
		buffer_add(what, sizeof(what), "%s, ", aspect_get(i)->name);
	buffer_add(what, sizeof(what), "after_wait");
	return fail(p, what);
}

static int parse_aspect(struct parser *p, int *ret)
{
	static const char after_wait[] = "after_wait";
	size_t length = strspn(p->at, "abcdefghijklmnopqrstuvwxyz_");

	if (!length)
		return fail(p, "an aspect is missing, as in lock_class=*Table*");
	*ret = length == strlen(after_wait) && !memcmp(p->at, after_wait, length)
		       ? AFTER_WAIT
		       : aspect_by_name(p->at, length);
	if (*ret < 0)
		return no_aspect(p, p->at, length);
	p->at += length;
	return 0;
}

static int parse_value(struct parser *p, char **ret)
{
	char quote = *p->at == '"' || *p->at == '\'' ? *p->at : '\0';
	const char *begin = p->at + (quote != '\0');
	size_t length = quote ? strcspn(begin, (char[]){quote, '\0'}) : strcspn(begin, " \t\n()");

	if (quote && begin[length] != quote)
		return fail(p, "the quote has no end");
	if (!quote && !length)
		return fail(p, "a value is missing, as in lock_class=*Table*");
	*ret = strndup(begin, length);
	p->at = begin + length + (quote != '\0');
	return *ret ? 0 : -ENOMEM;
}

static int parse_is(struct parser *p, uint16_t *ret)
{
	struct node is = {.kind = NODE_IS}, not = {.kind = NODE_NOT};
	int err = parse_aspect(p, &is.aspect);
	bool negated;

	if (err)
		return err;
	negated = take_char(p, '!');
	if (!take_char(p, '='))
		return fail(p, "= or != is missing");
	skip_blanks(p);
	err = parse_value(p, &is.glob);
	if (!err)
		err = node_new(p, is, negated ? &not .left : ret);
	return err || !negated ? err : node_new(p, not, ret);
}

static int parse_or(struct parser *p, uint16_t *ret);

static int parse_unary(struct parser *p, uint16_t *ret)
{
	struct node not = {.kind = NODE_NOT};
	int err;

	if (++p->depth > DEPTH_MAX)
		return fail(p, "too many parentheses within each other");
	if (take_word(p, "not")) {
		err = parse_unary(p, &not .left);
		err = err ? err : node_new(p, not, ret);
	} else if (take_char(p, '(')) {
		err = parse_or(p, ret);
		if (!err && !take_char(p, ')'))
			err = fail(p, "a ) is missing");
	} else {
		err = parse_is(p, ret);
	}
	p->depth--;
	return err;
}

/* Operands with one word between them. */
static int parse_list(struct parser *p, const char *word, enum node_kind kind,
		      int operand(struct parser *, uint16_t *), uint16_t *ret)
{
	struct node node = {.kind = kind};
	int err = operand(p, ret);

	while (!err && take_word(p, word)) {
		node.left = *ret;
		err = operand(p, &node.right);
		err = err ? err : node_new(p, node, ret);
	}
	return err;
}

static int parse_and(struct parser *p, uint16_t *ret)
{
	return parse_list(p, "and", NODE_AND, parse_unary, ret);
}

static int parse_or(struct parser *p, uint16_t *ret)
{
	return parse_list(p, "or", NODE_OR, parse_and, ret);
}

int where_parse(const char *text, struct where **ret, char error[WHERE_ERROR_MAX])
{
	struct where *w = calloc(1, sizeof(*w));
	struct parser p = {.where = w, .text = text, .at = text, .error = error};
	int err = w ? parse_or(&p, &w->root) : -ENOMEM;

	if (!err) {
		skip_blanks(&p);
		if (*p.at)
			err = fail(&p, "'and' or 'or' is missing");
	}
	if (!err)
		*ret = w;
	else
		where_free(w);
	return err;
}

void where_free(struct where *w)
{
	for (uint16_t i = 0; w && i < w->count; i++)
		free(w->nodes[i].glob);
	free(w);
}

/* A cell, and what it takes to name it. */
struct subject {
	const struct labels *labels;
	const struct stacks *stacks;
	const struct cell *cell;
};

static bool any_frame(const struct subject *s, const char *glob, uint64_t stack)
{
	char label[LABEL_MAX];
	struct stacks_frame f;

	while (stacks_next(s->stacks, &stack, &f)) {
		if (f.method && !fnmatch(glob, label_method_name(f.method, label), 0))
			return true;
	}
	return false;
}

static bool is(const struct subject *s, const struct node *n)
{
	const struct group g = {.aspect = n->aspect, .cell = s->cell};
	char label[LABEL_MAX];

	if (n->aspect == AFTER_WAIT)
		return !fnmatch(n->glob, s->cell->after_wait ? "yes" : "no", 0);
	if (n->aspect == ASPECT_WAITER_STACK && group_stack(s->stacks, &g))
		return any_frame(s, n->glob, s->cell->waiter_stack);
	if (n->aspect == ASPECT_OWNER_STACK && group_stack(s->stacks, &g))
		return any_frame(s, n->glob, s->cell->holder_stack);
	return !fnmatch(n->glob, label_group(s->labels, s->stacks, &g, label), 0);
}

/* As deep as it was parsed: lists go to the left. */
static bool holds(const struct where *w, const struct subject *s, uint16_t at)
{
	const struct node *n = &w->nodes[at];

	switch (n->kind) {
	case NODE_IS:
		return is(s, n);
	case NODE_NOT:
		return !holds(w, s, n->left);
	case NODE_AND:
		return holds(w, s, n->left) && holds(w, s, n->right);
	case NODE_OR:
		return holds(w, s, n->left) || holds(w, s, n->right);
	}
	return false;
}

int where_cells(const struct where *w, const struct stacks *stacks, const struct cell *cells,
		uint32_t count, struct cell **ret, uint32_t *ret_count)
{
	struct labels *labels = labels_new(stacks_names(stacks));
	struct cell *chosen = malloc((count + 1ul) * sizeof(*chosen));
	struct subject s = {.labels = labels, .stacks = stacks};
	uint32_t n = 0;

	if (!labels || !chosen) {
		labels_free(labels);
		free(chosen);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < count; i++) {
		s.cell = &cells[i];
		if (holds(w, &s, w->root))
			chosen[n++] = cells[i];
	}
	labels_free(labels);
	*ret = chosen;
	*ret_count = n;
	return 0;
}
