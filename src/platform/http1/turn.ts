/**
 * Defers a job until all pending input has been read. Running the jobs together keeps code and data in the CPU caches,
 * and wakes the process at the other end of a socket once rather than for each job. A job must not throw.
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
    // If one throws anyway, the others must not wait for ever.
    for (const job of now.slice(done)) atEndOfTurn(job)
  }
}
