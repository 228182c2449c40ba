/* Japanese requests (教えてください), topics alone (出身地は？) and questions for yes or no. */
#include "words/asked_ja_priv.h"

#include <stddef.h>
#include <string.h>

/* Whether the sentence ends in は, or in は and a mark: 賞を挙げたのは？ is no request. */
static bool ja_ends_with_topic(const struct ja_sentence *in)
{
    size_t last = in->end;
    while (last > in->begin && (ja_code(in->letters, last - 1) == '?' || ja_code(in->letters, last - 1) == 0x3002 ||
                                script_of(ja_code(in->letters, last - 1)) == SCRIPT_SPACE))
        last--;
    return last > in->begin && ja_code(in->letters, last - 1) == JA_HA;
}

/* The end of the phrase before a request: を教えてください, について説明して. */
static size_t ja_before_request(const struct ja_sentence *in, bool *requests)
{
    static const char *const words[] = {"を教え", "をおしえ", "を知り", "を説明",   "を述べ",   "を挙げ",   "を列挙",
                                        "を示し", "をすべて", "を全て", "をひとつ", "を一つ",   "について", "に関し",
                                        "を答え", "を比較",   "を比べ", "答えよ",   "答えなさ", "答えてく", NULL};
    *requests = false;
    if (ja_ends_with_topic(in))
        return in->end;
    for (size_t at = in->begin; at < in->end; at++) {
        if (asked_stands_any(in->letters, at, in->end, words)) {
            *requests = true;
            return at;
        }
    }
    return in->end;
}

static bool ja_ends_as_question(const struct ja_sentence *in)
{
    uint32_t last = ja_code(in->letters, in->end - 1);
    uint32_t before = in->end - in->begin > 1 ? ja_code(in->letters, in->end - 2) : 0;
    return last == '?' || last == 0x304B || (last == 0x3002 && before == 0x304B);
}

/* 医師と？ asks for what follows. */
static bool ja_breaks_off(const struct ja_sentence *in, size_t last)
{
    return last < in->end && last > in->begin + 1 && ja_code(in->letters, last - 1) == 0x3068 && /* と */
           ja_is_noun(ja_code(in->letters, last - 2));
}

/* Whether a topic without a mark asks: この市の旧称は, but not 発明されたのは and こんにちは. */
static bool ja_topic_asks(const struct ja_sentence *in)
{
    size_t end = in->topic.end;
    return ja_is_noun(ja_code(in->letters, end - 1)) ||
           (end > in->topic.begin + 1 && asked_stands(in->letters, end - 2, end, "もの"));
}

/* 設定するには: a verb in its plain form before には. */
static bool ja_ends_with_purpose(const struct ja_sentence *in, size_t last)
{
    static const char *const verbs[] = {"う", "く", "ぐ", "す", "つ", "ぬ", "ぶ", "む", "る", NULL};
    return last > in->begin + 2 && asked_stands(in->letters, last - 2, last, "には") > 0 &&
           asked_stands_any(in->letters, last - 3, last, verbs);
}

bool ja_read_request(struct ja_sentence *in, struct asked *asked)
{
    bool requests;
    size_t end = ja_before_request(in, &requests), last = end;
    struct asked_part focus = {0, 0}, subject = {0, 0};
    while (!requests && last > in->begin && strchr("?! ", (int)(ja_code(in->letters, last - 1) & 0x7F)) &&
           ja_code(in->letters, last - 1) < 0x80)
        last--;
    if (!requests && last > in->begin && ja_code(in->letters, last - 1) == 0x3002)
        last--;
    bool topic = last > in->begin && ja_code(in->letters, last - 1) == JA_HA;
    bool defines = asked_stands(in->letters, last >= 2 ? last - 2 : 0, last, "とは") > 0 ||
                   asked_stands(in->letters, last >= 2 ? last - 2 : 0, last, "って") > 0;
    bool purpose = !requests && ja_ends_with_purpose(in, last);
    in->topic = (struct asked_part){in->begin, defines || purpose ? last - 2 : topic ? last - 1 : last};
    if (ja_part_is_empty(in->topic))
        return false;
    ja_split_topic(in->letters, in->topic, &focus, &subject);
    struct asked_part noun = ja_part_is_empty(focus) ? subject : focus;
    const struct asked_word *class = asked_ending(asked_nouns_ja, in->letters, noun.begin, noun.end);
    bool about = requests && (asked_stands(in->letters, end, in->end, "について") ||
                              asked_stands(in->letters, end, in->end, "に関し") ||
                              asked_stands(in->letters, end, in->end, "を説明"));
    bool lists = requests && (asked_stands(in->letters, end, in->end, "を挙げ") ||
                              asked_stands(in->letters, end, in->end, "を列挙"));
    bool compares = requests && (asked_stands(in->letters, end, in->end, "を比較") ||
                                 asked_stands(in->letters, end, in->end, "を比べ"));
    static const char *const all[] = {"をすべて", "を全て", NULL};
    lists |= requests && asked_stands_any(in->letters, end, in->end, all);
    asked->type = compares ? ASKED_COMPARISON : lists ? ASKED_LIST : ASKED_ANYTHING;
    if (purpose)
        asked->type = ASKED_HOW;
    else if (defines || (about && !class))
        asked->type = ASKED_DEFINITION;
    else if (class && !compares && !lists && (requests || topic || !ja_ends_as_question(in))) {
        asked->type = class->type;
        asked->unit = class->unit;
    } else if (!requests && !topic && ja_ends_as_question(in))
        asked->type = ja_breaks_off(in, last) ? ASKED_NAME : ASKED_YES_NO;
    else if (topic && (ja_ends_as_question(in) || ja_topic_asks(in)))
        asked->type = ASKED_NAME;
    else if (!requests)
        return false;
    if (asked->type == ASKED_YES_NO) {
        in->topic = (struct asked_part){0, 0};
        focus = subject = (struct asked_part){0, 0};
        ja_find_topic(in, in->end);
        if (!ja_part_is_empty(in->topic))
            ja_split_topic(in->letters, in->topic, &focus, &subject);
        else
            subject = ja_marked(in->letters, (struct asked_part){in->begin, in->end});
    }
    asked->focus = asked_span(in->letters, focus);
    asked->subject = asked_span(in->letters, subject);
    return true;
}
