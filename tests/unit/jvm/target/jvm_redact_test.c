#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "jvm/target/redact.h"
#include "tests/unit/alloc_fail.h"

#define X REDACTED

/* An argument of its own, as it is and with the one before. */
static const struct {
	const char *argument, *redacted;
} rows[] = {
	/* what must stay */
	{"", ""},
	{"java", "java"},
	{"-jar", "-jar"},
	{"/opt/app/app-1.2.3.jar", "/opt/app/app-1.2.3.jar"},
	{"org.example.app.MainApplication", "org.example.app.MainApplication"},
	{"-Xmx4g", "-Xmx4g"},
	{"-XX:MaxHeapSize=4294967296", "-XX:MaxHeapSize=4294967296"},
	{"-XX:OnOutOfMemoryError=kill -9 %p", "-XX:OnOutOfMemoryError=kill -9 %p"},
	{"-Djava.net.preferIPv4Stack=true", "-Djava.net.preferIPv4Stack=true"},
	{"-Djavax.net.ssl.keyStore=/etc/ks.p12", "-Djavax.net.ssl.keyStore=/etc/ks.p12"},
	{"-Dapp.author=me", "-Dapp.author=me"},
	{"-Dbypass=1", "-Dbypass=1"},
	{"-Dpassive=1", "-Dpassive=1"},
	{"--spring.profiles.active=prod,eu", "--spring.profiles.active=prod,eu"},
	{"/x/token:/y/auth:/z", "/x/token:/y/auth:/z"},
	{"http://host:8080/path@v1?x=y&z=1", "http://host:8080/path@v1?x=y&z=1"},
	{"ssh://git@host/repo", "ssh://git@host/repo"},
	{"jdbc:oracle:thin:@//host:1521/db", "jdbc:oracle:thin:@//host:1521/db"},
	{"550e8400-e29b-41d4-a716-446655440000", "550e8400-e29b-41d4-a716-446655440000"},
	{"-agentlib:jdwp=transport=dt_socket,server=y",
	 "-agentlib:jdwp=transport=dt_socket,server=y"},
	{"a.very.long.ClassName$WithNumber2AndAnInnerClassOfItsOwn",
	 "a.very.long.ClassName$WithNumber2AndAnInnerClassOfItsOwn"},
	{"/a/long/path/of/Some/Folders17/with/lib64/and/more/of/them/x.so",
	 "/a/long/path/of/Some/Folders17/with/lib64/and/more/of/them/x.so"},
	{"-Dpassword", "-Dpassword"},
	{"-Dpassword=", "-Dpassword="},
	/* keys */
	{"-Dpassword=hunter2SECRET", "-Dpassword=" X},
	{"-Ddb.PassWd=a,b&c d;e", "-Ddb.PassWd=" X},
	{"--db-password=hunter2SECRET", "--db-password=" X},
	{"DB_PWD=hunter2SECRET", "DB_PWD=" X},
	{"-Dapi.key=hunter2SECRET", "-Dapi.key=" X},
	{"-Dapp.clientSecret=hunter2SECRET", "-Dapp.clientSecret=" X},
	{"--token=hunter2SECRET", "--token=" X},
	{"-Daws.credentials=hunter2SECRET", "-Daws.credentials=" X},
	{"-Dbasic.auth=user:hunter2SECRET", "-Dbasic.auth=" X},
	{"-Djavax.net.ssl.keyStorePassword=hunter2SECRET", "-Djavax.net.ssl.keyStorePassword=" X},
	{"-Dstorepass=hunter2SECRET", "-Dstorepass=" X},
	{"-Dpass=hunter2SECRET", "-Dpass=" X},
	{"DB_PASS_MAIN=hunter2SECRET", "DB_PASS_MAIN=" X},
	{"-javaagent:/opt/apm.jar=app=shop,license_key=hunter2SECRET,x=1",
	 "-javaagent:/opt/apm.jar=app=shop,license_key=" X ",x=1"},
	{"jdbc:postgresql://db/shop?user=me&password=hunter2SECRET&ssl=true",
	 "jdbc:postgresql://db/shop?user=me&password=" X "&ssl=true"},
	{"jdbc:sqlserver://db;user=me;password=hunter2SECRET;x=1",
	 "jdbc:sqlserver://db;user=me;password=" X ";x=1"},
	{"{\"user\":\"me\",\"password\":\"hunter2, SECRET\",\"x\":1}",
	 "{\"user\":\"me\",\"password\":" X ",\"x\":1}"},
	{"{\\\"password\\\":\\\"hunter2SECRET\\\"}", NULL},
	{"exec java -Dpassword='hunter2 SECRET' -jar x", "exec java -Dpassword=" X " -jar x"},
	{"exec java -Dpassword=hunter2SECRET -jar x", "exec java -Dpassword=" X " -jar x"},
	{"exec mysql --password hunter2SECRET --host h", "exec mysql --password " X " --host h"},
	{"exec app --no-auth --port 80", "exec app --no-auth --port 80"},
	{"-Dpassword= hunter2 SECRET", "-Dpassword= " X},
	{"Authorization: Bearer hunter2SECRET", "Authorization: " X},
	/* URLs */
	{"http://me:hunter2SECRET@host:80/x", "http://me:" X "@host:80/x"},
	{"-Dredis=redis://:hunter2SECRET@host", "-Dredis=redis://:" X "@host"},
	{"https://hunter2SECRETlong@host/x", "https://" X "@host/x"},
	{"jdbc:oracle:thin:scott/hunter2SECRET@host", "jdbc:oracle:thin:scott/" X "@host"},
	/* forms */
	{"AKIAHUNTER2SECRETXYZ", X},
	{"ghp_hunter2SECRET0123456789abcdefghij", X},
	{"x=eyJhunter2SECRET.eyJzdWIiOiIxIn0.c2ln", "x=" X},
	{"0123456789abcdef0123456789ABCDEF", X},
	{"-Dx=aB3dE6gH9jK2mN5pQ8sT1vW4yZ7+/bC0dF3hJ6kL9nP=", "-Dx=" X},
	{"-----BEGIN PRIVATE KEY-----\nhunter2SECRET", X},
};

