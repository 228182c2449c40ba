/* The person's acts besides answers. The text is an act if pieces cover all of it (acts.h): a single act, and
 * courtesies around it. At each place the longest piece counts. Any other words make the text an answer, except the
 * reason of a refusal: "skip it because …", "…ので分かりません". */
#include "form/acts.h"
#include "form/form_priv.h"

#include <string.h>

#define TEXT_MAX     ((size_t)8192) /* bytes; a longer text is an answer */
#define PIECES_MAX   40             /* of an act; a text with more is an answer */
#define SPEAKS_MAX   ((size_t)256)  /* bytes of a text that may ask for a language */
#define HEAD_MAX     ((size_t)400)  /* bytes of a reason that stands before the act */
#define HEADS_MAX    8              /* places at which this reason may end */
#define NAMES_MAX    16             /* in a text */
#define CHOICES_SEEN 4              /* choices of a field that are tried as languages */

#define BIT(piece) (1U << (piece))

struct hearing {
    const struct form *form;
    const char *said;
    struct arena *arena;
    struct plain_text plain;
    struct name_found names[NAMES_MAX]; /* of fields and choices, in a short text */
    size_t name_count;
    const struct folded *characters;
    struct form_place languages[FORM_PLACES_MAX];
    size_t language_count;
};

/* The part of the text that pieces have covered, from a given place. */
struct cover {
    size_t stuck; /* the first place without a piece; the text's length if all is covered */
    unsigned pieces;
    int field; /* -1 */
    const struct form_place *language;
    bool in_order;           /* the word of a change stands on its side of the field */
    bool two;                /* fields or languages */
    size_t doubt, doubt_end; /* the words of not knowing */
};

/* ---- covering ---------------------------------------------------------------------------------------------------- */

/* The length of a part of the plain form. It begins at a place of the plain form and ends at a byte of the original. */
static size_t plain_length(const struct plain_text *plain, size_t at, size_t end_byte)
{
    size_t end = at;
    while (end < plain->length && plain->begin[end] < end_byte)
        end++;
    return end - at;
}

static size_t act_language_at(const struct hearing *in, size_t at, const struct form_place **language)
{
    for (size_t i = 0; i < in->language_count; i++) {
        const struct form_place *place = &in->languages[i];
        if (in->plain.begin[at] != place->begin || place->end <= place->begin + 2)
            continue;
        *language = place;
        return plain_length(&in->plain, at, place->end);
    }
    return 0;
}

/* The length of the name of a field that begins at a place. A whole label counts before a part of a label. *field is -1
 * if two fields have the name. */
static size_t act_name_at(const struct hearing *in, size_t at, int *field)
{
    const struct form_word *best = NULL;
    size_t length = 0;
    for (size_t i = 0; i < in->name_count; i++) {
        const struct name_found *found = &in->names[i];
        const struct form_word *word = &in->form->words[found->tag];
        if (word->choice >= 0 || in->characters[found->first].begin != in->plain.begin[at])
            continue;
        if (!best || (best->partial && !word->partial)) {
            best = word;
            *field = word->field;
            length = plain_length(&in->plain, at, in->characters[found->end - 1].end);
        } else if (best->partial == word->partial && best->field != word->field) {
            *field = -1;
        }
    }
    return length;
}

