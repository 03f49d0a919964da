#include "report/web/page.h"

#include "report/web/page_data.h"
#include "report/web/page_shell.h"
#include "report/web/page_template.h"

static int data_write(void *ctx, FILE *out)
{
	return page_data_write(ctx, out);
}

int report_page(const struct page_input *in, FILE *out)
{
	const struct page_shell shell = {.template = page_template,
					 .title = in->title,
					 .data = data_write,
					 .ctx = (void *)in};

	return page_shell_write(&shell, out);
}
