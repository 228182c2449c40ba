#include "documents/html_tree.h"

#include "documents/ascii_space.h"
#include "documents/html_hints.h"
#include "documents/html_tokens.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NODES_FIRST 256u

/* An end tag does not reach beyond an open element of a higher rank. */
enum rank { RANK_INLINE, RANK_BLOCK, RANK_CELL, RANK_ROW, RANK_TABLE, RANKS };

/* By name, for a binary search. */
static const struct tag {
    const char *name;
    enum html_tag tag;
    enum rank rank;
} tags[] = {
    {"a", TAG_A, RANK_INLINE},
    {"abbr", TAG_FORMAT, RANK_INLINE},
    {"address", TAG_ADDRESS, RANK_BLOCK},
    {"area", TAG_VOID, RANK_INLINE},
    {"article", TAG_ARTICLE, RANK_BLOCK},
    {"aside", TAG_ASIDE, RANK_BLOCK},
    {"b", TAG_FORMAT, RANK_INLINE},
    {"base", TAG_VOID, RANK_INLINE},
    {"big", TAG_FORMAT, RANK_INLINE},
    {"blockquote", TAG_BLOCKQUOTE, RANK_BLOCK},
    {"body", TAG_BODY, RANK_BLOCK},
    {"br", TAG_VOID, RANK_INLINE},
    {"button", TAG_BUTTON, RANK_INLINE},
    {"canvas", TAG_SCRIPT, RANK_BLOCK},
    {"caption", TAG_CAPTION, RANK_BLOCK},
    {"center", TAG_CENTER, RANK_BLOCK},
    {"cite", TAG_FORMAT, RANK_INLINE},
    {"code", TAG_FORMAT, RANK_INLINE},
    {"col", TAG_VOID, RANK_INLINE},
    {"dd", TAG_DD, RANK_BLOCK},
    {"details", TAG_DETAILS, RANK_BLOCK},
    {"dialog", TAG_DIALOG, RANK_BLOCK},
    {"div", TAG_DIV, RANK_BLOCK},
    {"dl", TAG_DL, RANK_BLOCK},
    {"dt", TAG_DT, RANK_BLOCK},
    {"em", TAG_FORMAT, RANK_INLINE},
    {"embed", TAG_VOID, RANK_INLINE},
    {"fieldset", TAG_FIELDSET, RANK_BLOCK},
    {"figcaption", TAG_FIGCAPTION, RANK_BLOCK},
    {"figure", TAG_FIGURE, RANK_BLOCK},
    {"font", TAG_FORMAT, RANK_INLINE},
    {"footer", TAG_FOOTER, RANK_BLOCK},
    {"form", TAG_FORM, RANK_BLOCK},
    {"h1", TAG_H1, RANK_BLOCK},
    {"h2", TAG_H2, RANK_BLOCK},
    {"h3", TAG_H3, RANK_BLOCK},
    {"h4", TAG_H4, RANK_BLOCK},
    {"h5", TAG_H5, RANK_BLOCK},
    {"h6", TAG_H6, RANK_BLOCK},
    {"head", TAG_HEAD, RANK_BLOCK},
    {"header", TAG_HEADER, RANK_BLOCK},
    {"hr", TAG_VOID, RANK_INLINE},
    {"html", TAG_HTML, RANK_BLOCK},
    {"i", TAG_FORMAT, RANK_INLINE},
    {"iframe", TAG_IFRAME, RANK_BLOCK},
    {"img", TAG_VOID, RANK_INLINE},
    {"input", TAG_INPUT, RANK_INLINE},
    {"kbd", TAG_FORMAT, RANK_INLINE},
    {"label", TAG_LABEL, RANK_INLINE},
    {"li", TAG_LI, RANK_BLOCK},
    {"link", TAG_VOID, RANK_INLINE},
    {"main", TAG_MAIN, RANK_BLOCK},
    {"mark", TAG_FORMAT, RANK_INLINE},
    {"math", TAG_SCRIPT, RANK_INLINE},
    {"meta", TAG_VOID, RANK_INLINE},
    {"nav", TAG_NAV, RANK_BLOCK},
    {"noscript", TAG_SCRIPT, RANK_BLOCK},
    {"object", TAG_SCRIPT, RANK_BLOCK},
    {"ol", TAG_OL, RANK_BLOCK},
    {"option", TAG_SCRIPT, RANK_INLINE},
    {"p", TAG_P, RANK_BLOCK},
    {"param", TAG_VOID, RANK_INLINE},
    {"pre", TAG_PRE, RANK_BLOCK},
    {"q", TAG_FORMAT, RANK_INLINE},
    {"rp", TAG_SCRIPT, RANK_INLINE},
    {"rt", TAG_SCRIPT, RANK_INLINE},
    {"s", TAG_FORMAT, RANK_INLINE},
    {"samp", TAG_FORMAT, RANK_INLINE},
    {"script", TAG_SCRIPT, RANK_BLOCK},
    {"section", TAG_SECTION, RANK_BLOCK},
    {"select", TAG_SCRIPT, RANK_INLINE},
    {"small", TAG_FORMAT, RANK_INLINE},
    {"source", TAG_VOID, RANK_INLINE},
    {"span", TAG_SPAN, RANK_INLINE},
    {"strike", TAG_FORMAT, RANK_INLINE},
    {"strong", TAG_FORMAT, RANK_INLINE},
    {"style", TAG_SCRIPT, RANK_BLOCK},
    {"sub", TAG_FORMAT, RANK_INLINE},
    {"summary", TAG_SUMMARY, RANK_BLOCK},
    {"sup", TAG_SPAN, RANK_INLINE},
    {"svg", TAG_SCRIPT, RANK_INLINE},
    {"table", TAG_TABLE, RANK_TABLE},
    {"tbody", TAG_TBODY, RANK_ROW},
    {"td", TAG_TD, RANK_CELL},
    {"template", TAG_SCRIPT, RANK_BLOCK},
    {"textarea", TAG_TEXTAREA, RANK_INLINE},
    {"tfoot", TAG_TBODY, RANK_ROW},
    {"th", TAG_TD, RANK_CELL},
    {"thead", TAG_TBODY, RANK_ROW},
    {"time", TAG_FORMAT, RANK_INLINE},
    {"title", TAG_TITLE, RANK_BLOCK},
    {"tr", TAG_TR, RANK_ROW},
    {"track", TAG_VOID, RANK_INLINE},
    {"tt", TAG_FORMAT, RANK_INLINE},
    {"u", TAG_FORMAT, RANK_INLINE},
    {"ul", TAG_UL, RANK_BLOCK},
    {"var", TAG_FORMAT, RANK_INLINE},
    {"wbr", TAG_VOID, RANK_INLINE},
};

