/* Private to asked_ja*.c: a Japanese sentence, its topic, and the nouns in it. */
#ifndef RENGA_WORDS_ASKED_JA_PRIV_H
#define RENGA_WORDS_ASKED_JA_PRIV_H

#include "words/asked_priv.h"

#define JA_HA 0x306F /* は */
#define JA_NO 0x306E /* の */

/* A sentence while it is read. */
struct ja_sentence {
    const struct asked_letters *letters;
    size_t begin, end;
    struct asked_part word;  /* the question word, with its counter or noun */
    struct asked_part topic; /* the phrase before は */
    struct asked_part noun;  /* of どの国 */
};

/* 0 behind the end of the question. */
uint32_t ja_code(const struct asked_letters *letters, size_t at);

/* Han, Katakana, Latin letters and digits, with the marks that join them. */
bool ja_is_noun(uint32_t code);

/* Steps over a text in brackets that begins at `at`; `at` itself if none begins there or it is not closed. */
size_t ja_after_bracket(const struct asked_letters *letters, size_t at, size_t end);

bool ja_part_is_empty(struct asked_part part);

/* Finds the phrase before the last は in front of letter `until`. */
void ja_find_topic(struct ja_sentence *in, size_t until);

/* The noun that is most probably the subject of a clause: before が, を, は, に or で, or else the first one. */
struct asked_part ja_marked(const struct asked_letters *letters, struct asked_part clause);

/* Splits the topic into focus and subject: オランダの首都, 宮崎駿が卒業した大学. A topic of one noun is the subject. */
void ja_split_topic(const struct asked_letters *letters, struct asked_part topic, struct asked_part *focus,
                    struct asked_part *subject);

/* UDPとTCP in UDPとTCPの違い and in UDPとTCPではどちらが: the subject of a comparison is both. */
void ja_compared(const struct asked_letters *letters, struct asked_part topic, struct asked_part *focus,
                 struct asked_part *subject);

/* Reads a sentence without a question word. */
bool ja_read_request(struct ja_sentence *in, struct asked *asked);

#endif
