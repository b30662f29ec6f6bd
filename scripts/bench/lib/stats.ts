/** The middle value; of an even number the mean of the middle two. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.slice(Math.ceil(sorted.length / 2) - 1, Math.floor(sorted.length / 2) + 1)
  return middle.reduce((total, value) => total + value, 0) / middle.length
}

/** Round by round: each value over the one that was measured next to it. */
export function ratios(values: readonly number[], others: readonly number[]): number[] {
  return values.map((value, round) => value / (others[round] ?? Number.NaN))
}

/** Runs every subject once a round, in turn (A B C A B C), so that drift of the machine meets all of them. */
export async function interleave<S, R>(
  subjects: readonly S[],
  rounds: number,
  measure: (subject: S, round: number) => Promise<R>,
): Promise<Map<S, R[]>> {
  const results = new Map<S, R[]>(subjects.map((subject) => [subject, []]))
  for (let round = 0; round < rounds; round++) {
    for (const subject of subjects) results.get(subject)?.push(await measure(subject, round))
  }
  return results
}
