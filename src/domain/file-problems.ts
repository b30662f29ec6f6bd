/** One problem in a file. `line` and `column` count from 1. The message says what is allowed. */
export type Problem = { file: string; line: number; column: number; message: string }

/** `file:line:column message`, the format that editors and logs turn into links. contract §9.1. */
export const formatProblem = ({ file, line, column, message }: Problem): string =>
  `${file}:${line}:${column} ${message}`

export function sortProblems(problems: readonly Problem[]): Problem[] {
  return [...problems].sort(
    (a, b) =>
      compareText(a.file, b.file) ||
      a.line - b.line ||
      a.column - b.column ||
      compareText(a.message, b.message),
  )
}

export const compareText = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1)

/** Suggests the known word that is closest to a misspelt one; empty if none is close. */
export function didYouMean(word: string, known: readonly string[]): string {
  const close = known.find(
    (one) => one.toLowerCase() === word.toLowerCase() || distance(one, word) <= (word.length < 4 ? 1 : 2),
  )
  return close === undefined ? '' : ` Did you mean ${close}?`
}

/** The number of letters that have to change. */
function distance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 2 || a.length > 50) return 9
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 9
}
