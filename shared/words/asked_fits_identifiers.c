/* Rates the identifiers of a sentence: commands, files, options and other names that are written in their own way. */
#include "words/asked_fits_priv.h"

#include <string.h>

#define CERTAIN  1.0 /* /etc/fstab, --mode, lvm2, LANG=C; in Japanese any new Latin word */
#define PROBABLE 0.7 /* apt-get, which may also be a compound of English words; a name with a capital letter */

/* Classes of things whose names are identifiers. */
static const char *const latin_classes[] = {
    "address",   "alias",     "boot",    "class",    "client",      "command",   "component", "daemon",
    "directive", "director-", "driver",  "editor",   "environment", "extension", "field",     "file",
    "filename",  "flag",      "folder",  "function", "header",      "key",       "keyword",   "kernel",
    "library",   "macro",     "method",  "module",   "operator",    "option",    "package",   "parameter",
    "path",      "plugin",    "port",    "program",  "property",    "protocol",  "queue",     "script",
    "server",    "service",   "setting", "software", "symbol",      "target",    "template",  "tool",
    "type",      "url",       "utilit-", "value",    "variable",    "version",   NULL};
static const char *const japanese_classes[] = {"コマンド",
                                               "ファイル",
                                               "オプション",
                                               "パラメータ",
                                               "パッケージ",
                                               "フィールド",
                                               "ディレクトリ",
                                               "プログラム",
                                               "ツール",
                                               "ユーティリティ",
                                               "変数",
                                               "スクリプト",
                                               "フラグ",
                                               "ヘッダ",
                                               "モジュール",
                                               "関数",
                                               "ライブラリ",
                                               "ターゲット",
                                               "ポート",
                                               "バージョン",
                                               "デーモン",
                                               "アドレス",
                                               "パス",
                                               "拡張子",
                                               "メーリングリスト",
                                               "キー",
                                               "プロトコル",
                                               "サーバ",
                                               "サービス",
                                               "ソフトウェア",
                                               "クライアント",
                                               "エディタ",
                                               "キュー",
                                               "コンポーネント",
                                               "演算子",
                                               "形式",
                                               "アーキテクチャ",
                                               "チャンネル",
                                               "ドライバ",
                                               "値",
                                               "フォルダ",
                                               "ブートローダ",
                                               "エイリアス",
                                               "テンプレート",
                                               "マクロ",
                                               "設定",
                                               NULL};