struct builder {
    struct html_tree *tree;
    uint32_t room, open;
    uint32_t of_tag[TAGS_COUNT], of_rank[RANKS]; /* the innermost open element; 0: not open */
};

static int html_tree_compare_name(const void *key, const void *row)
{
    const struct piece *name = key;
    const struct tag *tag = row;
    size_t size = strlen(tag->name), length = name->length;
    int order = strncasecmp(name->at, tag->name, length < size ? length : size);
    return order ? order : (length > size) - (length < size);
}

static struct tag html_tree_tag_of(struct piece name)
{
    const struct tag *found =
        bsearch(&name, tags, sizeof tags / sizeof tags[0], sizeof tags[0], html_tree_compare_name);
    return found ? *found : (struct tag){"", TAG_OTHER, RANK_INLINE};
}

bool html_node_is_heading(const struct html_node *node)
{
    return node->tag >= TAG_H1 && node->tag <= TAG_H6;
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

/* The characters of CJK begin with E3 to E9 and the wide forms with EF; marks are 、。 and ！，．：？ of these. */
static bool html_tree_is_wide_mark(const unsigned char *at)
{
    return (at[0] == 0xe3 && at[1] == 0x80 && (at[2] == 0x81 || at[2] == 0x82)) ||
           (at[0] == 0xef && at[1] == 0xbc && (at[2] == 0x81 || at[2] == 0x8c || at[2] == 0x8e || at[2] == 0x9f));
}

static void html_tree_measure(struct html_node *block, bool in_link, struct piece text)
{
    uint32_t characters = 0, marks = 0;
    bool space = true;
    for (size_t i = 0; i < text.length; i++) {
        const unsigned char *at = (const unsigned char *)text.at + i;
        if (ascii_is_space((char)*at)) {
            characters += !space;
            space = true;
            continue;
        }
        space = false;
        if ((*at & 0xc0) == 0x80)
            continue;
        bool wide = *at >= 0xe3 && *at <= 0xef;
        characters += wide ? 2 : 1;
        marks += *at == ',' || (wide && i + 2 < text.length && html_tree_is_wide_mark(at)) ||
                 ((*at == '.' || *at == '?' || *at == '!') && (i + 1 == text.length || ascii_is_space((char)at[1])));
    }
    block->text += characters;
    block->link_text += in_link ? characters : 0;
    block->marks = (uint16_t)(block->marks + marks < UINT16_MAX ? block->marks + marks : UINT16_MAX);
}

uint32_t html_block_of(const struct html_tree *tree, uint32_t node)
{
    return tree->nodes[node].is_block ? node : tree->nodes[node].same_rank;
}

static void html_tree_take_text(struct builder *builder, const struct html_token *token)
{
    struct html_tree *tree = builder->tree;
    const struct html_node *open = &tree->nodes[builder->open];
    if (!builder->of_tag[TAG_SCRIPT] && open->tag != TAG_TITLE && open->tag != TAG_TEXTAREA)
        html_tree_measure(&tree->nodes[html_block_of(tree, builder->open)], open->in_link, token->text);
}

size_t html_node_text(const struct html_tree *tree, uint32_t node, char *text, size_t size)
{
    const struct html_node *of = &tree->nodes[node];
    size_t bytes = of->to - of->from < HTML_NODE_BYTES ? of->to - of->from : HTML_NODE_BYTES;
    struct html_tokens tokens = html_tokens_of((struct piece){tree->page.at + of->from, bytes});
    struct html_token token;
    size_t length = 0;
    bool space = false;
    while (length < size && html_next(&tokens, &token)) {
        for (size_t i = 0; token.kind == HTML_TEXT && i < token.text.length && length + 1 < size; i++) {
            if (ascii_is_space(token.text.at[i])) {
                space = length > 0;
                continue;
            }
            if (space)
                text[length++] = ' ';
            space = false;
            text[length++] = token.text.at[i];
        }
        if (length + 1 >= size)
            break;
    }
    return length;
}

/* ---- elements ---------------------------------------------------------------------------------------------------- */

static bool html_tree_make_room(struct builder *builder)
{
    struct html_tree *tree = builder->tree;
    if (tree->count < builder->room)
        return true;
    uint32_t room = builder->room ? 2 * builder->room : NODES_FIRST;
    struct html_node *more = realloc(tree->nodes, room * sizeof *more);
    if (more) {
        tree->nodes = more;
        builder->room = room;
    }
    return more != NULL;
}

/* An inline node keeps in `same_rank` the block it stands in: it belongs to no rank that bounds an end tag. */
static bool html_tree_push(struct builder *builder, struct tag tag, const struct html_token *token, uint32_t from)
{
    struct html_tree *tree = builder->tree;
    if (tree->count >= HTML_NODES_MAX)
        return true;
    if (!html_tree_make_room(builder))
        return false;
    uint32_t place = tree->count++, parent = builder->open;
    const struct html_node *above = place ? &tree->nodes[parent] : NULL;
    bool is_block = tag.rank != RANK_INLINE || !above;
    struct html_node node = {
        .parent = parent,
        .from = from,
        .tag = (uint8_t)tag.tag,
        .is_block = is_block,
        .in_link = above && above->in_link,
        .same_tag = builder->of_tag[tag.tag],
        .same_rank = is_block ? builder->of_rank[tag.rank] : html_block_of(tree, parent),
    };
    if (token) {
        node.attributes = (uint32_t)(token->attributes.at - tree->page.at);
        node.attribute_end = node.attributes + (uint32_t)token->attributes.length;
        node.hints = html_hints(token->attributes);
        node.in_link = node.in_link || (tag.tag == TAG_A && (node.hints & HINT_LINK));
    }
    assert(tree->nodes);
    tree->nodes[place] = node;
    builder->open = place;
    builder->of_tag[tag.tag] = place;
    if (is_block)
        builder->of_rank[tag.rank] = place;
    return true;
}

static enum rank html_tree_rank_of_tag(uint8_t tag)
{
    return tag == TAG_TABLE                    ? RANK_TABLE
           : tag == TAG_TR || tag == TAG_TBODY ? RANK_ROW
           : tag == TAG_TD                     ? RANK_CELL
                                               : RANK_BLOCK;
}

static void html_tree_pop(struct builder *builder, uint32_t to)
{
    struct html_node *node = &builder->tree->nodes[builder->open];
    node->to = to;
    node->end = builder->tree->count;
    builder->of_tag[node->tag] = node->same_tag;
    if (node->is_block)
        builder->of_rank[html_tree_rank_of_tag(node->tag)] = node->same_rank;
    builder->open = node->parent;
}

/* Ends the innermost open element of the tag, with all in it, unless the element `bound` stands between. */
static void html_tree_end_open(struct builder *builder, enum html_tag tag, uint32_t bound, uint32_t to)
{
    uint32_t place = builder->of_tag[tag];
    while (place && place > bound && builder->open >= place)
        html_tree_pop(builder, to);
}

static uint32_t html_tree_highest_rank(const struct builder *builder, enum rank above)
{
    uint32_t place = 0;
    for (unsigned rank = above + 1; rank < RANKS; rank++)
        if (builder->of_rank[rank] > place)
            place = builder->of_rank[rank];
    return place;
}

/* Elements that the beginning of another ends. */
static void html_tree_end_implied(struct builder *builder, struct tag tag, uint32_t to)
{
    uint32_t table = builder->of_rank[RANK_TABLE], cell = html_tree_highest_rank(builder, RANK_BLOCK), list;
    switch (tag.tag) {
    case TAG_LI:
        list = builder->of_tag[TAG_UL] > builder->of_tag[TAG_OL] ? builder->of_tag[TAG_UL] : builder->of_tag[TAG_OL];
        html_tree_end_open(builder, TAG_LI, list > cell ? list : cell, to);
        break;
    case TAG_DT:
    case TAG_DD:
        list = builder->of_tag[TAG_DL];
        html_tree_end_open(builder, TAG_DT, list > cell ? list : cell, to);
        html_tree_end_open(builder, TAG_DD, list > cell ? list : cell, to);
        break;
    case TAG_TD:
        html_tree_end_open(builder, TAG_TD, html_tree_highest_rank(builder, RANK_CELL), to);
        break;
    case TAG_TR:
        html_tree_end_open(builder, TAG_TR, table, to);
        break;
    case TAG_TBODY:
        html_tree_end_open(builder, TAG_TBODY, table, to);
        break;
    case TAG_BODY:
        html_tree_end_open(builder, TAG_HEAD, 0, to);
        break;
    case TAG_A:
        html_tree_end_open(builder, TAG_A, cell, to);
        break;
    default:
        break;
    }
    if (tag.rank != RANK_INLINE)
        html_tree_end_open(builder, TAG_P, cell, to);
}

static bool html_tree_take_start(struct builder *builder, const struct html_token *token, uint32_t from)
{
    struct tag tag = html_tree_tag_of(token->text);
    struct html_node *open = &builder->tree->nodes[builder->open];
    if (tag.tag == TAG_INPUT || tag.tag == TAG_BUTTON)
        open->controls = (uint16_t)(open->controls + (open->controls < UINT16_MAX));
    if (tag.tag == TAG_FORMAT || tag.tag == TAG_VOID || tag.tag == TAG_INPUT)
        return true;
    html_tree_end_implied(builder, tag, from);
    bool pushed = html_tree_push(builder, tag, token, from);
    if (pushed && token->is_closed && (tag.tag == TAG_OTHER || tag.tag == TAG_SCRIPT))
        html_tree_pop(builder, (uint32_t)(token->attributes.at + token->attributes.length - builder->tree->page.at));
    return pushed;
}

static bool html_tree_is_named(const struct html_tree *tree, uint32_t node, struct piece name)
{
    size_t at = (size_t)tree->nodes[node].from + 1;
    return at + name.length < tree->page.length && strncasecmp(tree->page.at + at, name.at, name.length) == 0;
}

static void html_tree_take_end(struct builder *builder, const struct html_token *token, uint32_t to)
{
    struct tag tag = html_tree_tag_of(token->text);
    uint32_t place = builder->of_tag[tag.tag];
    bool known = tag.tag != TAG_FORMAT && tag.tag != TAG_VOID && tag.tag != TAG_INPUT && place;
    if (!known ||
        ((tag.tag == TAG_OTHER || tag.tag == TAG_SCRIPT) && !html_tree_is_named(builder->tree, place, token->text)))
        return;
    /* An end tag of an inline element does not end the block around it. */
    uint32_t bound =
        tag.tag == TAG_OTHER ? html_tree_highest_rank(builder, RANK_BLOCK) : html_tree_highest_rank(builder, tag.rank);
    html_tree_end_open(builder, tag.tag, bound, to);
}

/* From the last node to the first each has all that is in it. */
static void html_tree_add_up(struct html_tree *tree)
{
    for (uint32_t i = tree->count; i-- > 0;) {
        struct html_node *node = &tree->nodes[i], *parent = &tree->nodes[node->parent];
        node->all_text += node->text;
        node->all_link_text += node->link_text;
        if (!i)
            break;
        parent->all_text += node->all_text;
        parent->all_link_text += node->all_link_text;
        unsigned controls = parent->controls + node->controls;
        parent->controls = (uint16_t)(controls < UINT16_MAX ? controls : UINT16_MAX);
    }
    for (uint32_t i = 0; i < tree->count; i++) {
        struct html_node *node = &tree->nodes[i];
        node->is_leaf = true;
        node->article = node->tag == TAG_ARTICLE ? i : tree->nodes[node->parent].article;
        node->in_body = (node->hints & HINT_BODY) || tree->nodes[node->parent].in_body;
        node->holds_core = (node->hints & (HINT_BODY | HINT_MAIN)) || node->tag == TAG_MAIN || node->tag == TAG_H1;
    }
    for (uint32_t i = tree->count; i-- > 1;)
        tree->nodes[tree->nodes[i].parent].holds_core |= tree->nodes[i].holds_core;
    for (uint32_t i = tree->count; i-- > 1;)
        if (tree->nodes[i].is_block || !tree->nodes[i].is_leaf)
            tree->nodes[tree->nodes[i].parent].is_leaf = false;
}

bool html_tree_build(struct html_tree *tree, struct piece page)
{
    *tree = (struct html_tree){.page = page};
    struct builder builder = {.tree = tree};
    struct html_tokens tokens = html_tokens_of(page);
    struct html_token token;
    bool good = html_tree_push(&builder, (struct tag){"", TAG_HTML, RANK_BLOCK}, NULL, 0);
    while (good && html_next(&tokens, &token)) {
        const char *name = token.text.at;
        if (token.kind == HTML_TEXT)
            html_tree_take_text(&builder, &token);
        else if (token.kind == HTML_START)
            good = html_tree_take_start(&builder, &token, (uint32_t)(name - 1 - page.at));
        else
            html_tree_take_end(&builder, &token, (uint32_t)(tokens.at - page.at));
    }
    while (good && builder.open)
        html_tree_pop(&builder, (uint32_t)page.length);
    if (!good) {
        html_tree_fini(tree);
        return false;
    }
    tree->nodes[0].to = (uint32_t)page.length;
    tree->nodes[0].end = tree->count;
    html_tree_add_up(tree);
    return true;
}

void html_tree_fini(struct html_tree *tree)
{
    free(tree->nodes);
    *tree = (struct html_tree){0};
}
