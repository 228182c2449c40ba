/* Yes and no: an answer must begin with either, or consist of it. An answer with both is unclear. */
#include "form/choices.h"

static const char *const yes_words[] = {"yes",
                                        "yep",
                                        "yeah",
                                        "yup",
                                        "yes please",
                                        "sure",
                                        "correct",
                                        "right",
                                        "that's right",
                                        "that is right",
                                        "that's correct",
                                        "that is correct",
                                        "of course",
                                        "certainly",
                                        "absolutely",
                                        "definitely",
                                        "i do",
                                        "i am",
                                        "i have",
                                        "i did",
                                        "i was",
                                        "i will",
                                        "i can",
                                        "i would",
                                        "it is",
                                        "it does",
                                        "it was",
                                        "true",
                                        "y",
                                        "agreed",
                                        "i agree",
                                        "exactly",
                                        "indeed",
                                        "affirmative",
                                        "we do",
                                        "we are",
                                        "we have",
                                        "it did",
                                        "ok",
                                        "okay",
                                        "please do",
                                        "yes i do",
                                        "yes it is",
                                        "uh-huh",
                                        "はい",
                                        "ええ",
                                        "うん",
                                        "そうです",
                                        "そうですね",
                                        "その通りです",
                                        "そのとおりです",
                                        "もちろん",
                                        "もちろんです",
                                        "あります",
                                        "います",
                                        "できます",
                                        "出来ます",
                                        "同意します",
                                        "同意する",
                                        "承諾します",
                                        "了承します",
                                        "合っています",
                                        "あっています",
                                        "間違いありません",
                                        "間違いないです",
                                        "正しいです",
                                        "です",
                                        "そうだ",
                                        "そう",
                                        "イエス",
                                        "いえす",
                                        "ある",
                                        "いる",
                                        "できる",
                                        "しました",
                                        "ありました",
                                        "必要です",
                                        "希望します",
                                        "参加します",
                                        "賛成です",
                                        "賛成",
                                        "同意",
                                        "承知しました",
                                        "持っています",
                                        "持ってます",
                                        "します",
                                        NULL};
static const char *const no_words[] = {"no",
                                       "nope",
                                       "nah",
                                       "no thanks",
                                       "no thank you",
                                       "not at all",
                                       "i don't",
                                       "i do not",
                                       "i'm not",
                                       "i am not",
                                       "i haven't",
                                       "i have not",
                                       "i didn't",
                                       "i did not",
                                       "i wasn't",
                                       "i won't",
                                       "i will not",
                                       "i can't",
                                       "i cannot",
                                       "never",
                                       "n",
                                       "incorrect",
                                       "wrong",
                                       "that's wrong",
                                       "that is wrong",
                                       "that's not right",
                                       "that's not correct",
                                       "it isn't",
                                       "it is not",
                                       "it's not",
                                       "it doesn't",
                                       "it wasn't",
                                       "false",
                                       "negative",
                                       "we don't",
                                       "we do not",
                                       "we haven't",
                                       "we aren't",
                                       "it didn't",
                                       "i disagree",
                                       "not yet",
                                       "certainly not",
                                       "of course not",
                                       "absolutely not",
                                       "definitely not",
                                       "i would not",
                                       "i wouldn't",
                                       "i don't have",
                                       "not correct",
                                       "not right",
                                       "no way",
                                       "いいえ",
                                       "いえ",
                                       "いや",
                                       "ううん",
                                       "違います",
                                       "ちがいます",
                                       "違う",
                                       "ちがう",
                                       "ないです",
                                       "ありません",
                                       "いません",
                                       "できません",
                                       "出来ません",
                                       "しません",
                                       "同意しません",
                                       "持っていません",
                                       "持ってません",
                                       "ノー",
                                       "のー",
                                       "ない",
                                       "ません",
                                       "ませんでした",
                                       "なかったです",
                                       "間違っています",
                                       "間違いです",
                                       "正しくありません",
                                       "正しくないです",
                                       "そうではありません",
                                       "そうじゃありません",
                                       "そうじゃないです",
                                       "不要です",
                                       "参加しません",
                                       "反対です",
                                       "していません",
                                       "してません",
                                       "まだです",
                                       "いないです",
                                       NULL};