static void test_arguments(void **state)
{
	char got[256];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct redact r = {0};
		size_t used = redact_argument(&r, rows[i].argument, got, sizeof(got));

		assert_int_equal(used, strlen(got));
		assert_null(strstr(got, "SECRET"));
		if (rows[i].redacted)
			assert_string_equal(got, rows[i].redacted);
	}
}

static void test_commands(void **state)
{
	static const struct {
		const char *command; /* with | for NUL */
		const char *redacted;
	} commands[] = {
		{"", ""},
		{"java|-Dpassword=SECRET|-jar|app.jar", "java -Dpassword=" X " -jar app.jar"},
		{"java|--password|SECRET|--port|80", "java --password " X " --port 80"},
		{"java|--no-auth|--port|80", "java --no-auth --port 80"},
		{"x|-token|SECRET|token", "x -token " X " token"},
		{"curl|-u|me:SECRET|http://h", "curl -u me:" X " http://h"},
		{"java|-u|me|-jar", "java -u me -jar"},
		{"java||a", "java  a"},
		{"x|--key|", "x --key"},
	};
	char text[128], got[256];

	(void)state;
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		size_t length = strlen(commands[i].command);

		memcpy(text, commands[i].command, length + 1);
		for (size_t k = 0; k < length; k++)
			text[k] = text[k] == '|' ? '\0' : text[k];
		redact_command(text, length, COMMAND_LINE_REDACTED, got, sizeof(got));
		assert_string_equal(got, commands[i].redacted);
		assert_int_equal(redact_command(text, length, COMMAND_LINE_NONE, got, sizeof(got)),
				 0);
		assert_string_equal(got, "");
		redact_command(text, length, COMMAND_LINE_FULL, got, sizeof(got));
		assert_int_equal(!strchr(commands[i].redacted, '['),
				 !strcmp(got, commands[i].redacted));
	}
}

/* However little room there is, nothing is written past it, and no secret comes out of a cut. */
static void test_room(void **state)
{
	static const char text[] = "java\0-Dpassword=hunter2SECRET\0http://u:hunter2SECRET@h\0end";
	char got[sizeof(text) + 64];

	(void)state;
	for (size_t size = 1; size < sizeof(got); size++) {
		memset(got, '#', sizeof(got));
		assert_true(redact_command(text, sizeof(text) - 1, COMMAND_LINE_REDACTED, got,
					   size) < size);
		assert_true(strlen(got) < size);
		assert_null(strstr(got, "hunter"));
		assert_int_equal(got[size], '#');
	}
	assert_string_equal(got, "java -Dpassword=" X " http://u:" X "@h end");
}

/* Each of these took a time that grew with the square of its length: hours. */
static void test_long_arguments(void **state)
{
	static const char *const pieces[] = {
		"a/", "a=", "a:", ":", ":thin:", ":thin:a/", "://", "-", "k= ", "token "};
	const size_t length = 1 << 20, room = 2 << 20;
	char *text = malloc(length + 1), *got = malloc(room);

	(void)state;
	assert_non_null(text);
	assert_non_null(got);
	for (size_t i = 0; i < sizeof(pieces) / sizeof(*pieces); i++) {
		struct redact r = {0};
		size_t used, piece = strlen(pieces[i]);

		for (size_t at = 0; at < length; at++)
			text[at] = pieces[i][at % piece];
		text[length] = '\0';
		used = redact_argument(&r, text, got, room);
		assert_int_equal(used, length);
		assert_string_equal(got, text);
		r = (struct redact){0};
		assert_int_equal(redact_argument(&r, text, got, 100), 99);
		assert_int_equal(redact_command(text, length, COMMAND_LINE_REDACTED, got, 100), 99);
	}
	free(got);
	free(text);
}

/* What is a secret by its form is one as a whole, however long it is. */
static void test_long_secrets(void **state)
{
	static const char form[] = "aB3dE6gH9/";
	const size_t length = 1 << 20;
	char *text = malloc(length + 1), got[256];
	struct redact r = {0};

	(void)state;
	assert_non_null(text);
	for (size_t at = 0; at < length; at++)
		text[at] = form[at % strlen(form)];
	memcpy(text + length - 12, "= aB3 SECRET", 12);
	text[length] = '\0';
	redact_argument(&r, text, got, sizeof(got));
	assert_string_equal(got, X " aB3 SECRET");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arguments),    cmocka_unit_test(test_commands),
		cmocka_unit_test(test_room),         cmocka_unit_test(test_long_arguments),
		cmocka_unit_test(test_long_secrets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
