import { nextTurn } from './next-turn.ts'

/** Checked before each step of long work; an `AbortSignal` is one. The next run continues what was left. */
export type Stop = { readonly aborted: boolean }
export const GO_ON: Stop = { aborted: false }

/** Much longer, and a client or a proxy would give up waiting for an answer. */
const ANSWER_WITHIN_MS = 2_000

/** Ends the work of a request when its answer is due; upkeep continues. */
export function whileAnswerWaits(): Stop {
  const due = performance.now() + ANSWER_WITHIN_MS
  return {
    get aborted() {
      return performance.now() > due
    },
  }
}

const PAUSE_MS = 10

/** Repeats `step` while it returns true: there is more to do. Others get their turn in between. */
export async function inSteps(stop: Stop, step: () => boolean): Promise<void> {
  while (!stop.aborted && step()) await Bun.sleep(PAUSE_MS)
  await nextTurn()
}
