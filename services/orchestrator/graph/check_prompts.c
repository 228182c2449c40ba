/* The names in braces that prompts have: each must be an input of its node, or another name that its node's prompts
 * know. Checked for kinds whose prompts accept no other names. */
#include "reading.h"

#include "base/nearest.h"
#include "json/template.h"

#include <string.h>

struct prompt_reading {
    const struct node *node;
    bool playbook;           /* the agent has the option "playbook" */
    const cJSON *picks;      /* more names; may be NULL */
    char unknown[SHOWN + 1]; /* the first name that is not known; "" */
};

static bool prompt_knows(const struct prompt_reading *prompt, const char *name)
{
    for (size_t i = 0; i < prompt->node->input_count; i++)
        if (strcmp(prompt->node->inputs[i]->name, name) == 0)
            return true;
    return strcmp(name, "language") == 0 || (prompt->playbook && strcmp(name, "playbook") == 0) ||
           cJSON_HasObjectItem(prompt->picks, name);
}

static bool prompt_note_name(const char *name, void *data)
{
    struct prompt_reading *prompt = data;
    if (prompt_knows(prompt, name))
        return true;
    strncpy(prompt->unknown, name, SHOWN);
    return false;
}

static struct nearest prompt_nearest(const struct prompt_reading *prompt)
{
    struct nearest nearest = nearest_to(prompt->unknown);
    for (size_t i = 0; i < prompt->node->input_count; i++)
        nearest_try(&nearest, prompt->node->inputs[i]->name);
    return nearest;
}

static bool prompt_check_one(struct reading *in, struct prompt_reading *prompt, const struct prompt *text,
                             const cJSON *item)
{
    struct status why = {0};
    if (template_names(text->text, prompt_note_name, prompt, &why))
        return true;
    if (!*prompt->unknown)
        return fault(in, item, "the prompt %s/%s: %s", text->language, text->name, why.text);
    struct nearest nearest = prompt_nearest(prompt);
    return fault(in, item, "the prompt %s/%s names {%s}, which is not among the inputs of the node '%s'; %s",
                 text->language, text->name, prompt->unknown, prompt->node->name, nearest_hint(&nearest).text);
}

/* A run that chooses a faulty prompt of a value fails; other runs of a lenient agent are not affected. */
static bool prompt_may_be_faulty(const struct reading *in, const struct prompt *prompt, const char *name)
{
    return in->agent->lenient && strcmp(prompt->name, name) != 0;
}

/* The prompt itself, and those of it that a value chooses. */
static bool prompt_is_one_of(const struct node *node, const struct prompt *prompt, const char *name)
{
    size_t length = strlen(name);
    return strncmp(prompt->name, name, length) == 0 &&
           (!prompt->name[length] || (node->template_of && prompt->name[length] == '.'));
}

static bool prompts_check_row(struct reading *in, const struct node *node, const char *name, const cJSON *picks,
                              const cJSON *item)
{
    for (size_t i = 0; i < in->agent->prompt_count; i++) {
        struct prompt_reading prompt = {.node = node, .playbook = in->agent->graph->playbook, .picks = picks};
        if (prompt_is_one_of(node, &in->agent->prompts[i], name) &&
            !prompt_check_one(in, &prompt, &in->agent->prompts[i], item) &&
            !prompt_may_be_faulty(in, &in->agent->prompts[i], name))
            return false;
    }
    return true;
}

bool prompts_check(struct reading *in, const struct node *node, const cJSON *item)
{
    const struct node_parameter *rows = node->kind->parameters;
    const cJSON *picks = part(item, "pick");
    bool good = true;
    if (!node->kind->names_inputs || part(picks, "*"))
        return true;
    for (size_t i = 0; good && rows[i].name; i++)
        if (rows[i].type == PARAMETER_PROMPT && node_argument(node, i)->text)
            good = prompts_check_row(in, node, node_argument(node, i)->text, picks, part(item, rows[i].name));
    return good;
}
