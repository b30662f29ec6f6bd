/** One move of an alias, and whether the deployment still exists. */
export type Move = { deploymentId: string; reason: string; exists: boolean }

/** Where an alias can go back to, and where it can return to right after it was rolled back. */
export type WaysBack<T> = { rollBackTo: T | undefined; returnTo: T | undefined }

/**
 * The line of an alias is its history replayed: a rollback cuts it after the last place of what it went back to. One goes back to
 * what lies below the top. contract 17.9. `history`: newest first.
 */
export function waysBack<T extends Move>(history: readonly T[]): WaysBack<T> {
  const line = lineOf(history)
  const top = line.at(-1)
  const rollBackTo = line.findLast((move) => move.exists && move.deploymentId !== top?.deploymentId)
  const [last, before] = history
  const isLeft = last?.reason === 'rollback' && before?.exists && before.deploymentId !== last.deploymentId
  return { rollBackTo, returnTo: isLeft ? before : undefined }
}

function lineOf<T extends Move>(history: readonly T[]): T[] {
  const line: T[] = []
  for (const move of history.toReversed()) {
    const place =
      move.reason === 'rollback' ? line.findLastIndex((one) => one.deploymentId === move.deploymentId) : -1
    if (place === -1) line.push(move)
    else line.length = place + 1
  }
  return line
}
