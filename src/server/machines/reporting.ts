import type { Context, Machine } from '../../context.ts'
import { REPORT_PATH } from '../../modules/machines/report.ts'
import { ownMachine } from '../../modules/machines/service.ts'
import { sha256Of } from '../../platform/object-store/sign.ts'
import { readExtraCas } from '../../platform/outbound/ca.ts'
import { type Batch, HandOver } from './hand-over.ts'
import { MACHINE_HEADER, type MachineKeys, signMachine } from './machine-header.ts'
import { PrimaryLine } from './primary-line.ts'
import { keysOf } from './senders.ts'

const EVERY_MS = 10_000
const FIRST_MS = 1_000
const TIMEOUT_MS = 5_000
/** A machine that stops has no more time for what is left. */
const LAST_MS = 1_000
/** Of one round: the rest waits for the next. */
const MAX_BATCHES = 10

/**
 * While this machine follows another it tells the primary every 10 seconds how it is, and hands over what it logged of requests.
 * What does not arrive is sent again. `ctx` is the current one; the log and the machine outlive it. Returns a function that
 * stops it. contract 18 §6.
 */
export function startReporting(ctx: () => Context): () => Promise<void> {
  const { machine, requestLog, newId, config } = ctx()
  const keys = keysOf(ctx())
  if (machine === null || keys === null) return async () => {}
  const { nodeExtraCaCerts } = config
  const line = new PrimaryLine(nodeExtraCaCerts === null ? null : readExtraCas(nodeExtraCaCerts))
  const handOver = new HandOver(newId)
  const isFollower = () => machine.role() !== 'primary'
  const stopTaking = requestLog.handOver((rows) => {
    if (isFollower()) handOver.add(rows)
  })
  let running: Promise<void> | undefined
  const round = (timeoutMs: number): Promise<void> => {
    running ??= report(ctx(), { machine, keys, line, handOver, timeoutMs }).finally(() => {
      running = undefined
    })
    return running
  }
  const tell = () => void (isFollower() ? round(TIMEOUT_MS) : handOver.clear())
  const first = setTimeout(tell, FIRST_MS)
  const timer = setInterval(tell, EVERY_MS)
  first.unref()
  timer.unref()
  return async () => {
    clearTimeout(first)
    clearInterval(timer)
    if (isFollower())
      await Promise.race([(running ?? Promise.resolve()).then(() => round(LAST_MS)), Bun.sleep(LAST_MS)])
    stopTaking()
    line.close()
  }
}

type Reporting = {
  machine: Machine
  keys: MachineKeys
  line: PrimaryLine
  handOver: HandOver
  timeoutMs: number
}

/** Never rejects: another round follows. */
export async function report(ctx: Context, reporting: Reporting): Promise<void> {
  const { handOver } = reporting
  try {
    ctx.requestLog.flush()
    for (let sent = 0; sent < MAX_BATCHES; sent += 1) {
      if (!(await send(ctx, reporting, handOver.next()))) return
      handOver.arrived()
      if (handOver.isEmpty) return
    }
  } catch (error) {
    ctx.log.debug('the primary was not told how this machine is', { error })
  }
}

/** False if the primary did not take it. */
async function send(ctx: Context, reporting: Reporting, batch: Batch): Promise<boolean> {
  const { machine, keys, line, timeoutMs } = reporting
  const origin = machine.primary()?.url ?? null
  if (origin === null || machine.role() === 'primary') return false
  const { url, outbound } = line.to(origin)
  const body = new TextEncoder().encode(bodyOf(ctx, batch))
  // What is signed is the target, so it names the body.
  const target = `${REPORT_PATH}?sha256=${await sha256Of(body)}`
  const signed = signMachine(keys, machine.name, { at: ctx.now(), method: 'POST', target })
  const { status } = await outbound.request(url, {
    method: 'POST',
    target,
    headers: [
      ['content-type', 'application/json'],
      [MACHINE_HEADER, signed],
    ],
    body,
    headTimeoutMs: timeoutMs,
    idleTimeoutMs: timeoutMs,
    mayBePlain: true,
  })
  if (status !== 204) ctx.log.debug('the primary did not take what this machine reports', { status })
  return status === 204
}

function bodyOf(ctx: Context, { id, rows, dropped }: Batch): string {
  const { lastSeenAt: _, ...machine } = ownMachine(ctx)
  const head = JSON.stringify({ machine, batch: id, dropped })
  return `${head.slice(0, -1)},"rows":[${rows.join(',')}]}`
}
