/** Steps that the engine of this process may take for one match, at the worst. */
const MOST_STEPS = 1_000_000

/** Whether the whole text matches. Throws `SyntaxError` for a pattern that is none. */
export const compilePattern = (pattern: string): RegExp => new RegExp(`^(?:${pattern})$`, 'u')

/**
 * Whether a match is sure to be quick. An author's pattern on a visitor's text may take exponential time, and nothing
 * can interrupt it here: what is not sure is matched in the sandbox. Without repeated groups and references back, the
 * time is a power of the length, by the number of unbounded repeats.
 */
export function isQuickPattern(pattern: string, textLength: number): boolean {
  const bare = pattern.replaceAll(/\\[^\dk]/g, 'a').replaceAll(/\[[^\]]*\]/g, 'a')
  if (/\)[*+{]|\\[\dk]|\(\?[=!<]/.test(bare)) return false
  const all = bare.match(/[*+]|\{\d*,?\d*\}/g) ?? []
  const repeats = all.filter((one) => !isSmall(one))
  const small = all.reduce((sum, one) => sum + (isSmall(one) ? waysOf(one) : 0), 0)
  const choices = (bare.match(/[?|]/g)?.length ?? 0) + small
  return textLength ** (repeats.length + 1) * 2 ** Math.min(choices, 30) <= MOST_STEPS
}

/** `{2}`, `{1,3}`: repeated a few times at most. */
const isSmall = (braces: string): boolean => /^\{[0-4](,[0-4])?\}$/.test(braces)

/** How often a small repeat doubles the ways to match, at the most. */
const waysOf = (braces: string): number => (braces.includes(',') ? Number(braces[3]) - Number(braces[1]) : 0)