/* Covers the text from a place on, as far as it goes. */
static struct cover act_cover(const struct hearing *in, size_t at)
{
    struct cover cover = {.stuck = at, .field = -1};
    for (size_t count = 0; count < PIECES_MAX && cover.stuck < in->plain.length; count++) {
        enum piece piece = PIECE_FILLER;
        const struct form_place *language = NULL;
        int field = -1;
        at = cover.stuck;
        size_t length = plain_piece(&in->plain, at, &piece);
        size_t name = act_name_at(in, at, &field);
        size_t spoken = act_language_at(in, at, &language);
        if (spoken >= length && spoken >= name && spoken > 0) {
            cover.two = cover.two || cover.language;
            cover.language = language;
            length = spoken;
        } else if (name >= length && field >= 0) {
            cover.two = cover.two || (cover.field >= 0 && cover.field != field);
            cover.field = field;
            length = name;
        } else if (length > 0) {
            bool before = piece == PIECE_CHANGE && cover.field < 0;
            bool behind = piece == PIECE_CHANGE_AFTER && cover.field >= 0;
            cover.in_order = cover.in_order || before || behind;
            cover.pieces |= BIT(piece);
            bool reasoned = cover.doubt_end > 0 && (cover.pieces & BIT(PIECE_UNDECIDED)) && piece != PIECE_UNDECIDED;
            if ((piece == PIECE_DOES_NOT_KNOW || piece == PIECE_UNDECIDED) && !reasoned) {
                cover.doubt = at;
                cover.doubt_end = at + length;
            }
        } else {
            return cover;
        }
        cover.stuck += length;
        cover.stuck += in->plain.text[cover.stuck] == ' ';
    }
    return cover;
}

/* ---- which act -------------------------------------------------------------------------------------------------- */

static bool contains_language(const struct hearing *in, const Renga__V1__FormField *field)
{
    struct form_place places[FORM_PLACES_MAX];
    if (strcasestr(field->label, "language") || strcasestr(field->field_id, "language") ||
        strstr(field->label, "言語") || strstr(field->label, "何語"))
        return true;
    for (size_t i = 0; i < field->n_choices && i < CHOICES_SEEN; i++) {
        const char *label = field->choices[i]->label[0] ? field->choices[i]->label : field->choices[i]->value;
        if (strlen(label) <= SPEAKS_MAX && form_find_language(label, places) > 0)
            return true;
    }
    return false;
}

/* Whether a language may be the answer to a field. */
static bool act_form_asks_language(const struct hearing *in)
{
    for (size_t i = 0; i < form_field_count(in->form); i++) {
        if (contains_language(in, form_field(in->form, i)))
            return true;
    }
    return false;
}

static enum form_act act_of_language(const struct hearing *in, const struct cover *cover, unsigned acts)
{
    const unsigned beside = BIT(PIECE_SPEAK) | BIT(PIECE_DOES_NOT_KNOW) | BIT(PIECE_WHAT);
    const unsigned weak = BIT(PIECE_SPEAK_WEAK) | BIT(PIECE_PLEASE);
    if (acts & BIT(PIECE_SPEAK))
        return acts & ~beside ? FORM_ANSWERS : FORM_SPEAKS;
    return !acts && (cover->pieces & weak) && !act_form_asks_language(in) ? FORM_SPEAKS : FORM_ANSWERS;
}

/* Combinations of pieces, and the act that results. */
static const struct {
    unsigned pieces;
    enum form_act act;
} combinations[] = {
    {BIT(PIECE_SKIP), FORM_SKIPS},
    {BIT(PIECE_DOES_NOT_KNOW), FORM_DOES_NOT_KNOW},
    {BIT(PIECE_WHY), FORM_ASKS_WHY},
    {BIT(PIECE_WHAT), FORM_ASKS_WHAT},
    {BIT(PIECE_STATE), FORM_ASKS_STATE},
    {BIT(PIECE_SKIP) | BIT(PIECE_DOES_NOT_KNOW), FORM_SKIPS},
    {BIT(PIECE_SKIP) | BIT(PIECE_WHY), FORM_SKIPS},
    {BIT(PIECE_DOES_NOT_KNOW) | BIT(PIECE_WHAT), FORM_ASKS_WHAT},
    {BIT(PIECE_DOES_NOT_KNOW) | BIT(PIECE_WHY), FORM_ASKS_WHY},
    {BIT(PIECE_WHY) | BIT(PIECE_WHAT), FORM_ASKS_WHAT},
};

