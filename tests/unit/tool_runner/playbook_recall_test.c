/* How often a task finds the bullet that it needs among the first ten of 2,000: our own 100 paraphrases, half of them
 * Japanese, and 1,900 other bullets with words of the same
 * fields. By words; and by words and vectors with a scripted
 * embedding model: a vector has a dimension for each concept of a small thesaurus, and hashed pairs of letters as
 * noise. The thesaurus was made for these pairs, so the second figure shows what fusion does with a model that knows
 * synonyms, not how good any model is. */
#include "base/hash.h"
#include "playbook/playbook_index.h"
#include "playbook/playbook_similar.h"
#include "playbook_paraphrases.h"

#include <stdio.h>

#include "unit.h"

#define OTHERS        1900
#define NOISE         64
#define RECALL_WORDS  60
#define RECALL_HYBRID 92
#define DIMENSIONS    (COUNT(thesaurus) + NOISE)

/* Words of one concept, parts of words in lower case. */
static const char *const thesaurus[] = {
    "back up|備え|バックアップ",
    "database|tables|store|表|データベース",
    "migrat|alter|移行|作り変え",
    "mask|not be printed|伏せ|出力してはならない",
    "personal data|signup|個人情報",
    "logs|debugging|ログ|デバッグ",
    "split|too big|分割|大きすぎ",
    "documents|manual|文書|手引き",
    "headings|one go|見出し|要約",
    "divide|ratio|割り算|比率",
    "zero|nothing|blank|ゼロ|空",
    "denominator|second figure|分母|除数",
    "remind|told|通知|知らせ",
    "days ahead|upcoming deadline|締め切り|期限",
    "unit price|cheapest|単価|一番安",
    "offers|packs|buy|価格|商品",
    "queue|same moment|待ち行列|同時に",
    "bursts|many clients|集中|多くの客",
    "traffic|server|アクセス|サーバー",
    "quote file|report.txt|引用符",
    "blanks|shell|空白|スクリプト",
    "deduplicate|twice|名寄せ|二度",
    "contacts|address book|連絡先|住所録",
    "tax|in the end|税込|いくら払",
    "consumers|private buyer|消費者|個人の買い手",
    "medical|rash|病気|発疹",
    "diagnos|doctor|dangerous|診断|危険",
    "cache|again and again|キャッシュ|繰り返し",
    "rarely change|country codes|めったに|国コード",
    "surnames|meyer|姓|渡邉",
    "spelling|not found|異体字|見つからない",
    "missing values|cells|欠損|空欄",
    "separately|average|区別|平均",
    "order parts|purchased|発注|買うもの",
    "lead time|first for|納期|最初に",
    "bookings|reserved|予約|部屋を取",
    "confirm|writing|telephone|書面|電話",
    "smallest|cause|最小|原因",
    "failing|crash|失敗|クラッシュ",
    "lock|at once|ロック",
    "stock|item|在庫",
    "範囲|ついで",
    "依頼|他の箇所",
};

static struct playbook_index *index_;
static Renga__V1__Bullet *bullets[COUNT(paraphrases) + OTHERS];
static size_t bullet_count;

/* The vector of the scripted model. */
static struct vector *embed(const char *text)
{
    static struct vector vector;
    float values[DIMENSIONS] = {0};
    char small[1024], words[256];
    size_t length = strlen(text);
    assert_true(length < sizeof small);
    for (size_t i = 0; i <= length; i++)
        small[i] = (char)(text[i] >= 'A' && text[i] <= 'Z' ? text[i] | 0x20 : text[i]);
    for (size_t i = 0; i < COUNT(thesaurus); i++) {
        char *rest = NULL;
        snprintf(words, sizeof words, "%s", thesaurus[i]);
        for (char *word = strtok_r(words, "|", &rest); word; word = strtok_r(NULL, "|", &rest))
            if (strstr(small, word))
                values[i] = 1;
    }
    for (size_t i = 0; i + 2 < length; i++) {
        unsigned hash =
            ((unsigned char)small[i] * 31U + (unsigned char)small[i + 1]) * 31U + (unsigned char)small[i + 2];
        values[COUNT(thesaurus) + hash % NOISE] += 0.05F;
    }
    assert_true(vector_init(&vector, values, DIMENSIONS));
    return &vector;
}

static void recall_add(const char *content)
{
    Renga__V1__Bullet bullet = RENGA__V1__BULLET__INIT;
    char id[32];
    snprintf(id, sizeof id, "b-%05zu", bullet_count);
    bullet.id = id;
    bullet.section = (char *)(uintptr_t) "rules";
    bullet.content = (char *)(uintptr_t)content;
    bullets[bullet_count++] = &playbook_bullet_create(&bullet, 0)->bullet;
}

