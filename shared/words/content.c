/* Whether a text says anything beside function words. */
#include "words/variants_rows.h"

#include <pthread.h>

/* Hiragana that carry no topic. */
static const char words_text[] = "の は に を が と で も へ や か な ね よ て た だ し し から まで より など です "
                                 "ます でした ました する した して いる ある いた あった "
                                 "ない なら ならば ので のに けど けれど けれども こと もの ため とき これ それ あれ "
                                 "どれ この その あの どの ここ そこ あそこ どこ なに "
                                 "なん いつ だれ どう どんな なぜ どうして いくつ いくら という といった ください また "
                                 "および または そして しかし でも だから では "
                                 "には とは にも のみ だけ ほど くらい ぐらい ばかり について によって として において "
                                 "における に対して さ わ ん う られる れる せる させる";

static struct variant_rows words;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void content_read_rows(void)
{
    variant_rows_read(&words, words_text);
}

/* Whether the run is a sequence of function words, each as long as possible. */
static bool is_function_run(const struct run_character *run, unsigned length)
{
    for (unsigned at = 0; at < length;) {
        const struct variant_row *row = variant_rows_find(&words, run, length, at);
        if (row == NULL)
            return false;
        at += row->from_length;
    }
    return true;
}

static bool has_hiragana_content(const char *text, size_t length)
{
    struct run_character run[TERM_CHARACTERS_MAX];
    unsigned count = 0;
    struct fold fold;
    struct folded c;
    bool more;
    fold_begin(&fold, text, length);
    do {
        more = fold_next(&fold, &c);
        bool hiragana = more && (script_of(c.code) == SCRIPT_HIRAGANA || (count > 0 && c.code == 0x30FC));
        if (hiragana && count < TERM_CHARACTERS_MAX) {
            run[count++].code = c.code;
            continue;
        }
        if (!is_function_run(run, count))
            return true;
        count = 0;
    } while (more);
    return false;
}

bool words_has_content(const char *text, size_t length)
{
    struct term_reader reader;
    struct term term;
    terms_begin(&reader, text, length);
    while (terms_next(&reader, &term)) {
        bool letter = term.kind == TERM_WORD && term.length == 1;
        if (!term.stop_word || (letter && !words_function_word(term.text, term.length)))
            return true;
    }
    pthread_once(&once, content_read_rows);
    return has_hiragana_content(text, length);
}