static enum form_act act_of(const struct hearing *in, const struct cover *cover)
{
    const unsigned changes = BIT(PIECE_CHANGE) | BIT(PIECE_CHANGE_AFTER);
    unsigned acts = cover->pieces & ~(BIT(PIECE_FILLER) | BIT(PIECE_PLEASE) | BIT(PIECE_SPEAK_WEAK));
    if (acts & BIT(PIECE_WHAT_ASKED))
        acts =
            (acts & ~BIT(PIECE_WHAT_ASKED)) | (acts == BIT(PIECE_WHAT_ASKED) && in->plain.asks ? BIT(PIECE_WHAT) : 0);
    if (acts & BIT(PIECE_UNDECIDED))
        acts = (acts & ~BIT(PIECE_UNDECIDED)) | BIT(PIECE_DOES_NOT_KNOW);
    if (cover->two)
        return FORM_ANSWERS;
    if (cover->language)
        return act_of_language(in, cover, acts);
    if (cover->field >= 0 && (acts & changes)) {
        unsigned rest = acts & ~(changes | BIT(PIECE_BACK));
        return rest == 0 && cover->in_order ? FORM_CHANGES : FORM_ANSWERS;
    }
    if (acts & BIT(PIECE_BACK))
        return acts & ~(changes | BIT(PIECE_BACK)) ? FORM_ANSWERS : FORM_GOES_BACK;
    for (size_t i = 0; i < sizeof(combinations) / sizeof(*combinations); i++) {
        if (combinations[i].pieces == acts)
            return combinations[i].act;
    }
    return FORM_ANSWERS;
}

/* ---- reasons ----------------------------------------------------------------------------------------------------- */

static bool takes_reason(enum form_act act)
{
    return act == FORM_SKIPS || act == FORM_DOES_NOT_KNOW;
}

/* The original's words of a part of the plain form, without marks at either end. NULL if the arena is exhausted. */
static const char *act_words(const struct hearing *in, size_t begin, size_t end)
{
    static const char *const marks[] = {" ", "\n", "\t", ",", ".", ":", ";", "、", "。", "，", "　", "…"};
    const char *text = in->said + in->plain.begin[begin];
    size_t length = in->plain.begin[end] - in->plain.begin[begin];
    for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++) {
        size_t own = strlen(marks[i]);
        if (length >= own && memcmp(text + length - own, marks[i], own) == 0) {
            length -= own;
            i = (size_t)-1;
        } else if (length >= own && memcmp(text, marks[i], own) == 0) {
            text += own;
            length -= own;
            i = (size_t)-1;
        }
    }
    return arena_strndup(in->arena, text, length);
}

static size_t act_starts(const struct plain_text *plain, size_t at, const char *const *words)
{
    for (size_t i = 0; words[i]; i++) {
        if (plain_has(plain, at, words[i], strlen(words[i])))
            return strlen(words[i]);
    }
    return 0;
}

static const char *const causes[] = {"ので",       "ため",     "ですから", "ますから", "んだから", "だから", "ないから",
                                     "ませんから", "したから", "るから",   "もので",   "のため",   NULL};

static bool act_ends_in_cause(const struct plain_text *plain)
{
    static const char *const endings[] = {"です", "でございます", NULL};
    size_t end = plain->length;
    for (size_t i = 0; endings[i]; i++) {
        size_t own = strlen(endings[i]);
        if (end > own && memcmp(plain->text + end - own, endings[i], own) == 0)
            end -= own;
    }
    for (size_t i = 0; causes[i]; i++) {
        size_t own = strlen(causes[i]);
        if (end > own && memcmp(plain->text + end - own, causes[i], own) == 0)
            return true;
    }
    return false;
}

/* "skip it because …", "分かりません。…ので": the beginning of the reason, or 0. */
static size_t act_reason_behind(const struct hearing *in, const struct cover *cover)
{
    static const char *const because[] = {"because", "since", "cause", "as", "due to", "なぜなら", "というのは", NULL};
    size_t at = cover->stuck, length = act_starts(&in->plain, at, because);
    if (!takes_reason(act_of(in, cover)))
        return 0;
    if (length > 0 && at + length + 1 < in->plain.length)
        return at + length;
    bool apart = at > 0 && in->plain.text[at - 1] == ' ';
    return apart && act_ends_in_cause(&in->plain) ? at : 0;
}

