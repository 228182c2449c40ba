#include "base/sha256.h"

#include <stdlib.h>
#include <string.h>

#include "unit.h"

/* FIPS 180-4, its examples, and the empty text. */
static const struct {
    const char *text, *hash;
} known[] = {
    {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
};

static void known_texts_have_their_hashes(void **state)
{
    char text[2 * SHA256_SIZE + 1];
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        sha256_text_of(known[i].text, strlen(known[i].text), text);
        assert_string_equal(text, known[i].hash);
    }
}

static void a_text_in_parts_has_the_hash_of_the_whole(void **state)
{
    const char *text = known[2].text;
    uint8_t whole[SHA256_SIZE], parts[SHA256_SIZE];
    sha256_of(text, strlen(text), whole);
    for (size_t cut = 0; cut <= strlen(text); cut++) {
        struct sha256 sha256;
        sha256_begin(&sha256);
        sha256_add(&sha256, text, cut);
        sha256_add(&sha256, NULL, 0);
        sha256_add(&sha256, text + cut, strlen(text) - cut);
        sha256_end(&sha256, parts);
        assert_memory_equal(parts, whole, SHA256_SIZE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_texts_have_their_hashes),
        cmocka_unit_test(a_text_in_parts_has_the_hash_of_the_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
