/** Ctrl-C, or a supervisor, must not leave half a work lying about. A second Ctrl-C ends it at once. */
export async function untilSignalled<T>(work: (stop: AbortSignal) => Promise<T>): Promise<T> {
  const stopped = new AbortController()
  const stop = () => stopped.abort(new Error('it was interrupted'))
  for (const name of SIGNALS) process.once(name, stop)
  try {
    return await work(stopped.signal)
  } finally {
    for (const name of SIGNALS) process.off(name, stop)
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
