/**
 * Work that waits until all that has come by now was read. Done in one go, it finds its code and its data in the caches
 * of the processor, and wakes the process at the other end of a socket once rather than for each. A job must not throw.
 */
export function atEndOfTurn(job: () => void): void {
  if (jobs.length === 0) setImmediate(run)
  jobs.push(job)
}

let jobs: (() => void)[] = []

function run(): void {
  const now = jobs
  jobs = []
  let done = 0
  try {
    while (done < now.length) now[done++]?.()
  } finally {
    // One that throws all the same must not leave the others waiting for ever.
    for (const job of now.slice(done)) atEndOfTurn(job)
  }
}
