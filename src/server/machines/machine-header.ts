import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { Sender } from '../../http/arrival.ts'

/** Says who asks, from one machine to another. contract 18 §6. */
export const MACHINE_HEADER = 'x-svc-machine'
/** How far the clocks of two machines may be apart, and how long a value is good. */
export const VALID_MS = 30_000

/**
 * One key for what machines say of visitors, and one for what they say of themselves: a visitor can have a machine sign
 * any method and target of theirs.
 */
export type MachineKeys = { ofVisitors: Buffer; ofMachines: Buffer }

/** What is signed besides what is said: `at` on the clock of the signer, in milliseconds and parts of them, and the request. */
export type SignedRequest = { at: number; method: string; target: string }

/** `machines`: through which the request came already. */
export type Forwarded = Sender & { machines: readonly string[] }

const MAX_LENGTH = 4096
/** Of the machines that a request came through, the last ones. */
const MAX_MACHINES = 8

export const machineKeys = (nodeSecret: string): MachineKeys => ({
  ofVisitors: keyFor(nodeSecret, 'svc: a visitor of another machine'),
  ofMachines: keyFor(nodeSecret, 'svc: a machine'),
})

const keyFor = (nodeSecret: string, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', nodeSecret, '', purpose, 32))

export const signForwarded = (
  { ofVisitors }: MachineKeys,
  { address, isSecure, hostHeader, machines }: Forwarded,
  request: SignedRequest,
): string =>
  sign(
    ofVisitors,
    [address, isSecure ? 'https' : 'http', hostHeader, ...machines.slice(-MAX_MACHINES)],
    request,
  )

/** `request.at` is now. Null for anything that none of our machines has signed for this request within 30 seconds. */
export function readForwarded(
  { ofVisitors }: MachineKeys,
  value: string,
  request: SignedRequest,
): Forwarded | null {
  const [address, scheme, hostHeader, ...machines] = read(ofVisitors, value, request) ?? []
  if (address === undefined || scheme === undefined || hostHeader === undefined) return null
  return { address, isSecure: scheme === 'https', hostHeader, machines }
}

/** For requests of a machine itself, which no visitor can have sent. `name` is what the machine is called. */
export const signMachine = ({ ofMachines }: MachineKeys, name: string, request: SignedRequest): string =>
  sign(ofMachines, [name], request)

export const readMachine = (
  { ofMachines }: MachineKeys,
  value: string,
  request: SignedRequest,
): { name: string } | null => {
  const [name] = read(ofMachines, value, request) ?? []
  return name === undefined ? null : { name }
}

/** The machines that a value names, whoever signed it: to find out that a request came back. */
export function machinesNamed(value: string): readonly string[] {
  if (value.length > MAX_LENGTH) return []
  return value.split(';').slice(4, -1).filter(isId).slice(-MAX_MACHINES)
}

/** However it is spelled: what has the same one says the same. */
export const signatureOf = (value: string): Buffer =>
  Buffer.from(value.slice(value.lastIndexOf(';') + 1), 'base64url')

const isId = (text: string): boolean => /^[0-9a-f]{16}$/.test(text)

function sign(key: Buffer, said: readonly string[], request: SignedRequest): string {
  const fields = [String(request.at), ...said.map((text) => encodeURIComponent(text.toWellFormed()))].join(
    ';',
  )
  return `${fields};${macOf(key, fields, request).toString('base64url')}`
}

function read(key: Buffer, value: string, request: SignedRequest): string[] | null {
  if (value.length > MAX_LENGTH) return null
  const fields = value.slice(0, Math.max(0, value.lastIndexOf(';')))
  const mac = signatureOf(value)
  const expected = macOf(key, fields, request)
  if (mac.length !== expected.length || !timingSafeEqual(mac, expected)) return null
  const [at = '', ...said] = fields.split(';')
  if (!(Math.abs(request.at - Number(at)) <= VALID_MS)) return null
  return said.map(decodeURIComponent)
}

const macOf = (key: Buffer, fields: string, { method, target }: SignedRequest): Buffer =>
  createHmac('sha256', key).update(`${fields}\n${method}\n${target}`).digest()
