/** The most steps that the regex engine of this process may take for one match, in the worst case. */
const MAX_STEPS = 1_000_000

/** Compiles a pattern that must match the whole text. Throws `SyntaxError` for an invalid one. */
export const compilePattern = (pattern: string): RegExp => new RegExp(`^(?:${pattern})$`, 'u')

/**
 * Whether a match is sure to be fast. An author's pattern on a visitor's text may take exponential time, and cannot be
 * interrupted in this process, so any doubtful match runs in the sandbox. Without repeated groups and backreferences,
 * the time is polynomial in the length, with the number of unbounded repeats as the exponent.
 */
export function isQuickPattern(pattern: string, textLength: number): boolean {
  const bare = pattern.replaceAll(/\\[^\dk]/g, 'a').replaceAll(/\[[^\]]*\]/g, 'a')
  if (/\)[*+{]|\\[\dk]|\(\?[=!<]/.test(bare)) return false
  const all = bare.match(/[*+]|\{\d*,?\d*\}/g) ?? []
  const repeats = all.filter((one) => !isSmall(one))
  const small = all.reduce((sum, one) => sum + (isSmall(one) ? waysOf(one) : 0), 0)
  const choices = (bare.match(/[?|]/g)?.length ?? 0) + small
  return textLength ** (repeats.length + 1) * 2 ** Math.min(choices, 30) <= MAX_STEPS
}

/** `{2}`, `{1,3}`: a few repeats at most. */
const isSmall = (braces: string): boolean => /^\{[0-4](,[0-4])?\}$/.test(braces)

/** How many times a small repeat can double the ways to match. */
const waysOf = (braces: string): number => (braces.includes(',') ? Number(braces[3]) - Number(braces[1]) : 0)
