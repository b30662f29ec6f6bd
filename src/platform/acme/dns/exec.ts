import { MINUTE_MS } from '../../../domain/durations.ts'
import { AcmeError } from '../error.ts'
import type { DnsProvider } from './provider.ts'

const LIMIT_MS = MINUTE_MS
const MAX_SAID = 64 * 1024

/** A program of the operator, called as lego calls one, without a shell. */
export function execProvider(program: { path: string; env: Record<string, string> }): DnsProvider {
  return {
    set: (name, value, signal) => run(program, ['present', `${name}.`, value], signal),
    remove: (name, value, signal) => run(program, ['cleanup', `${name}.`, value], signal),
  }
}

type Program = { path: string; env: Record<string, string> }

async function run({ path, env }: Program, args: readonly string[], signal: AbortSignal): Promise<void> {
  const child = start(path, env, args)
  const limit = AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)])
  const kill = () => child.kill('SIGKILL')
  limit.addEventListener('abort', kill, { once: true })
  if (limit.aborted) kill()
  try {
    // A program that it left behind may hold the pipe open.
    const [said, code] = await Promise.all([
      Promise.race([lastOf(child.stderr), child.exited.then(() => Bun.sleep(1_000)).then(() => '')]),
      child.exited,
    ])
    signal.throwIfAborted()
    if (limit.aborted) throw failed(args, 'took longer than 60 s')
    if (code !== 0) throw failed(args, `ended with ${code}${said === '' ? '' : `: ${said}`}`)
  } finally {
    limit.removeEventListener('abort', kill)
  }
}

function start(path: string, env: Record<string, string>, args: readonly string[]) {
  try {
    return Bun.spawn([path, ...args], { env, stdio: ['ignore', 'ignore', 'pipe'] })
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : ''
    throw failed(args, `cannot be started${code}`)
  }
}

const failed = ([what]: readonly string[], how: string) =>
  new AcmeError(`The program in ACME_DNS_EXEC ${how} (${what})`)

/** The last line that holds something. */
async function lastOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const piece of stream) text = (text + decoder.decode(piece, { stream: true })).slice(-MAX_SAID)
  return (
    text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '')
      .at(-1) ?? ''
  )
}
