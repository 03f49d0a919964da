/* ship/send_settings.h: where a message goes by HTTP, and with what: by options, and by the
 * variables OTEL_EXPORTER_OTLP_... that exporters of OpenTelemetry read. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define SEND_WHY_MAX 512

struct send_options {
	const char *endpoint; /* a URL; "env": the one of the environment */
	const char *headers;  /* a file of lines "NAME: VALUE"; NULL: none */
	const char *ca;       /* certificates of authorities, as PEM; NULL: the system's */
	uint64_t timeout_ns;  /* of an attempt; 0: not given */
};

struct send_settings {
	char *url;
	char **headers; /* "NAME: VALUE" */
	uint32_t header_count, header_capacity;
	const char *ca, *certificate, *key; /* paths, lent; NULL: none is given */
	uint64_t timeout_ms;
	bool plain; /* not compressed */
};

/*
 * env: as getenv(3); what it returns is lent until ret is freed. A variable of profiles,
 * OTEL_EXPORTER_OTLP_PROFILES_..., goes before the one of all signals. 0; -EINVAL: why says what is
 * wrong with what; -ENOMEM. ret is to be freed in any case.
 */
int send_settings_make(const struct send_options *o, char *(*env)(const char *),
		       struct send_settings *ret, char why[SEND_WHY_MAX]);
void send_settings_free(struct send_settings *s);
