/* Questions of random words: names, connectives and marks in an order that nobody writes. A part keeps within bounds,
 * and no byte outside the question is read (the build with AddressSanitizer tells). */
#include "extractive/extract.h"

#include <stdlib.h>

#include "unit.h"

#define MEMORY_MAX ((size_t)1 << 20)
#define TRIED      4000 /* of each language */
#define WORDS_MAX  9
#define WORD_MAX   32
#define ADDED_MAX  ((size_t)128) /* bytes of question words and marks that a part has in addition */

/* Words between bars. */
static const char *const languages[] = {
    "上海|北京|比|比|有|没有|和|与|还是|的|的|吗|哪个|更大|相比|分别|多少|是|，|，|？|、|是不是|面积|高于|几倍",
    "東京|大阪|面積|は|が|の|と|や|か、|より|に比べて|に対する|どちら|ですか|長い|それとも|を超え|違い|の方が|、|「|」|"
    "同じ",
    "서울 |부산 |서울과 |부산보다 |와 |의 |가 |는 |중 |둘 |더 |큰가요|어느 것이 |차이|아니면 |인가요 |비해 |보다 |, "
    "|? ",
    "Anna |Rom |der |die |von |in |vor |als |oder |und |wie |so |größer |starb |ist |was |wer |zwischen |Unterschied "
    "|nicht |, ",
    "Anna |Rome |le |la |l'or |de |d'|à |en |que |ou |et |plus |avant |est |est-il |mort |quel |entre |celle |face à "
    "|, |? ",
    "Ana |Roma |el |la |de |del |a |en |que |o |y |más |antes |¿Es |es |qué |entre |frente a |supera |diferencia |no "
    "|, |? ",
    "Anna |Rome |the |a |of |in |to |than |as |and |older |is |what |why |that |not |vs |instead of |differ |prefer "
    "|lacks |, ",
};

static size_t word_at(const char *list, uint64_t pick, char word[WORD_MAX])
{
    size_t count = 1, length;
    for (const char *bar = list; (bar = strchr(bar, '|')); bar++)
        count++;
    for (pick %= count; pick > 0; pick--)
        list = strchr(list, '|') + 1;
    length = strcspn(list, "|");
    assert_true(length < WORD_MAX);
    memcpy(word, list, length);
    return length;
}

static void ask(const char *question, size_t length, bool japanese)
{
    struct text parts[EXTRACT_PARTS_MAX];
    struct arena arena;
    char *bytes = malloc(length); /* alone in memory, so that a byte behind it is an error */
    assert_non_null(bytes);
    memcpy(bytes, question, length);
    struct text text = text_trimmed((struct text){bytes, length});
    size_t count, sum = 0;
    arena_init(&arena, NULL, 0, MEMORY_MAX);
    count = text.length ? extract_split(&arena, text, japanese, 5, parts) : 1;
    assert_in_range(count, 1, 5);
    for (size_t i = 0; text.length && i < count; i++) {
        assert_in_range(parts[i].length, 1, 2 * length + ADDED_MAX);
        for (size_t at = 0; at < parts[i].length; at++)
            sum += (unsigned char)parts[i].bytes[at];
    }
    assert_true(sum > 0 || !text.length);
    assert_false(arena.exhausted);
    arena_fini(&arena);
    free(bytes);
}

static void random_words_are_split_within_bounds(void **state)
{
    uint64_t random = 1;
    for (size_t language = 0; language < COUNT(languages); language++)
        for (size_t i = 0; i < TRIED; i++) {
            char question[WORDS_MAX * WORD_MAX];
            size_t length = 0, words = 0;
            do {
                random = random * 6364136223846793005U + 1442695040888963407U;
                length += word_at(languages[language], random >> 33, question + length);
            } while (++words < 2 + i % (WORDS_MAX - 1));
            ask(question, length, language == 1);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_words_are_split_within_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
