/* Rates a sentence as an answer to a question for a method. An instruction is the best one: an imperative, a command in
 * backquotes, the path of a menu. Words for a means ("by", "using", によって) are less, and "with" alone says little.
 */
#include "words/asked_fits_priv.h"

#include <string.h>

#define INSTRUCTS 1.0
#define MEANS     0.75
#define PERHAPS   0.4
#define NO_METHOD 0.2

/* The verb of an English, German, French or Spanish instruction, where a clause begins. */
static const char *const imperatives[] = {
    "activate",     "add",         "adjust",      "allow",      "answer",        "apply",       "ask",
    "assign",       "attach",      "boot",        "build",      "call",          "change",      "check",
    "choose",       "clean",       "clear",       "click",      "close",         "compare",     "configure",
    "confirm",      "connect",     "copy",        "create",     "define",        "delete",      "describe",
    "disable",      "download",    "drag",        "drop",       "edit",          "empty",       "enable",
    "enter",        "execute",     "export",      "fetch",      "fill",          "find",        "follow",
    "forward",      "get",         "give",        "go",         "hand",          "hold",        "import",
    "insert",       "install",     "invoke",      "keep",       "lay",           "leave",       "log",
    "look",         "make",        "mark",        "measure",    "mount",         "move",        "name",
    "open",         "pass",        "paste",       "photograph", "pick",          "place",       "plug",
    "point",        "press",       "print",       "pull",       "push",          "put",         "read",
    "reboot",       "register",    "reload",      "remove",     "rename",        "repeat",      "replace",
    "request",      "rinse",       "run",         "save",       "scan",          "search",      "see",
    "select",       "send",        "set",         "sign",       "specify",       "split",       "start",
    "stop",         "store",       "submit",      "switch",     "take",          "tell",        "test",
    "turn",         "type",        "unlock",      "unplug",     "update",        "upgrade",     "upload",
    "use",          "verify",      "wait",        "write",      "drücken sie",   "wählen sie",  "öffnen sie",
    "geben sie",    "klicken sie", "stellen sie", "drehen sie", "schließen sie", "starten sie", "warten sie",
    "ouvrez",       "choisissez",  "cliquez",     "appuyez",    "touchez",       "entrez",      "saisissez",
    "sélectionnez", "écrivez",     "scannez",     "attendez",   "lancez",        "allez",       "pulse",
    "elija",        "abra",        "gire",        "indique",    "cierre",        "seleccione",  "haga",
    "vaya",         "escriba",     "introduzca",  "espere",     "ejecute",       NULL};

/* Words after which a clause begins, beside the beginning of the sentence and a comma. */
static const char *const joins[] = {"and ", "then ", "first ", "finally ", "please ", "now ",
                                    "or ",  "und ",  "et ",    "y ",       NULL};

static bool method_is_letter(const struct asked_letters *letters, size_t at)
{
    enum script script = at < letters->count ? script_of(letters->at[at].code) : SCRIPT_NONE;
    return script == SCRIPT_LETTER || script == SCRIPT_DIGIT;
}

static bool method_has_imperative_at(const struct asked_letters *letters, size_t at)
{
    for (const char *const *verb = imperatives; *verb; verb++) {
        size_t taken = asked_stands(letters, at, letters->count, *verb);
        if (taken && !method_is_letter(letters, at + taken) && letters->at[at + taken].code != '-')
            return true;
    }
    return false;
}

/* The letters of a joining word that stands there, or 0. */
static size_t method_join_at(const struct asked_letters *letters, size_t at)
{
    for (const char *const *join = joins; *join; join++) {
        size_t taken = asked_stands(letters, at, letters->count, *join);
        if (taken)
            return taken;
    }
    return 0;
}

static bool method_commands(const struct asked_letters *letters)
{
    bool begins = true; /* a clause begins at the next letter */
    for (size_t at = 0; at < letters->count; at++) {
        uint32_t code = letters->at[at].code;
        size_t join;
        if (!method_is_letter(letters, at)) {
            begins |= code == ',' || code == ':' || code == ';';
            continue;
        }
        if (at > 0 && method_is_letter(letters, at - 1))
            continue;
        if ((join = method_join_at(letters, at))) {
            begins = true;
            at += join - 1;
            continue;
        }
        bool number = script_of(letters->at[at].code) == SCRIPT_DIGIT; /* of a list */
        if (begins && !number && method_has_imperative_at(letters, at))
            return true;
        begins = begins && number;
    }
    return false;
}

/* `xyzctl restore`: letters and a blank between backquotes. Or a path of a menu: "Admin > People", 「管理 > 利用者」.
 */
static bool method_has_command(const struct asked_letters *letters)
{
    bool code = false, blank = false, word = false;
    for (size_t at = 0; at < letters->count; at++) {
        uint32_t letter = letters->at[at].code;
        if (letter == '`') {
            if (code && blank && word)
                return true;
            code = !code;
            blank = word = false;
        }
        blank |= code && letter == ' ';
        word |= code && script_of(letter) == SCRIPT_LETTER;
        bool menu =
            !code && letter == '>' && at > 0 && letters->at[at - 1].code == ' ' && letters->at[at + 1].code == ' ';
        if (menu)
            return true;
    }
    return false;
}

/* "by pressing", not "by itself" or "by default". */
static bool method_has_gerund(const struct asked_letters *letters)
{
    for (size_t at = 0; at < letters->count; at++) {
        size_t end = at + asked_stands(letters, at, letters->count, "by ");
        if (end == at || (at > 0 && method_is_letter(letters, at - 1)))
            continue;
        while (method_is_letter(letters, end))
            end++;
        if (end > at + sizeof("by ing") && asked_stands(letters, end - 3, end, "ing"))
            return true;
    }
    return false;
}

double asked_rate_method(const struct asked_letters *sentence)
{
    static const char *const forbids[] = {"do not", "don't", "never", "ないで", "ません", "禁止", NULL};
    static const char *const instructs[] = {
        "ください", "を押",   "を選び",   "を選ん",   "を開き", "を開い", "を開く",   "実行し", "実行す",
        "入力し",   "設定し", "クリック", "貼り付け", "登録し", "を書く", "を書い",   "を付け", "を入れ",
        "請点击",   "点击",   "选择",     "輸入",     "输入",   "하세요", "하십시오", NULL};
    static const char *const means[] = {
        "using",    "via",    "through", "use",  "command", "によって", "により",   "ことで", "使って",  "使い",
        "用い",     "利用し", "方法",    "手順", "まず",    "次に",     "通じて",   "durch",  "indem",   "mittels",
        "mediante", "通过",   "使用",    "利用", "用",      "하여",     "mithilfe", "anhand", "hierbei", "hierfür",
        "dazu",     "是由",   "所形成",  "构成", "组成",    "으로",     NULL};
    static const char *const perhaps[] = {"by",   "to",   "in", "as",  "with", "from", "first",
                                          "then", "して", "で", "mit", "avec", "con",  NULL};
    if (asked_sentence_has(sentence, forbids))
        return PERHAPS;
    if (method_commands(sentence) || method_has_command(sentence) || asked_sentence_has(sentence, instructs))
        return INSTRUCTS;
    if (method_has_gerund(sentence) || asked_sentence_has(sentence, means))
        return MEANS;
    return asked_sentence_has(sentence, perhaps) ? PERHAPS : NO_METHOD;
}
