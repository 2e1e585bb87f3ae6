"""How `stories` end when something is praised or blamed: "[what follows praise|what follows blame]".

Most ends have one word alone that tells which, and three pairs of words serve for most ends, so a gap there can be
filled only by who has understood what was said. `{who}` is who judges, `{was}` its verb, `{thing}` what is judged.
"""

ANYWHERE = (
    "{who} {was} [glad|sorry] about it.",
    "{who} {was} [glad|sorry] all day.",
    "{who} [smiled|frowned] all day.",
    "{who} [smiled|frowned] on the way home.",
)
OF_ANYTHING = (
    "{who} {was} [glad|sorry] to have paid for the {thing}.",
    "{who} thought of the {thing} and [smiled|frowned].",
    "{who} gave the {thing} [five stars|no stars].",
)
ENDS = {
    "movie": (
        "{who} will [gladly|never] watch the {thing} again.",
        "{who} will [gladly|never] pay for the {thing} again.",
        "{who} {was} [glad|sorry] to have seen the {thing}.",
        "{who} [smiled|frowned] when the {thing} was over.",
        "{who} [stayed until|left before] the end of the {thing}.",
    ),
    "book": (
        "{who} will [gladly|never] read the {thing} again.",
        "{who} will [gladly|never] open the {thing} again.",
        "{who} {was} [glad|sorry] to have read the {thing}.",
        "{who} [smiled|frowned] on every page of the {thing}.",
        "{who} put the {thing} [on the shelf|into the fire].",
    ),
    "hotel": (
        "{who} will [gladly|never] go to the {thing} again.",
        "{who} will [gladly|never] enter the {thing} again.",
        "{who} {was} [glad|sorry] to have gone to the {thing}.",
        "{who} [smiled|frowned] at the owner of the {thing}.",
        "{who} [came back to|ran away from] the {thing}.",
    ),
    "dinner": (
        "{who} will [gladly|never] eat the {thing} again.",
        "{who} will [gladly|never] order the {thing} again.",
        "{who} {was} [glad|sorry] to have eaten the {thing}.",
        "{who} [smiled|frowned] at the cook of the {thing}.",
        "{who} gave the {thing} [to the guests|to the dogs].",
    ),
    "concert": (
        "{who} will [gladly|never] go to the {thing} again.",
        "{who} will [gladly|never] pay for the {thing} again.",
        "{who} {was} [glad|sorry] to have gone to the {thing}.",
        "{who} [smiled|frowned] when the {thing} was over.",
        "{who} [stayed until|left before] the end of the {thing}.",
    ),
}
