/* Irregular forms and British spellings of English words. */
#include "words/spelling.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SPELLING_ISE_LEAST 4 /* letters before -ise */

struct spelling_row {
    const char *from, *to; /* `to` is never longer */
};

/* Irregular forms and the stem of their word. Sorted by strcmp, for bsearch. */
static const struct spelling_row forms[] = {
    {"analyse", "analysi"},
    {"analysed", "analysi"},
    {"analyses", "analysi"},
    {"analysing", "analysi"},
    {"analyze", "analysi"},
    {"analyzed", "analysi"},
    {"analyzing", "analysi"},
    {"appendices", "appendix"},
    {"arisen", "aris"},
    {"arose", "aris"},
    {"ate", "eat"},
    {"awoke", "awak"},
    {"became", "becom"},
    {"began", "begin"},
    {"begun", "begin"},
    {"bent", "bend"},
    {"best", "good"},
    {"better", "good"},
    {"blew", "blow"},
    {"blown", "blow"},
    {"bought", "buy"},
    {"broke", "break"},
    {"broken", "break"},
    {"brought", "bring"},
    {"built", "build"},
    {"burnt", "burn"},
    {"came", "come"},
    {"caught", "catch"},
    {"children", "child"},
    {"chose", "choos"},
    {"chosen", "choos"},
    {"clung", "cling"},
    {"crept", "creep"},
    {"crises", "crisi"},
    {"dealt", "deal"},
    {"diagnoses", "diagnosi"},
    {"drank", "drink"},
    {"drawn", "draw"},
    {"dreamt", "dream"},
    {"drew", "draw"},
    {"driven", "drive"},
    {"drove", "drive"},
    {"drunk", "drink"},
    {"dug", "dig"},
    {"eaten", "eat"},
    {"fallen", "fall"},
    {"feet", "foot"},
    {"fell", "fall"},
    {"felt", "feel"},
    {"fled", "flee"},
    {"flew", "fli"},
    {"flown", "fli"},
    {"forbade", "forbid"},
    {"forbidden", "forbid"},
    {"forgave", "forgiv"},
    {"forgiven", "forgiv"},
    {"forgot", "forget"},
    {"forgotten", "forget"},
    {"fought", "fight"},
    {"found", "find"},
    {"froze", "freez"},
    {"frozen", "freez"},
    {"gave", "give"},
    {"geese", "goos"},
    {"given", "give"},
    {"goes", "go"},
    {"gone", "go"},
    {"grew", "grow"},
    {"grown", "grow"},
    {"halves", "half"},
    {"heard", "hear"},
    {"held", "hold"},
    {"hidden", "hide"},
    {"hung", "hang"},
    {"hypotheses", "hypothesi"},
    {"indices", "index"},
    {"kept", "keep"},
    {"knelt", "kneel"},
    {"knew", "know"},
    {"knives", "knife"},
    {"known", "know"},
    {"laid", "lay"},
    {"leapt", "leap"},
    {"learnt", "learn"},
    {"lent", "lend"},
    {"lice", "lous"},
    {"loaves", "loaf"},
    {"lost", "lose"},
    {"made", "make"},
    {"matrices", "matrix"},
    {"meant", "mean"},
    {"men", "man"},
    {"mice", "mous"},
    {"mistook", "mistak"},
    {"overcame", "overcom"},
    {"overthrew", "overthrow"},
    {"overthrown", "overthrow"},
    {"oxen", "ox"},
    {"paid", "pay"},
    {"proven", "prove"},
    {"ran", "run"},
    {"rang", "ring"},
    {"ridden", "ride"},
    {"risen", "rise"},
    {"rode", "ride"},
    {"said", "say"},
    {"sang", "sing"},
    {"sank", "sink"},
    {"sat", "sit"},
    {"saw", "see"},
    {"seen", "see"},
    {"sent", "send"},
    {"shaken", "shake"},
    {"shelves", "shelf"},
    {"shone", "shine"},
    {"shook", "shake"},
    {"shown", "show"},
    {"shrank", "shrink"},
    {"slept", "sleep"},
    {"smelt", "smell"},
    {"sold", "sell"},
    {"sought", "seek"},
    {"spelt", "spell"},
    {"spent", "spend"},
    {"spoke", "speak"},
    {"spoken", "speak"},
    {"spun", "spin"},
    {"stole", "steal"},
    {"stolen", "steal"},
    {"stood", "stand"},
    {"stricken", "strike"},
    {"strove", "strive"},
    {"struck", "strike"},
    {"stuck", "stick"},
    {"sung", "sing"},
    {"sunk", "sink"},
    {"swam", "swim"},
    {"swept", "sweep"},
    {"swore", "swear"},
    {"sworn", "swear"},
    {"taken", "take"},
    {"taught", "teach"},
    {"teeth", "tooth"},
    {"theses", "thesi"},
    {"thieves", "thief"},
    {"thought", "think"},
    {"threw", "throw"},
    {"thrown", "throw"},
    {"told", "tell"},
    {"took", "take"},
    {"tore", "tear"},
    {"torn", "tear"},
    {"understood", "understand"},
    {"undertaken", "undertak"},
    {"undertook", "undertak"},
    {"upheld", "uphold"},
    {"vertices", "vertex"},
    {"went", "go"},
    {"wept", "weep"},
    {"withdrawn", "withdraw"},
    {"withdrew", "withdraw"},
    {"withheld", "withhold"},
    {"withstood", "withstand"},
    {"wives", "wife"},
    {"woke", "wake"},
    {"woken", "wake"},
    {"wolves", "wolf"},
    {"women", "woman"},
    {"won", "win"},
    {"wore", "wear"},
    {"worn", "wear"},
    {"worse", "bad"},
    {"worst", "bad"},
    {"written", "write"},
    {"wrote", "write"},
};

