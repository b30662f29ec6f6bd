import type { Stop } from '../platform/in-steps.ts'

/** Stops long work after so many steps, as the end of the server would. */
export function stopAfter(steps: number): Stop {
  let done = 0
  return {
    get aborted() {
      return done++ >= steps
    },
  }
}
