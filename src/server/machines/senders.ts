import type { Context } from '../../context.ts'
import { Arrival, type Peer, type Sender } from '../../http/arrival.ts'
import type { App } from '../app.ts'
import {
  MACHINE_HEADER,
  type MachineKeys,
  machineKeys,
  machinesNamed,
  readForwarded,
  readMachine,
  type SignedRequest,
  signatureOf,
} from './machine-header.ts'
import { SignaturesSeen } from './signatures-seen.ts'

/** The keys of the workspace's machines; null where none forwards to another. */
export const keysOf = ({ config }: Pick<Context, 'config'>): MachineKeys | null =>
  config.nodeSecret === null ? null : machineKeys(config.nodeSecret)

/** What a request is signed by, and asked for by now. */
export const signedRequest = ({ now }: Pick<Context, 'now'>, { method, target }: Arrival): SignedRequest => ({
  at: now(),
  method,
  target,
})

/** Who sent a request: a machine of the workspace for a visitor, one for itself, or anybody. */
export type Origin =
  | { by: 'visitor'; sender: Sender }
  | { by: 'machine'; machine: { name: string } }
  | { by: 'anybody'; machines: readonly string[] }

/**
 * Takes the header off the request and says what it proves. One that is not signed, or wrongly, is as good as none.
 * contract 18 §6.
 */
export function takeOrigin(ctx: Context, keys: MachineKeys | null, request: Request, peer: Peer): Origin {
  const value = request.headers.get(MACHINE_HEADER)
  if (value === null) return ANYBODY
  request.headers.delete(MACHINE_HEADER)
  if (keys === null) return ANYBODY
  const signed = signedRequest(ctx, new Arrival(ctx.config, request, peer))
  const sender = readForwarded(keys, value, signed)
  if (sender !== null) return { by: 'visitor', sender }
  const machine = readMachine(keys, value, signed)
  return machine === null ? { by: 'anybody', machines: machinesNamed(value) } : { by: 'machine', machine }
}

const ANYBODY: Origin = { by: 'anybody', machines: [] }

/** The primary's answers to visitors whom other machines send. A value that comes again is as good as none. */
export function forSenders(ctx: Context, app: App): App['fetch'] {
  const keys = keysOf(ctx)
  const seen = new SignaturesSeen()
  return (request, peer) => {
    const value = request.headers.get(MACHINE_HEADER)
    if (value === null) return app.fetch(request, peer)
    const origin = takeOrigin(ctx, keys, request, peer)
    const isBelieved = origin.by !== 'anybody' && seen.isFirst(signatureOf(value))
    return app.fetch(request, isBelieved ? onBehalf(peer, origin) : peer)
  }
}

function onBehalf(peer: Peer, origin: Exclude<Origin, { by: 'anybody' }>): Peer {
  return {
    address: peer.address,
    ...(origin.by === 'visitor' ? { sender: origin.sender } : { machine: origin.machine }),
    allowSilence: (isAllowed) => peer.allowSilence?.(isAllowed),
    ...(peer.upgrade === undefined
      ? {}
      : { upgrade: (headers, owner) => peer.upgrade?.(headers, owner) ?? false }),
  }
}
