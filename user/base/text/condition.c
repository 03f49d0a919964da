#include "base/text/condition.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/strbuf.h"

#define NODES_MAX 256
#define DEPTH_MAX 64 /* of parentheses and "not" */

enum node_kind { NODE_IS, NODE_NOT, NODE_AND, NODE_OR };

struct node {
	enum node_kind kind;
	int name;
	char *glob;
	uint16_t left, right; /* NODE_NOT: left alone */
};

struct condition {
	struct node nodes[NODES_MAX];
	uint16_t count, root;
};

struct parser {
	struct condition *condition;
	const struct condition_names *names;
	const char *text, *at;
	unsigned depth;
	char *error;
};

static int fail(const struct parser *p, const char *what)
{
	snprintf(p->error, CONDITION_ERROR_MAX, "at character %zu: %s",
		 (size_t)(p->at - p->text) + 1, what);
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
	if (p->condition->count == NODES_MAX) {
		free(node.glob);
		return fail(p, "the condition is too long");
	}
	*ret = p->condition->count++;
	p->condition->nodes[*ret] = node;
	return 0;
}

static int no_name(const struct parser *p, const char *name, size_t length)
{
	char what[CONDITION_ERROR_MAX - 64];
	const char *next;

	/* "an aspect" without its article. */
	snprintf(what, sizeof(what), "there is no %s '%.*s'; there are ",
		 strchr(p->names->noun, ' ') + 1, (int)(length < 64 ? length : 64), name);
	for (int i = 0; (next = p->names->name(p->names->ctx, i)); i++)
		buffer_add(what, sizeof(what), "%s%s", i ? ", " : "", next);
	return fail(p, what);
}

static int missing(const struct parser *p, const char *what)
{
	char text[CONDITION_ERROR_MAX - 64];

	snprintf(text, sizeof(text), "%s is missing, as in %s", what, p->names->example);
	return fail(p, text);
}

static int parse_name(struct parser *p, int *ret)
{
	size_t length = strspn(p->at, "abcdefghijklmnopqrstuvwxyz_");

	if (!length)
		return missing(p, p->names->noun);
	*ret = p->names->find(p->names->ctx, p->at, length);
	if (*ret < 0)
		return no_name(p, p->at, length);
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
		return missing(p, "a value");
	*ret = strndup(begin, length);
	p->at = begin + length + (quote != '\0');
	return *ret ? 0 : -ENOMEM;
}

static int parse_is(struct parser *p, uint16_t *ret)
{
	struct node is = {.kind = NODE_IS}, not = {.kind = NODE_NOT};
	int err = parse_name(p, &is.name);
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

int condition_parse(const char *text, const struct condition_names *names, struct condition **ret,
		    char error[CONDITION_ERROR_MAX])
{
	struct condition *c = calloc(1, sizeof(*c));
	struct parser p = {
		.condition = c, .names = names, .text = text, .at = text, .error = error};
	int err = c ? parse_or(&p, &c->root) : -ENOMEM;

	if (!err) {
		skip_blanks(&p);
		if (*p.at)
			err = fail(&p, "'and' or 'or' is missing");
	}
	if (!err)
		*ret = c;
	else
		condition_free(c);
	return err;
}

void condition_free(struct condition *c)
{
	for (uint16_t i = 0; c && i < c->count; i++)
		free(c->nodes[i].glob);
	free(c);
}

int condition_next_name(const struct condition *c, unsigned *at)
{
	while (*at < c->count) {
		const struct node *n = &c->nodes[(*at)++];

		if (n->kind == NODE_IS)
			return n->name;
	}
	return -1;
}

/* As deep as it was parsed: lists go to the left. */
static bool holds(const struct condition *c, condition_is *is, void *ctx, uint16_t at)
{
	const struct node *n = &c->nodes[at];

	switch (n->kind) {
	case NODE_IS:
		return is(ctx, n->name, n->glob);
	case NODE_NOT:
		return !holds(c, is, ctx, n->left);
	case NODE_AND:
		return holds(c, is, ctx, n->left) && holds(c, is, ctx, n->right);
	case NODE_OR:
		return holds(c, is, ctx, n->left) || holds(c, is, ctx, n->right);
	}
	return false;
}

bool condition_holds(const struct condition *c, condition_is *is, void *ctx)
{
	return holds(c, is, ctx, c->root);
}