/* Other bullets, of the vocabulary of the same fields. */
static const char *const verbs[] = {"Read", "Check", "Send", "Keep", "Update", "Show", "Write", "Copy", "Test", "Name"},
                         *const things[] = {"the report",      "the invoice",   "the table",   "each request",
                                            "the customer",    "the file",      "the server",  "the calendar",
                                            "the prompt",      "the answer",    "the address", "the product list",
                                            "the log",         "the search",    "the token",   "the number",
                                            "the transaction", "the documents", "the image",   "the price"},
                         *const ends[] = {"before the meeting starts.",   "with the name of the team.",
                                          "when the page is empty.",      "after each call.",
                                          "in the language of the user.", "once a week.",
                                          "only if the owner agrees.",    "together with the date.",
                                          "by the rules of the company.", "as the form says."},
                         *const ja_things[] = {"報告書", "請求書", "表",       "要求", "顧客", "ファイル", "サーバー",
                                               "予定表", "質問",   "応答",     "住所", "製品", "ログ",     "検索結果",
                                               "数値",   "画像",   "トークン", "文書", "価格", "手紙"},
                         *const ja_ends[] = {"は会議の前に確認する。",   "を担当者の名前と一緒に保存する。",
                                             "が空のときは報告する。",   "は利用者の言語で表示する。",
                                             "を毎週更新する。",         "は会社の規則に従って書く。",
                                             "を送る前に日付を付ける。", "の変更は承認を得てから行う。",
                                             "を複数の部門で共有する。", "は一年で削除する。"};

static void recall_add_others(void)
{
    char text[1024];
    for (size_t i = 0; bullet_count < COUNT(paraphrases) + OTHERS; i++) {
        if (i % 2)
            snprintf(text, sizeof text, "%s%s%s", i % 4 == 1 ? "新しい" : "古い", ja_things[i / 4 % COUNT(ja_things)],
                     ja_ends[i / 80 % COUNT(ja_ends)]);
        else
            snprintf(text, sizeof text, "%s %s %s", verbs[i / 2 % COUNT(verbs)], things[i / 20 % COUNT(things)],
                     ends[i / 400 % COUNT(ends)]);
        recall_add(text);
    }
}

static int recall_begin(void **state)
{
    index_ = playbook_index_create();
    for (size_t i = 0; i < COUNT(paraphrases); i++)
        recall_add(paraphrases[i].bullet);
    recall_add_others();
    playbook_index_update(index_, bullets, bullet_count);
    for (size_t i = 0; i < bullet_count; i++)
        playbook_index_set_vector(index_, bullets[i], embed(bullets[i]->content));
    return 0;
}

static int recall_end(void **state)
{
    playbook_index_destroy(&index_);
    for (size_t i = 0; i < bullet_count; i++)
        playbook_bullet_release(playbook_bullet_of(bullets[i]));
    return 0;
}

struct recall {
    int found, found_few, found_japanese, first;
};

static struct recall recall_of(bool by_words, bool by_vectors)
{
    struct recall recall = {0};
    for (size_t i = 0; i < COUNT(paraphrases); i++) {
        struct playbook_hit hits[10];
        const struct playbook_query query = {.text = paraphrases[i].task,
                                             .vector = by_vectors ? embed(paraphrases[i].task) : NULL,
                                             .by_words = by_words};
        size_t count = playbook_index_search(index_, &query, hits, 10);
        for (size_t j = 0; j < count; j++)
            if (hits[j].bullet == bullets[i]) {
                recall.found++;
                recall.first += j == 0;
                recall.found_few += paraphrases[i].few;
                recall.found_japanese += i >= COUNT(paraphrases) / 2;
            }
    }
    return recall;
}

static void recall_print(const char *name, struct recall recall, int few)
{
    print_message(
        "%-8s recall@10 %d of %zu (English %d, Japanese %d of 50 each; few words in common %d of %d), first %d\n", name,
        recall.found, COUNT(paraphrases), recall.found - recall.found_japanese, recall.found_japanese, recall.found_few,
        few, recall.first);
}

static void a_task_in_other_words_finds_its_bullet(void **state)
{
    int few = 0;
    for (size_t i = 0; i < COUNT(paraphrases); i++)
        few += paraphrases[i].few;
    struct recall words = recall_of(true, false), vectors = recall_of(false, true), both = recall_of(true, true);
    assert_int_equal(COUNT(paraphrases), 100);
    recall_print("words", words, few);
    recall_print("vectors", vectors, few);
    recall_print("hybrid", both, few);
    assert_true(words.found >= RECALL_WORDS);
    assert_true(both.found >= RECALL_HYBRID && both.found > words.found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_task_in_other_words_finds_its_bullet)};
    return cmocka_run_group_tests(tests, recall_begin, recall_end);
}