/* Answers that a person may mean either way. */
static const char *const either_words[] = {"maybe",        "perhaps",      "not sure",
                                           "i'm not sure", "it depends",   "depends",
                                           "sometimes",    "probably",     "possibly",
                                           "i think so",   "i guess",      "no problem",
                                           "no doubt",     "not really",   "i don't mind",
                                           "i don't know", "don't know",   "no idea",
                                           "partly",       "more or less", "yes and no",
                                           "if",           "unless",       "i don't think so",
                                           "why not",      "no worries",   "not only",
                                           "たぶん",       "多分",         "おそらく",
                                           "かもしれ",     "結構です",     "けっこうです",
                                           "いいです",     "大丈夫です",   "大丈夫",
                                           "どちらとも",   "場合による",   "場合によ",
                                           "ときどき",     "時々",         "分かりません",
                                           "わかりません", "分からない",   "わからない",
                                           "と思います",   "はず",         "微妙",
                                           "一応",         "もし",         "たら",
                                           "なら",         "どちらでも",   "わけではない",
                                           "はいいえ",     "かな",         NULL};

/* The words of these that agree with a preceding yes or no. */
static const char *const fine_words[] = {"結構です", "けっこうです", "いいです",   "大丈夫です",
                                         "大丈夫",   "no problem",   "no worries", NULL};

/* The result of reading yes and no. */
struct verdict {
    size_t first, end;
    int kind; /* 1 yes, -1 no, 0 not said */
    bool unclear, leads;
};

static bool verdict_is_mark(uint32_t code)
{
    enum script script = script_of(code);
    return code != 0 && (script == SCRIPT_NONE || script == SCRIPT_SPACE);
}

static void verdict_take(struct verdict *verdict, size_t first, size_t end, int kind)
{
    if (verdict->kind == 0)
        *verdict = (struct verdict){.first = first, .end = end, .kind = kind, .unclear = verdict->unclear};
    else if (verdict->kind != kind)
        verdict->unclear = true;
    else
        verdict->end = end;
}

/* A negation behind "yes" contradicts it; a negation behind "no" agrees with it. */
static bool verdict_negates(const struct reading *in, size_t i)
{
    static const char *const words[] = {"not",     "don't",  "doesn't", "didn't",   "isn't",  "aren't",
                                        "haven't", "never",  "can't",   "won't",    "but",    "however",
                                        "except",  "ません", "ない",    "なかった", "けど",   "けれど",
                                        "ただ",    "しかし", "でも",    "ですが",   "ますが", NULL};
    return words_at(in, i, words, NULL) != 0;
}

bool yes_no_read(const struct reading *in, struct candidate *read)
{
    struct verdict verdict = {.kind = 0};
    bool *covered = arena_zalloc(in->arena, in->in.count + 1);
    size_t begin = skip_spaces(in, 0), last = begin;
    bool doubted = false;
    *read = (struct candidate){.problem = FORM_UNCLEAR_YES_NO, .end = in->in.count, .text = ""};
    if (!covered)
        return false;
    for (size_t i = begin; i < in->in.count;) {
        /* Japanese words of yes and no stand at the beginning, behind a mark or behind another word of them. */
        uint32_t before = i > 0 ? code_at(in, i - 1) : 0;
        bool stands = i == 0 || i == last || verdict_is_mark(before) || code_is_latin(code_at(in, i));
        size_t either = words_at(in, i, either_words, NULL);
        if (either && verdict.kind != 0 && words_at(in, i, fine_words, NULL)) /* いいえ、結構です */
            either = 0;
        size_t yes = stands ? words_at(in, i, yes_words, NULL) : 0, no = stands ? words_at(in, i, no_words, NULL) : 0;
        size_t end = yes > no ? yes : no;
        if (either && either >= end) {
            verdict.unclear = true;
            break;
        }
        if (end && last != begin && yes > no && i != last && verdict.kind == -1 && !verdict_is_mark(code_at(in, end)) &&
            end < in->in.count)
            end = 0; /* "No, I have a cat" */
        if (end)
            verdict_take(&verdict, i, end, yes > no ? 1 : -1);
        doubted = doubted || (verdict.kind == 1 && !end && verdict_negates(in, i));
        for (size_t c = i; c < end; c++)
            covered[c] = true;
        i = end ? end : i + 1;
        last = end ? end : last;
        while (end && verdict_is_mark(code_at(in, i)))
            last = ++i;
    }
    bool leads = verdict.kind != 0 && reading_is_filler(in, begin, verdict.first, NULL);
    bool followed = verdict.kind != 0 && (verdict.end >= in->in.count || verdict_is_mark(code_at(in, verdict.end)) ||
                                          reading_is_filler(in, begin, in->in.count, covered));
    if (verdict.kind == 0 || verdict.unclear || doubted || !leads || !followed || reading_asks(in, verdict.end))
        return true;
    *read = (struct candidate){
        .first = verdict.first, .end = verdict.end, .problem = FORM_FINE, .text = verdict.kind > 0 ? "true" : "false"};
    return true;
}
