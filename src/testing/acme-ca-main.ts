import { type AcmeCa, startAcmeCa } from './acme-ca.ts'

/**
 * The test authority as a program, for tests that do not run in Bun. Prints `{ directory, pem }`, and reads a line of
 * JSON per order.
 */
export type AuthorityOrder =
  | { do: 'ask'; port: number }
  | { do: 'refuse'; host: string; detail: string }
  | { do: 'forgive'; host: string }

const port = Promise.withResolvers<number>()
const ca = startAcmeCa({
  challengePort: port.promise,
  now: Date.now,
  lifetimeMs: 90 * 86_400_000,
  name: 'localhost',
})
console.log(JSON.stringify({ directory: ca.directory, pem: ca.pem }))
for await (const line of console) if (line !== '') obey(ca, JSON.parse(line) as AuthorityOrder)
await ca.stop()

function obey({ faults }: AcmeCa, order: AuthorityOrder): void {
  if (order.do === 'ask') port.resolve(order.port)
  else if (order.do === 'forgive') faults.refusals.delete(order.host)
  else faults.refusals.set(order.host, { type: 'connection', detail: order.detail })
}