static bool is_latin(uint32_t code)
{
    return (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z') || (code >= '0' && code <= '9');
}

/* "-" at the end of a row matches any ending, else a plural s is allowed. */
static bool identifier_class_at(const struct asked_letters *letters, size_t at, size_t end, const char *word)
{
    size_t length = strlen(word), taken = 0;
    bool any = word[length - 1] == '-';
    while (taken < length - any && at + taken < end && letters->at[at + taken].code == (unsigned char)word[taken])
        taken++;
    if (taken < length - any)
        return false;
    at += taken;
    at += !any && at < end && letters->at[at].code == 's';
    return any || at == end || !is_latin(letters->at[at].code);
}

bool asked_wants_identifier(const struct asked_rated *rated)
{
    const struct asked_letters *question = rated->question;
    const struct asked_part *focus = &rated->focus;
    enum asked_type type = rated->asked->type;
    if (type != ASKED_NAME && type != ASKED_PLACE && type != ASKED_PERSON && type != ASKED_LIST)
        return false;
    for (size_t at = focus->begin; at < focus->end; at++) {
        bool begins = at == 0 || !is_latin(question->at[at - 1].code);
        for (const char *const *word = latin_classes; begins && is_latin(question->at[at].code) && *word; word++)
            if (identifier_class_at(question, at, focus->end, *word))
                return true;
        if (asked_stands_any(question, at, focus->end, japanese_classes))
            return true;
    }
    return false;
}

/* A run of characters without a blank, without the punctuation around it. */
static bool is_outer_mark(uint32_t code)
{
    return code == '.' || code == ',' || code == ';' || code == ':' || code == '(' || code == ')' || code == '"' ||
           code == '\'' || code == '?' || code == '!' || code == '[' || code == ']' || code == '`' || code == '*';
}

static bool is_part_of_token(uint32_t code)
{
    return code > ' ' && code < 0x7F;
}

/* How surely letters [begin, end) are an identifier, by their form. */
static double identifier_form(const struct asked_rated *rated, size_t begin, size_t end)
{
    const struct asked_letters *sentence = rated->sentence;
    const char *text = sentence->text;
    bool hyphen = false, digit = false, letter = false, mark = false, capital = false, inner = false;
    uint32_t first = sentence->at[begin].code;
    for (size_t i = begin; i < end; i++) {
        uint32_t code = sentence->at[i].code;
        char written = text[sentence->at[i].begin];
        bool between = i > begin && i + 1 < end;
        hyphen |= code == '-' && between;
        digit |= code >= '0' && code <= '9';
        letter |= code >= 'a' && code <= 'z';
        mark |= code == '/' || code == '_' || code == '=' || code == '@' || code == '+' || code == '~' || code == '$' ||
                code == '\\' || code == '<' || ((code == '.' || code == ':') && between);
        capital |= i == begin && written >= 'A' && written <= 'Z';
        inner |= i > begin && written >= 'A' && written <= 'Z';
    }
    if (mark || first == '-' || (digit && letter) || inner)
        return CERTAIN;
    if (!rated->latin)
        return letter || digit ? CERTAIN : 0;
    bool opens = begin < 2 || sentence->at[begin - 1].code == '.';
    return (hyphen && letter) || (capital && !opens) || digit ? PROBABLE : 0;
}

/* Whether the question does not have the token: "--mode" is new in the answer to "Which option sets the mode?". */
static bool identifier_is_fresh(const struct asked_rated *rated, size_t begin, size_t end)
{
    const struct asked_letters *question = rated->question, *sentence = rated->sentence;
    for (size_t at = 0; at + (end - begin) <= question->count; at++) {
        size_t same = 0;
        while (begin + same < end && question->at[at + same].code == sentence->at[begin + same].code)
            same++;
        if (begin + same == end)
            return false;
    }
    return true;
}

/* /etc/fstab, https://example.org/ and list@example.org tell a place; I/O and A/B do not. */
static bool identifier_is_place(const struct asked_letters *letters, size_t begin, size_t end)
{
    size_t slashes = 0, mails = 0, dots = 0;
    for (size_t i = begin; i < end; i++) {
        slashes += letters->at[i].code == '/';
        mails += letters->at[i].code == '@';
        dots += letters->at[i].code == '.';
    }
    return slashes > 1 || (slashes && letters->at[begin].code == '/') || (mails && dots);
}

static double identifiers_rate(const struct asked_rated *rated, bool places)
{
    const struct asked_letters *sentence = rated->sentence;
    double best = 0;
    for (size_t at = 0; at < sentence->count;) {
        size_t begin = at, end;
        while (at < sentence->count && is_part_of_token(sentence->at[at].code))
            at++;
        end = at;
        at += at == begin;
        while (begin < end && is_outer_mark(sentence->at[begin].code) && sentence->at[begin].code != '.')
            begin++;
        while (end > begin && is_outer_mark(sentence->at[end - 1].code))
            end--;
        double form = end > begin + 1 ? identifier_form(rated, begin, end) : 0;
        if (places && form > 0 && !identifier_is_place(sentence, begin, end))
            form = 0;
        if (form <= best || !identifier_is_fresh(rated, begin, end))
            continue;
        form *= asked_nearness(rated, begin, end);
        best = form > best ? form : best;
    }
    return best;
}

double asked_rate_identifiers(const struct asked_rated *rated)
{
    return identifiers_rate(rated, false);
}

double asked_rate_locations(const struct asked_rated *rated)
{
    return identifiers_rate(rated, true);
}
