#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "log/format/codec.h"
#include "tests/unit/alloc_fail.h"

#define RAW 70000

/* Like events: much of it comes again, with small differences. */
static void fill(uint8_t *raw)
{
	uint32_t seed = 1;

	for (unsigned i = 0; i < RAW; i++) {
		seed = seed * 1664525 + 1013904223;
		raw[i] = i % 16 < 12 ? (uint8_t)(i % 16) : (uint8_t)(seed >> 24);
	}
}

static size_t pack(enum block_codec codec, int level, const uint8_t *raw, uint8_t **ret)
{
	size_t room = codec_bound(codec, RAW), used;
	struct codec *c;

	*ret = malloc(room);
	assert_int_equal(codec_new(&c), 0);
	assert_int_equal(codec_compress(c, codec, level, raw, RAW, *ret, room, &used), 0);
	codec_free(c);
	return used;
}

static void test_round_trip(void **state)
{
	static const struct {
		enum block_codec codec;
		int level;
	} how[] = {{BLOCK_CODEC_NONE, 0},
		   {BLOCK_CODEC_LZ4, 0},
		   {BLOCK_CODEC_ZSTD, 0},
		   {BLOCK_CODEC_ZSTD, 1},
		   {BLOCK_CODEC_ZSTD, CODEC_ZSTD_LEVEL_MAX}};
	uint8_t *raw = malloc(RAW), *back = malloc(RAW + 1), *packed;
	unsigned i;
	size_t n;

	(void)state;
	fill(raw);
	for (i = 0; i < sizeof(how) / sizeof(*how); i++) {
		n = pack(how[i].codec, how[i].level, raw, &packed);
		assert_true(how[i].codec ? n < RAW : n == RAW);
		memset(back, 0, RAW + 1);
		back[RAW] = 77;
		assert_int_equal(codec_decompress(NULL, how[i].codec, packed, n, back, RAW), 0);
		assert_memory_equal(back, raw, RAW);
		assert_int_equal(back[RAW], 77);
		/* Another length than what comes out, bytes behind, bytes missing. */
		assert_int_equal(codec_decompress(NULL, how[i].codec, packed, n, back, RAW - 1),
				 -EBADMSG);
		assert_int_equal(codec_decompress(NULL, how[i].codec, packed, n, back, RAW + 1),
				 -EBADMSG);
		assert_int_equal(codec_decompress(NULL, how[i].codec, packed, n - 1, back, RAW),
				 -EBADMSG);
		free(packed);
	}
	free(raw);
	free(back);
}

static void test_two_frames(void **state)
{
	uint8_t *raw = malloc(RAW), *back = malloc(2 * RAW), *packed, *twice;
	size_t n;

	(void)state;
	fill(raw);
	n = pack(BLOCK_CODEC_ZSTD, 0, raw, &packed);
	twice = malloc(2 * n);
	memcpy(twice, packed, n);
	memcpy(twice + n, packed, n);
	assert_int_equal(codec_decompress(NULL, BLOCK_CODEC_ZSTD, twice, 2 * n, back, 2 * RAW),
			 -EBADMSG);
	assert_int_equal(codec_decompress(NULL, BLOCK_CODEC_COUNT, packed, n, back, RAW), -ENOTSUP);
	free(raw);
	free(back);
	free(packed);
	free(twice);
}

/* What a damaged frame leaves behind does no harm to the next one. */
static void test_one_for_all(void **state)
{
	uint8_t *raw = malloc(RAW), *back = malloc(RAW), *packed;
	struct codec *c;
	size_t n, i;

	(void)state;
	fill(raw);
	n = pack(BLOCK_CODEC_ZSTD, 0, raw, &packed);
	assert_int_equal(codec_new(&c), 0);
	for (i = 0; i < n; i += n / 16) {
		packed[i] ^= 0xff;
		codec_decompress(c, BLOCK_CODEC_ZSTD, packed, n, back, RAW);
		packed[i] ^= 0xff;
		memset(back, 0, RAW);
		assert_int_equal(codec_decompress(c, BLOCK_CODEC_ZSTD, packed, n, back, RAW), 0);
		assert_memory_equal(back, raw, RAW);
	}
	codec_free(c);
	free(raw);
	free(back);
	free(packed);
}

static void test_wrong_use(void **state)
{
	uint8_t *raw = malloc(RAW), room[16];
	struct codec *c;
	size_t n = 5;

	(void)state;
	fill(raw);
	assert_int_equal(codec_new(&c), 0);
	assert_int_equal(codec_compress(c, BLOCK_CODEC_COUNT, 0, raw, RAW, room, 16, &n), -EINVAL);
	assert_int_equal(codec_compress(c, BLOCK_CODEC_ZSTD, CODEC_ZSTD_LEVEL_MAX + 1, raw, RAW,
					room, 16, &n),
			 -EINVAL);
	for (enum block_codec codec = 0; codec < BLOCK_CODEC_COUNT; codec++)
		assert_int_equal(codec_compress(c, codec, 0, raw, RAW, room, 16, &n), -ENOBUFS);
	assert_int_equal(n, 5);
	codec_free(c);
	codec_free(NULL);
	free(raw);
}

static void test_nth_allocation_fails(void **state)
{
	uint8_t *raw = malloc(RAW), *packed = malloc(RAW);
	bool failed = true;
	struct codec *c;
	unsigned n;
	size_t used;
	int err;

	(void)state;
	fill(raw);
	for (n = 0; failed; n++) {
		c = NULL;
		alloc_fail_at(n);
		err = codec_new(&c);
		if (!err)
			err = codec_compress(c, BLOCK_CODEC_ZSTD, 0, raw, RAW, packed, RAW, &used);
		if (!err)
			err = codec_decompress(c, BLOCK_CODEC_ZSTD, packed, used, raw, RAW);
		failed = alloc_fail_off();
		assert_int_equal(err, failed ? -ENOMEM : 0);
		codec_free(c);
	}
	assert_true(n > 2);
	free(raw);
	free(packed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),           cmocka_unit_test(test_two_frames),
		cmocka_unit_test(test_one_for_all),          cmocka_unit_test(test_wrong_use),
		cmocka_unit_test(test_nth_allocation_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
