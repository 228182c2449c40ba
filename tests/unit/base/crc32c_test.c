#include "unit.h"

#include "base/crc32c.h"

#include <string.h>

/* RFC 3720, B.4, and the check value of the algorithm. */
static void known_sums_come_out(void **state)
{
    unsigned char bytes[32] = {0};
    assert_int_equal(crc32c(0, "123456789", 9), 0xe3069283);
    assert_int_equal(crc32c(0, bytes, sizeof bytes), 0x8a9136aa);
    memset(bytes, 0xff, sizeof bytes);
    assert_int_equal(crc32c(0, bytes, sizeof bytes), 0x62a8ab43);
    for (unsigned char i = 0; i < sizeof bytes; i++)
        bytes[i] = i;
    assert_int_equal(crc32c(0, bytes, sizeof bytes), 0x46dd794e);
}

static void pieces_come_to_the_same_as_the_whole(void **state)
{
    static const char text[] = "linked verse, each link answering the last";
    uint32_t whole = crc32c(0, text, sizeof text);
    for (size_t cut = 0; cut <= sizeof text; cut++)
        assert_int_equal(crc32c(crc32c(0, text, cut), text + cut, sizeof text - cut), whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_sums_come_out),
        cmocka_unit_test(pieces_come_to_the_same_as_the_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
