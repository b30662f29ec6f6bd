import { CommandFailure } from '../command.ts'

export type Ran = { exitCode: number; text: string; errors: string }

/** Runs a program of the system to its end; undefined if there is none of this name. */
export type Run = (name: string, ...args: string[]) => Promise<Ran | undefined>

/** A root that was got by `su` may lack some of them. */
const OF_THE_SYSTEM = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']
const LONGEST_MS = 120_000
/** Something that the program left running may hold its output. */
const OUTPUT_MS = 500

export function programsOf(env: Readonly<Record<string, string | undefined>>): Run {
  // An empty or a relative entry would be the folder in which root happens to be.
  const given = (env['PATH'] ?? '').split(':').filter((folder) => folder.startsWith('/'))
  const PATH = [...given, ...OF_THE_SYSTEM].join(':')
  return async (name, ...args) => {
    const program = Bun.which(name, { PATH })
    if (program === null) return undefined
    const child = Bun.spawn([program, ...args], {
      env: { ...env, PATH, LC_ALL: 'C', SYSTEMD_PAGER: '', SYSTEMD_COLORS: '0' },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
      timeout: LONGEST_MS,
    })
    const [text, errors] = [collected(child.stdout), collected(child.stderr)]
    const exitCode = await child.exited
    await Promise.race([Promise.all([text.ended, errors.ended]), Bun.sleep(OUTPUT_MS)])
    return { exitCode, text: text.soFar(), errors: errors.soFar() }
  }
}

/** Throws unless it ran and ended with 0, or with one of `others`. */
export function requireRan(line: string, ran: Ran | undefined, others: readonly number[] = []): void {
  if (ran === undefined) throw new CommandFailure(`${line}: there is no such program on the PATH`)
  if (ran.exitCode === 0 || others.includes(ran.exitCode)) return
  const [reason = ''] = ran.errors.trim().split('\n').slice(-1)
  throw new CommandFailure(`${line} ended with ${ran.exitCode}${reason === '' ? '' : `: ${reason}`}`)
}

function collected(stream: ReadableStream<Uint8Array>): { ended: Promise<void>; soFar(): string } {
  let text = ''
  const decoder = new TextDecoder()
  const ended = (async () => {
    for await (const piece of stream) text += decoder.decode(piece, { stream: true })
  })()
  return { ended, soFar: () => text }
}
