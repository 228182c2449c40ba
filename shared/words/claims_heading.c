/* A heading has no reference, so it must not make claims. It is rejected if it is a sentence, or if it has a number or
 * a name that does not occur in the sources. */
#include "words/claims.h"

#include "words/support.h"
#include "words/words.h"

#include <string.h>
#include <unicode/uchar.h>

#define HEADING_MAX   200 /* bytes */
#define WORDS_OF(set) (sizeof(set) / sizeof *(set))

/* Katakana words that are common in headings and are not names. */
static const char *const common[] = {"まとめ",   "ポイント",     "メリット", "デメリット", "ステップ", "リスク",
                                     "コスト",   "スケジュール", "プロセス", "ケース",     "データ",   "サービス",
                                     "システム", "ルール",       "トラブル", "エラー",     "サポート", "セキュリティ",
                                     "メモ",     "テーマ",       "トピック", "レポート",   "カテゴリ", "カテゴリー",
                                     "パターン", "タイミング",   "レベル",   "サマリー"};

static bool heading_is_common(const char *text, size_t length)
{
    for (size_t i = 0; i < WORDS_OF(common); i++)
        if (strlen(common[i]) == length && memcmp(common[i], text, length) == 0)
            return true;
    return false;
}

static bool heading_is_sentence(const char *text, size_t length)
{
    static const char *const ends[] = {".", "!", "。", "！", "．"};
    for (size_t i = 0; i < WORDS_OF(ends); i++)
        if (length >= strlen(ends[i]) && memcmp(text + length - strlen(ends[i]), ends[i], strlen(ends[i])) == 0)
            return true;
    return length > HEADING_MAX;
}

static bool heading_is_capitalised(const char *text, const struct term *term)
{
    size_t end;
    return u_isupper((UChar32)utf8_read(text + term->begin, term->end - term->begin, 0, &end));
}

/* In a title like "Backup Retention Policy", capitals do not indicate names. */
static bool heading_is_title(const char *text, size_t length)
{
    struct term_reader reader;
    struct term term;
    terms_begin(&reader, text, length);
    while (terms_next(&reader, &term))
        if (term.kind == TERM_WORD && !term.stop_word && !heading_is_capitalised(text, &term))
            return false;
    return true;
}

static bool claims_heading_names(const char *text, const struct term *term, bool first, bool title)
{
    if (term->kind == TERM_KATAKANA)
        return !heading_is_common(text + term->begin, term->end - term->begin);
    return term->kind == TERM_WORD && !term->stop_word && !first && !title && heading_is_capitalised(text, term);
}

bool claims_heading_stands(const struct evidence *evidence, const char *text, size_t length)
{
    struct term_reader reader;
    struct term term;
    bool first = true, title = heading_is_title(text, length);
    if (heading_is_sentence(text, length) || !evidence_has_numbers(evidence, text, length))
        return false;
    terms_begin(&reader, text, length);
    for (; terms_next(&reader, &term); first = false)
        if (claims_heading_names(text, &term, first, title) && !evidence_has_term(evidence, term.text, term.length))
            return false;
    return true;
}
