/** One thing that is to be so in the end. It is done unless it is so already. */
export type Step = { what: string; path: string; isDone: boolean; act(): void | Promise<void> }

/** contract 19.3. */
export type Result = { what: string; path: string; state: 'done' | 'present' | 'would' }

/** Takes one after the other, and tells of each as soon as it is done. */
export async function take(
  steps: readonly Step[],
  isDryRun: boolean,
  tell: (result: Result) => void,
): Promise<void> {
  for (const { what, path, isDone, act } of steps) {
    if (!isDone && !isDryRun) await act()
    tell({ what, path, state: isDone ? 'present' : isDryRun ? 'would' : 'done' })
  }
}

export const lineOf = ({ what, path, state }: Result): string =>
  `${state.padEnd(7)}  ${what.padEnd(10)}  ${path}`