/* "…ので分かりません", "…, so please skip it": the cover of the act behind a reason that ends at *end. */
static bool act_reason_before(const struct hearing *in, struct cover *cover, size_t *end)
{
    static const char *const so[] = {"so", "therefore", NULL};
    size_t tried = 0;
    for (size_t at = 1; at < in->plain.length && at < HEAD_MAX && tried < HEADS_MAX; at++) {
        bool latin = in->plain.text[at - 1] == ' ' && plain_is_latin(in->plain.text[at]);
        size_t length = act_starts(&in->plain, at, latin ? so : causes);
        if (length == 0)
            continue;
        size_t behind = at + length;
        behind += in->plain.text[behind] == ' ';
        *cover = act_cover(in, behind);
        *end = latin ? at : at + length;
        tried++;
        if (behind < in->plain.length && cover->stuck == in->plain.length && takes_reason(act_of(in, cover)))
            return true;
    }
    return false;
}

/* ---- hearing ----------------------------------------------------------------------------------------------------- */

/* Whether the text is not much more than the words of a choice. */
static bool act_is_choice(const struct hearing *in)
{
    for (size_t i = 0; i < in->name_count; i++) {
        const struct name_found *found = &in->names[i];
        size_t length = in->characters[found->end - 1].end - in->characters[found->first].begin;
        if (in->form->words[found->tag].choice >= 0 && 2 * length >= in->plain.length)
            return true;
    }
    return false;
}

/* Fills the act of a text that is covered from `at` to its end, and its reason in [begin, end) if the text has a
 * reason. */
static bool act_fill(const struct hearing *in, const struct cover *cover, size_t begin, size_t end,
                     struct form_utterance *heard)
{
    enum form_act act = act_of(in, cover);
    if (act == FORM_ANSWERS || act_is_choice(in))
        return true;
    bool doubts = (cover->pieces & BIT(PIECE_UNDECIDED)) || (act == FORM_SKIPS && cover->doubt_end > 0);
    if (begin == end && doubts) {
        begin = cover->doubt;
        end = cover->doubt_end;
    }
    heard->act = act;
    heard->field = cover->field;
    if (act == FORM_SPEAKS)
        heard->language = arena_strdup(in->arena, cover->language->code);
    if (takes_reason(act) && begin < end)
        heard->reason = act_words(in, begin, end);
    return (act != FORM_SPEAKS || heard->language) && (!takes_reason(act) || begin >= end || heard->reason);
}

bool form_read_act(const struct form *form, const char *text, const struct form_context *context, struct arena *arena,
                   struct form_utterance *heard)
{
    struct hearing in = {.form = form, .said = text, .arena = arena};
    size_t length = strlen(text), end = 0;
    *heard = (struct form_utterance){.act = FORM_ANSWERS, .field = -1};
    if (length > TEXT_MAX)
        return true;
    if (!plain_read(&in.plain, text, length, arena))
        return false;
    if (in.plain.cut)
        return true;
    if (length <= SPEAKS_MAX) {
        struct characters characters;
        in.language_count = form_find_language(text, in.languages);
        if (!characters_read(arena, text, length, &characters))
            return false;
        in.characters = characters.at;
        in.name_count = names_find(form->names, &characters, arena, in.names, NAMES_MAX);
        if (in.name_count == SIZE_MAX)
            return false;
    }
    struct cover cover = act_cover(&in, 0);
    if (cover.stuck == in.plain.length)
        return act_fill(&in, &cover, 0, 0, heard);
    size_t begin = act_reason_behind(&in, &cover);
    if (begin > 0)
        return act_fill(&in, &cover, begin, in.plain.length, heard);
    if (act_reason_before(&in, &cover, &end))
        return act_fill(&in, &cover, 0, end, heard);
    return true;
}