/* Stems that stand for another stem: of British spellings, and of words whose irregular form is shorter. Sorted by
 * strcmp. */
static const struct spelling_row stems[] = {
    {"aeroplan", "airplan"},
    {"aluminium", "aluminum"},
    {"alumnus", "alumni"},
    {"analogu", "analog"},
    {"artefact", "artifact"},
    {"bacterium", "bacteria"},
    {"breed", "bred"},
    {"calibr", "calib"},
    {"catalogu", "catalog"},
    {"catalys", "catalyz"},
    {"center", "centr"},
    {"centimetr", "centimet"},
    {"cosi", "cozi"},
    {"counsellor", "counselor"},
    {"criterion", "criteria"},
    {"defenc", "defens"},
    {"dialogu", "dialog"},
    {"feed", "fed"},
    {"fiber", "fibr"},
    {"fungus", "fungi"},
    {"grey", "gray"},
    {"jewelleri", "jewelri"},
    {"judgement", "judgment"},
    {"kilometr", "kilomet"},
    {"licenc", "licens"},
    {"liter", "litr"},
    {"luster", "lustr"},
    {"meager", "meagr"},
    {"meet", "met"},
    {"meter", "metr"},
    {"millimetr", "millimet"},
    {"nucleus", "nuclei"},
    {"offenc", "offens"},
    {"paralys", "paralyz"},
    {"phenomenon", "phenomena"},
    {"practis", "practic"},
    {"pretenc", "pretens"},
    {"programm", "program"},
    {"radius", "radii"},
    {"saber", "sabr"},
    {"slide", "slid"},
    {"somber", "sombr"},
    {"specter", "spectr"},
    {"speed", "sped"},
    {"stimulus", "stimuli"},
    {"theater", "theatr"},
    {"whiskey", "whiski"},
};

