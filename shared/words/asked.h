/* Reads the expectation of a question: the type of the answer, the attribute and the subject. It also rates how well a
 * sentence offers an answer of that type.
 *
 * Questions may be Japanese, English, Chinese, German, Korean, French or Spanish; they are recognised by their question
 * words. In a question with several sentences, the last one that asks counts. All work is linear in the text, without
 * allocation. Texts are borrowed for the call; offsets are bytes of the question. */
#ifndef RENGA_WORDS_ASKED_H
#define RENGA_WORDS_ASKED_H

#include "words/sentences.h"

#include <stdbool.h>
#include <stddef.h>

enum asked_type {
    ASKED_ANYTHING,   /* no type is known: "What did he say?" */
    ASKED_QUANTITY,   /* how many, いくら; a rank, an age, a measure */
    ASKED_DURATION,   /* how long, 何年間 */
    ASKED_DATE,       /* when, 何年: a year, a day, a time of day */
    ASKED_PERSON,     /* who, 誰, どの会社: also organisations */
    ASKED_PLACE,      /* where, どこ, which city */
    ASKED_NAME,       /* which X, 何という, "what is … called" */
    ASKED_YES_NO,     /* "Is it …?", ～ですか */
    ASKED_HOW,        /* a method or steps: どうやって, how to */
    ASKED_WHY,        /* a reason or a purpose */
    ASKED_DEFINITION, /* "What is X?", Xとは */
    ASKED_LIST,       /* several things: "Name the …", 一覧 */
    ASKED_COMPARISON, /* どちら, the difference between */
};
#define ASKED_TYPES 13

/* The unit of a quantity or a date, if the question tells it. */
enum asked_unit {
    ASKED_UNIT_NONE,
    ASKED_UNIT_THINGS, /* counted things: 何台, how many ships */
    ASKED_UNIT_PEOPLE,
    ASKED_UNIT_MONEY,
    ASKED_UNIT_PERCENT,
    ASKED_UNIT_LENGTH,
    ASKED_UNIT_AREA,
    ASKED_UNIT_VOLUME,
    ASKED_UNIT_MASS,
    ASKED_UNIT_SPEED,
    ASKED_UNIT_TEMPERATURE,
    ASKED_UNIT_POWER, /* also energy and voltage */
    ASKED_UNIT_BYTES,
    ASKED_UNIT_AGE,
    ASKED_UNIT_RANK,  /* 何位, 何番目, which place */
    ASKED_UNIT_TIMES, /* 何回, how often */
    ASKED_UNIT_TIME,  /* a duration: minutes, days, years; of a date: also the time until it, as in いつまで */
    ASKED_UNIT_YEAR,  /* of a date; also a century and a decade */
    ASKED_UNIT_MONTH,
    ASKED_UNIT_DAY, /* also a day of the week */
    ASKED_UNIT_CLOCK,
};

#define ASKED_WORDS_MAX 16

/* A span with begin == end is empty. */
struct asked {
    enum asked_type type;
    enum asked_unit unit;
    struct span focus;   /* the attribute or class: "capital" in "the capital of Japan", 気団 in 何気団 */
    struct span subject; /* the subject: "Japan" there, オランダ in オランダの首都はどこですか */
    struct span counter; /* the word that is counted: 台 in 何台, "yards" in "how many yards" */
    struct span words[ASKED_WORDS_MAX]; /* question words, which are no content; in text order */
    size_t word_count;
    char language[3]; /* "ja", "en", "zh", "de", "ko", "fr", "es" */
};

/* Reads a question; of a long one, the last 1,024 bytes. False if the text is not a question: *asked is then
 * ASKED_ANYTHING and has no spans. */
bool asked_read(const char *question, size_t length, struct asked *asked);

/* 0 to 1 each. */
struct asked_fit {
    double type;
    double identifier; /* a command, a file, an option; 0.5 if the question asks for no thing with an identifier */
};

/* How well a sentence offers an answer of the asked type that is not in the question: a number with a fitting unit, a
 * date, a new name. `question` is the text that `asked` was read from. Of the sentence, SENTENCE_MAX bytes count. For
 * ASKED_ANYTHING, `type` is 0.5. */
struct asked_fit asked_fits(const struct asked *asked, const char *question, size_t question_length,
                            const char *sentence, size_t length);

/* "quantity": the name of a type in logs and reports. */
const char *asked_type_name(enum asked_type type);

#endif
