/* Checks whether a model's value stands in the person's words. The words are searched for every value of the type; the
 * proposal must equal a value of them, in any notation. */
#include "form/choices.h"
#include "form/values.h"

#include <string.h>

#include "json/json.h"

/* ---- texts ------------------------------------------------------------------------------------------------------- */

/* A text for comparison: a run of blanks is a single blank, and blanks between Han characters or kana are removed. */
struct proof_text {
    uint32_t *codes;
    size_t *from; /* the character that each comes from */
    size_t count;
};

static bool proof_is_japanese(uint32_t code)
{
    return code != 0 && script_of(code) >= SCRIPT_HAN;
}

static bool proof_read(struct arena *arena, const struct characters *text, struct proof_text *plain)
{
    plain->codes = arena_alloc(arena, (text->count + 1) * sizeof(*plain->codes));
    plain->from = arena_alloc(arena, (text->count + 1) * sizeof(*plain->from));
    plain->count = 0;
    if (!plain->codes || !plain->from)
        return false;
    for (size_t i = 0; i < text->count; i++) {
        size_t next = i;
        while (next < text->count && is_space(text->at[next].code))
            next++;
        bool joins = plain->count == 0 || next == text->count ||
                     (proof_is_japanese(plain->codes[plain->count - 1]) && proof_is_japanese(text->at[next].code));
        if (next > i && !joins) {
            plain->codes[plain->count] = ' ';
            plain->from[plain->count++] = i;
        }
        if (next == text->count)
            break;
        i = next;
        plain->codes[plain->count] = text->at[i].code;
        plain->from[plain->count++] = i;
    }
    return true;
}

/* A span must not cut figures, Latin words or words of Katakana. */
static bool cuts_word(const struct characters *text, size_t i)
{
    return i > 0 && i < text->count && script_of(text->at[i].code) != SCRIPT_HAN && !characters_part(text, i);
}

/* Knuth, Morris and Pratt: for each place of the wanted text, how much of its beginning ends there. */
static size_t *proof_borders(struct arena *arena, const struct proof_text *wanted)
{
    size_t *borders = arena_alloc(arena, (wanted->count + 1) * sizeof(*borders)), border = 0;
    if (!borders)
        return NULL;
    borders[0] = 0;
    for (size_t i = 1; i < wanted->count; i++) {
        while (border > 0 && wanted->codes[i] != wanted->codes[border])
            border = borders[border - 1];
        border += wanted->codes[i] == wanted->codes[border];
        borders[i] = border;
    }
    return borders;
}

static bool has_word(const struct proof_text *plain)
{
    for (size_t i = 0; i < plain->count; i++) {
        if (script_of(plain->codes[i]) >= SCRIPT_DIGIT)
            return true;
    }
    return false;
}

#define DENIALS_MAX 64 /* places of a text that are weighed; a word that is said more often is common */

/* The first place of the proposal that is whole words and not denied. */
static bool verify_text(const struct reading *in, const struct reading *proposal, struct candidate *proved)
{
    struct proof_text text, wanted;
    size_t matched = 0, weighed = 0;
    if (!proof_read(in->arena, &in->in, &text) || !proof_read(in->arena, &proposal->in, &wanted))
        return false;
    size_t *borders = proof_borders(in->arena, &wanted);
    if (!borders)
        return false;
    if (!has_word(&wanted) || text_is_no_name(in->spec->label, proposal->in.text))
        return true;
    for (size_t i = 0; i < text.count && weighed < DENIALS_MAX; i++) {
        while (matched > 0 && text.codes[i] != wanted.codes[matched])
            matched = borders[matched - 1];
        matched += text.codes[i] == wanted.codes[matched];
        if (matched < wanted.count)
            continue;
        size_t first = text.from[i + 1 - wanted.count], end = text.from[i] + 1;
        matched = borders[matched - 1];
        if (cuts_word(&in->in, first) || cuts_word(&in->in, end))
            continue;
        weighed++;
        if (end - first < 60 && reading_denies(in, first, end))
            continue;
        *proved = (struct candidate){.first = first, .end = end, .problem = FORM_FINE};
        proved->text = reading_copy(in, first, end);
        return proved->text != NULL;
    }
    return true;
}

/* ---- types with candidates --------------------------------------------------------------------------------------- */

static bool verify_candidate(const struct reading *in, const char *proposed, const struct candidate *read,
                             struct candidate *proved)
{
    struct candidates *list = arena_alloc(in->arena, sizeof(*list));
    if (!list || !values_list(in, list))
        return false;
    for (size_t i = 0; i < list->count; i++) {
        const struct candidate *said = &list->list[i];
        bool same =
            strcmp(said->text, proposed) == 0 || (read->problem == FORM_FINE && strcmp(said->text, read->text) == 0);
        if (said->problem != FORM_FINE || !same || reading_denies(in, said->first, said->end))
            continue;
        *proved = *said;
        return true;
    }
    return true;
}

/* ---- choices ----------------------------------------------------------------------------------------------------- */

