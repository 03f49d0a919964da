/*
 * Collapsed stacks, the input of flamegraph.pl and its like: a line per chain, its frames with ";"
 * between them, a space, the weight. There is no way to quote: what would be read as something else
 * is replaced, as stackcollapse-perf.pl does it.
 */
#include <inttypes.h>

#include "report/export_tree.h"

static void put_text(const char *text, FILE *out)
{
	for (; *text; text++) {
		const unsigned char *c = (const unsigned char *)text;

		if (*c == ';') {
			putc_unlocked(':', out);
		} else if (*c == ' ') {
			putc_unlocked('_', out);
		} else if (*c < 0x20 || *c == 0x7f) {
			putc_unlocked('?', out);
		} else if (c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0) {
			/* C1 control characters, U+0080 to U+009F */
			putc_unlocked('?', out);
			text++;
		} else {
			putc_unlocked(*c, out);
		}
	}
}

static void put_frame(const struct export_frame *frame, FILE *out)
{
	fputs(frame->before, out);
	put_text(frame->outer, out);
	fputs(frame->joint, out);
	put_text(frame->name, out);
	fputs(frame->after, out);
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
