/** The most characters of the description of a rule, of its pipeline or of a rule set. contract 14.1. */
export const MAX_DESCRIPTION = 20_000
