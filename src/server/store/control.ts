import type { Context } from '../../context.ts'
import { AppError } from '../../domain/errors.ts'
import { isRecord } from '../../domain/is-record.ts'
import { openControlSocket } from '../../platform/control-socket.ts'
import { isOperation, operate } from '../operations.ts'

/** Does what `svc key` and `svc admin` ask for, and answers once the object store has it. contract 18 §1. */
export function openControl(current: () => Context): () => Promise<void> {
  const { config, log } = current()
  try {
    return openControlSocket(config.dataDir, (request) => answer(current(), request))
  } catch (error) {
    log.warn('svc key and svc admin cannot reach this server', { error })
    return async () => {}
  }
}

async function answer(ctx: Context, request: Request): Promise<Response> {
  try {
    const { name, input } = asked(await request.json())
    if (!isOperation(name))
      throw new AppError('not_found', 'the server that runs here is of another version: restart it first')
    refuseElsewhere(ctx)
    const refusal = ctx.db.log.refusal()
    if (refusal !== null) throw refusal
    const text = await operate(ctx, name, input)
    await ctx.db.log.sync()
    return new Response(text)
  } catch (error) {
    if (error instanceof AppError) return new Response(error.message, { status: error.status })
    ctx.log.error('what a command asked for failed', { error })
    return new Response('the server failed; its log says why', { status: 500 })
  }
}

/** Says where it is to be run. */
function refuseElsewhere({ machine }: Context): void {
  if (machine === null || machine.role() === 'primary') return
  const primary = machine.primary()
  const where =
    primary === null
      ? 'which none is now'
      : `which is ${primary.name}${primary.url === null ? '' : ` (${primary.url})`}`
  throw new AppError(
    'unavailable',
    `this machine is a ${machine.role()}: run this on the primary of the workspace, ${where}; nothing was changed`,
  )
}

function asked(body: unknown): { name: string; input: Record<string, string> } {
  const { name = '', input = {} } = isRecord(body) ? body : {}
  const entries = Object.entries(isRecord(input) ? input : {})
  const texts = entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string')
  return { name: String(name), input: Object.fromEntries(texts) }
}