/* Beginnings of words, and of the longer of two spellings the shorter one. */
static const struct spelling_row beginnings[] = {
    {"anaem", "anem"},
    {"anaesth", "anesth"},
    {"archaeo", "archeo"},
    {"ardour", "ardor"},
    {"armour", "armor"},
    {"behaviour", "behavior"},
    {"candour", "candor"},
    {"clamour", "clamor"},
    {"colour", "color"},
    {"demeanour", "demeanor"},
    {"diarrhoea", "diarrhea"},
    {"discolour", "discolor"},
    {"dishonour", "dishonor"},
    {"encyclopaed", "encycloped"},
    {"endeavour", "endeavor"},
    {"favour", "favor"},
    {"fervour", "fervor"},
    {"flavour", "flavor"},
    {"foetal", "fetal"},
    {"foetus", "fetus"},
    {"gynaeco", "gyneco"},
    {"haemo", "hemo"},
    {"haemat", "hemat"},
    {"harbour", "harbor"},
    {"honour", "honor"},
    {"humour", "humor"},
    {"labour", "labor"},
    {"leukaem", "leukem"},
    {"manoeuvr", "maneuver"},
    {"mediaeval", "medieval"},
    {"misbehaviour", "misbehavior"},
    {"moult", "molt"},
    {"mould", "mold"},
    {"moustache", "mustache"},
    {"neighbour", "neighbor"},
    {"odour", "odor"},
    {"oesophag", "esophag"},
    {"oestr", "estr"},
    {"orthopaed", "orthoped"},
    {"paediatr", "pediatr"},
    {"parlour", "parlor"},
    {"plough", "plow"},
    {"pyjama", "pajama"},
    {"rancour", "rancor"},
    {"rigour", "rigor"},
    {"rumour", "rumor"},
    {"saviour", "savior"},
    {"savour", "savor"},
    {"sceptic", "skeptic"},
    {"skillful", "skilful"},
    {"splendour", "splendor"},
    {"succour", "succor"},
    {"tumour", "tumor"},
    {"unfavour", "unfavor"},
    {"valour", "valor"},
    {"vapour", "vapor"},
    {"vigour", "vigor"},
    {"willful", "wilful"},
};

/* Words in -ise that have no other spelling. */
static const char *const always_ise[] = {
    "advertise",      "appraise",   "chastise", "circumcise", "comprise",  "compromise", "concise",    "despise",
    "disguise",       "enterprise", "exercise", "expertise",  "franchise", "improvise",  "likewise",   "merchandise",
    "otherwise",      "paradise",   "porpoise", "practise",   "precise",   "premise",    "promise",    "supervise",
    "surmise",        "surprise",   "televise", "tortoise",   "treatise",  "turquoise",  "clockwise",  "crosswise",
    "disenfranchise", "reprise",    "valise",   "malaise",    "polonaise", "mayonnaise", "bourgeoise",
};

static int compare_spellings(const void *key, const void *row)
{
    return strcmp(key, ((const struct spelling_row *)row)->from);
}

static size_t spelling_fold_beginning(char *word, size_t length)
{
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
        if (*word != *beginnings[i].from) /* nearly always */
            continue;
        size_t from = strlen(beginnings[i].from), to = strlen(beginnings[i].to);
        if (length < from || memcmp(word, beginnings[i].from, from) != 0)
            continue;
        memcpy(word, beginnings[i].to, to);
        memmove(word + to, word + from, length - from + 1);
        return length - (from - to);
    }
    return length;
}

/* Whether the word with this length before its ending is one of those that are never written with z. */
static bool spelling_keeps_s(const char *word, size_t before)
{
    for (size_t i = 0; i < sizeof always_ise / sizeof *always_ise; i++)
        if (strlen(always_ise[i]) == before + 3 && memcmp(word, always_ise[i], before) == 0)
            return true;
    return false;
}

/* organise, organised, organising, organisation, organiser: with z. Short words (raise, cruise) keep their s. */
static void spelling_fold_ise(char *word, size_t length)
{
    static const char *const endings[] = {"ise", "ises", "ised", "ising", "isation", "isations", "iser", "isers"};
    if (strstr(word, "is") == NULL)
        return;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t ending = strlen(endings[i]);
        if (length < ending + SPELLING_ISE_LEAST || memcmp(word + length - ending, endings[i], ending) != 0)
            continue;
        size_t before = length - ending;
        if (!spelling_keeps_s(word, before))
            word[before + 1] = 'z';
        return;
    }
}

bool spelling_irregular(char *word, size_t *length)
{
    const struct spelling_row *row =
        bsearch(word, forms, sizeof forms / sizeof *forms, sizeof *forms, compare_spellings);
    if (row == NULL)
        return false;
    *length = strlen(row->to);
    memcpy(word, row->to, *length + 1);
    return true;
}

size_t spelling_american(char *word, size_t length)
{
    length = spelling_fold_beginning(word, length);
    spelling_fold_ise(word, length);
    return length;
}

size_t spelling_stem(char *stem, size_t length)
{
    const struct spelling_row *row =
        bsearch(stem, stems, sizeof stems / sizeof *stems, sizeof *stems, compare_spellings);
    if (row == NULL)
        return length;
    size_t replaced = strlen(row->to);
    memcpy(stem, row->to, replaced + 1);
    return replaced;
}
