/* probe/log_error.h: why a log cannot be written, in the user's terms. */
#pragma once

/* A negative errno of the log's writer. Static text. */
const char *log_error_text(int err);
