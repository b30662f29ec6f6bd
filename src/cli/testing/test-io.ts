import type { Io } from '../command.ts'

export type TestIo = Io & {
  /** What was written so far. */
  out(): string
  err(): string
  /** Every wait asked for, in milliseconds; none is really waited. */
  waits: number[]
  /** The addresses that were to be opened in a browser. */
  opened: string[]
}

/** An outside world that keeps what is written and never waits. Its clock gains a millisecond a look. */
export function testIo(given: Partial<Io> = {}): TestIo {
  const written = { out: '', err: '' }
  const waits: number[] = []
  const opened: string[] = []
  let clockMs = 0
  return {
    stdout: {
      write(text) {
        written.out += typeof text === 'string' ? text : new TextDecoder().decode(text)
      },
      async put(bytes) {
        written.out += new TextDecoder().decode(bytes)
        return bytes.length
      },
    },
    stderr: {
      write(text) {
        written.err += text
      },
    },
    readPassword: async () => undefined,
    openUrl: async (url) => {
      opened.push(url)
      return true
    },
    env: {},
    cwd: '/',
    isTerminal: false,
    sleep: async (ms) => void waits.push(ms),
    nowMs: () => {
      clockMs += 1
      return clockMs
    },
    ...given,
    out: () => written.out,
    err: () => written.err,
    waits,
    opened,
  }
}
