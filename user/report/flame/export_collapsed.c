/*
 * Collapsed stacks, the input of flamegraph.pl and its like: a line per chain, its frames with ";"
 * between them, a space, the weight. There is no way to quote: what would be read as something else
 * is replaced, as stackcollapse-perf.pl does it.
 */
#include <inttypes.h>
#include <string.h>

#include "base/text/print.h"
#include "report/flame/export_tree.h"

void collapsed_put(const char *text, FILE *out)
{
	size_t length = strlen(text), n;
	uint32_t code;

	for (; length; text += n, length -= n) {
		n = utf8_character(text, length, &code);
		if (!n || print_is_hidden(code))
			putc_unlocked('?', out);
		else if (code == ';' || code == ' ')
			putc_unlocked(code == ';' ? ':' : '_', out);
		else
			fwrite_unlocked(text, 1, n, out);
		n = n ? n : 1;
	}
}

static void put_frame(const struct export_frame *frame, FILE *out)
{
	print_own(out, frame->before);
	collapsed_put(frame->outer, out);
	print_own(out, frame->joint);
	collapsed_put(frame->name, out);
	print_own(out, frame->after);
	if (frame->line)
		fprintf(out, ":%" PRIu64, frame->line);
}

static int put_chain(struct export_tree *tree, uint32_t leaf, FILE *out)
{
	const uint32_t *chain;
	uint32_t count;
	int err = export_tree_chain(tree, leaf, &chain, &count);

	if (err)
		return err;
	for (uint32_t i = count; i-- > 0;) {
		put_frame(&tree->frames->rows[chain[i]], out);
		if (i)
			putc_unlocked(';', out);
	}
	fprintf(out, " %" PRIu64 "\n", tree->nodes[leaf].self_ns);
	return 0;
}

int export_collapsed(const struct export_input *in, enum export_side side, FILE *out)
{
	struct export_frames frames;
	struct export_tree tree = {0};
	int err = export_frames_init(&frames, in);

	if (!err)
		err = export_tree_init(&tree, &frames, side);
	for (uint32_t i = 0; i < tree.leaf_count && !err && !ferror_unlocked(out); i++)
		err = put_chain(&tree, tree.leaves[i], out);
	export_tree_free(&tree);
	export_frames_free(&frames);
	return err;
}
