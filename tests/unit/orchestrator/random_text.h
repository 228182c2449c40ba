/* Texts at random, the same in each run: of ASCII, braces, quotes, control characters, Japanese, emoji and combining
 * marks. Well-formed UTF-8 without NUL. */
#ifndef RENGA_RANDOM_TEXT_H
#define RENGA_RANDOM_TEXT_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define RANDOM_TEXT_MAX ((size_t)(1 << 20) + 64) /* bytes of the buffer */

struct random_text {
    uint64_t seed; /* not 0 */
};

static inline uint64_t random_text_number(struct random_text *random)
{
    random->seed ^= random->seed << 13;
    random->seed ^= random->seed >> 7;
    random->seed ^= random->seed << 17;
    return random->seed;
}

static inline size_t random_text_encode(uint32_t point, char *at)
{
    if (point < 0x80) {
        at[0] = (char)point;
        return 1;
    }
    if (point < 0x800) {
        at[0] = (char)(0xC0 | point >> 6);
        at[1] = (char)(0x80 | (point & 0x3F));
        return 2;
    }
    if (point < 0x10000) {
        at[0] = (char)(0xE0 | point >> 12);
        at[1] = (char)(0x80 | (point >> 6 & 0x3F));
        at[2] = (char)(0x80 | (point & 0x3F));
        return 3;
    }
    at[0] = (char)(0xF0 | point >> 18);
    at[1] = (char)(0x80 | (point >> 12 & 0x3F));
    at[2] = (char)(0x80 | (point >> 6 & 0x3F));
    at[3] = (char)(0x80 | (point & 0x3F));
    return 4;
}

static inline uint32_t random_text_point(struct random_text *random)
{
    static const char marks[] = "{}\"\\/<>[]:,.-_'%$\n\t\r ";
    uint64_t number = random_text_number(random) >> 20;
    switch (number % 8) {
    case 0:
    case 1:
        return (uint32_t)(0x61 + number / 8 % 26);
    case 2:
    case 3:
        return (uint32_t)(unsigned char)marks[number / 8 % (sizeof marks - 1)];
    case 4:
        return (uint32_t)(0x3040 + number / 8 % 0x6000);
    case 5:
        return (uint32_t)(0x1F300 + number / 8 % 0x300);
    case 6:
        return (uint32_t)(0x300 + number / 8 % 0x70);
    default:
        return (uint32_t)(1 + number / 8 % 0xD000);
    }
}

/* At most `most` bytes, at least 1; `text` has room for RANDOM_TEXT_MAX. */
static inline const char *random_text_next(struct random_text *random, char *text, size_t most)
{
    size_t length = 0, wanted;
    wanted = most >= 1 << 20 ? most - 4 : 1 + (random_text_number(random) >> 11) % most;
    while (length < wanted)
        length += random_text_encode(random_text_point(random), text + length);
    text[length] = '\0';
    return text;
}

#endif