/* The choice that a proposal names: by its value first. n_choices if it names no choice. */
static bool proposed_choice(const struct reading *proposal, const char *text, size_t *choice)
{
    struct candidate read;
    size_t count = proposal->spec->n_choices;
    for (*choice = 0; *choice < count; ++*choice) {
        if (strcmp(proposal->spec->choices[*choice]->value, text) == 0)
            return true;
    }
    if (!choice_read(proposal, &read))
        return false;
    for (*choice = 0; read.problem == FORM_FINE && *choice < count; ++*choice) {
        if (strcmp(proposal->spec->choices[*choice]->value, read.text) == 0)
            return true;
    }
    *choice = count;
    return true;
}

static bool verify_choice(const struct reading *in, const struct choices_found *found, size_t choice,
                          struct candidate *proved)
{
    for (size_t i = 0; i < found->count; i++) {
        const struct choice_found *said = &found->list[i];
        if (said->choice != choice || said->denied)
            continue;
        *proved = (struct candidate){
            .first = said->first, .end = said->end, .problem = FORM_FINE, .text = in->spec->choices[choice]->value};
        return true;
    }
    return false;
}

/* Each proposed value must have been said; the proposal is a JSON array of values or the person's own words. */
static bool verify_choices(const struct reading *in, const struct reading *proposal, const struct choices_found *found,
                           struct candidate *proved)
{
    struct status st = {0};
    struct candidate said = {.problem = FORM_NO_SUCH_CHOICE, .text = ""}, whole, one;
    bool *chosen = arena_zalloc(in->arena, in->spec->n_choices + 1);
    cJSON *list = json_parse(proposal->in.text, proposal->in.length, NULL, &st);
    size_t first = in->in.count, end = 0, count = 0, known = 0;
    bool fits = chosen && choices_read(in, &whole);
    if (fits && !cJSON_IsArray(list))
        fits = choices_read(proposal, &said);
    if (fits && !cJSON_IsArray(list)) {
        cJSON_Delete(list);
        list = said.problem == FORM_NO_SUCH_CHOICE || !said.text[0]
                   ? NULL
                   : json_parse(said.text, strlen(said.text), NULL, &st);
    }
    for (const cJSON *item = fits && list ? list->child : NULL; item; item = item->next) {
        size_t choice = 0;
        count++;
        while (cJSON_IsString(item) && choice < in->spec->n_choices &&
               strcmp(in->spec->choices[choice]->value, item->valuestring) != 0)
            choice++;
        if (!cJSON_IsString(item) || choice == in->spec->n_choices || !verify_choice(in, found, choice, &one))
            continue;
        known++;
        chosen[choice] = true;
        first = one.first < first ? one.first : first;
        end = one.end > end ? one.end : end;
    }
    bool listed = cJSON_IsArray(list);
    cJSON_Delete(list);
    if (!fits)
        return false;
    if (listed && count > 0 && known == count) {
        *proved =
            (struct candidate){.first = first, .end = end, .problem = FORM_FINE, .text = choices_text(in, chosen)};
        return proved->text != NULL;
    }
    /* "all of them" and "none" do not name a choice. */
    bool *all = arena_zalloc(in->arena, in->spec->n_choices + 1);
    if (all && listed && whole.problem == FORM_FINE && strcmp(whole.text, proposal->in.text) == 0)
        *proved = whole;
    return all != NULL;
}

static bool verify_choice_field(const struct reading *in, const struct reading *proposal, const char *proposed,
                                struct candidate *proved)
{
    struct choices_found *found = arena_alloc(in->arena, sizeof(*found));
    struct candidate one;
    size_t choice;
    bool shares;
    if (!found || !choices_find(in, found, &shares))
        return false;
    if (in->spec->type == FORM_TYPE(CHOICES))
        return verify_choices(in, proposal, found, proved);
    if (!proposed_choice(proposal, proposed, &choice))
        return false;
    if (choice < in->spec->n_choices && verify_choice(in, found, choice, &one))
        *proved = one;
    return true;
}

/* A sentence that says yes or no by itself is the only proof. */
static bool verify_yes_no(const struct reading *in, const struct reading *proposal, const char *proposed,
                          struct candidate *proved)
{
    struct candidate said, read;
    if (!yes_no_read(in, &said) || !yes_no_read(proposal, &read))
        return false;
    bool same = strcmp(said.text, proposed) == 0 || (read.problem == FORM_FINE && strcmp(said.text, read.text) == 0);
    if (said.problem == FORM_FINE && same)
        *proved = said;
    return true;
}

bool form_verify_value(const struct form *form, size_t field, const char *proposed, const char *text,
                       const struct form_context *context, struct arena *arena, struct form_value *value)
{
    struct reading in, proposal;
    struct candidate proved = {.problem = FORM_NO_VALUE, .text = ""}, read;
    if (!reading_open(&in, form, field, text, context, arena) ||
        !reading_open(&proposal, form, field, proposed, context, arena))
        return false;
    proved.end = in.in.count;
    bool done;
    switch (in.spec->type) {
    case FORM_TYPE(CHOICE):
    case FORM_TYPE(CHOICES):
        done = verify_choice_field(&in, &proposal, proposed, &proved);
        break;
    case FORM_TYPE(YES_NO):
        done = verify_yes_no(&in, &proposal, proposed, &proved);
        break;
    case FORM_TYPE(UNSPECIFIED):
    case FORM_TYPE(TEXT):
        done = verify_text(&in, &proposal, &proved);
        break;
    default:
        done = value_read(&proposal, &read) && verify_candidate(&in, proposed, &read, &proved);
        break;
    }
    return done && value_give(&in, &proved, value);
}
