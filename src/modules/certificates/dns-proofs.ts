import { createHash } from 'node:crypto'
import type { Context } from '../../context.ts'
import { messageOf } from '../../domain/errors.ts'
import { endOfCnames, untilShown } from '../../platform/acme/dns/look.ts'
import type { DnsProvider } from '../../platform/acme/dns/provider.ts'
import { AcmeError } from '../../platform/acme/error.ts'
import type { Proof, Solver } from '../../platform/acme/solver.ts'
import { dnsProviderOf } from './dns-provider.ts'
import type { HostRecord, ShownValue } from './host-record.ts'
import type { CertificateStore } from './store.ts'

const CLEAN_UP_MS = 60_000
/** A server that is to end waits no longer for a removal: the next start goes on with it. */
const STOP_MS = 2_000

/** Shows the authority by records in the DNS that the base domain is ours. contract 19.5. */
export class DnsProofs {
  readonly #ctx: Context
  readonly #store: CertificateStore
  readonly #keep: (record: HostRecord) => Promise<void>
  readonly #stopping: AbortSignal
  readonly #ending = new AbortController()

  constructor(
    ctx: Context,
    store: CertificateStore,
    stopping: AbortSignal,
    keep: (record: HostRecord) => Promise<void>,
  ) {
    this.#ctx = ctx
    this.#store = store
    this.#stopping = stopping
    this.#keep = keep
    const end = () => this.#ending.abort(new Error('The server is stopping'))
    stopping.addEventListener('abort', () => setTimeout(end, STOP_MS).unref(), { once: true })
  }

  solverOf(record: HostRecord): Solver {
    return this.#ctx.config.acmeDns === 'persist'
      ? { kind: 'dns-persist-01', show: (proofs, signal) => this.#showStaying(record, proofs, signal) }
      : { kind: 'dns-01', show: (proofs, signal) => this.#show(record, proofs, signal) }
  }

  /** Removes what a crash left in the DNS. */
  async cleanUp(record: HostRecord): Promise<void> {
    if (record.shown.length === 0) return
    const signal = AbortSignal.any([this.#stopping, AbortSignal.timeout(CLEAN_UP_MS)])
    const ready = await dnsProviderOf(this.#ctx, this.#store, signal)
    if (ready !== null) await this.#takeAway(record, ready.provider)
  }

  async #show(
    record: HostRecord,
    proofs: readonly Proof[],
    signal: AbortSignal,
  ): Promise<() => Promise<void>> {
    const { acmeDnsResolvers: resolvers } = this.#ctx.config
    const ready = await dnsProviderOf(this.#ctx, this.#store, signal)
    if (ready === null) throw new AcmeError('ACME_DNS is not set up on this machine')
    const { provider, cname } = ready
    const wanted = wantedOf(proofs)
    const [{ name } = { name: '' }] = wanted
    await this.#tell(record, cname === null ? null : { name, type: 'CNAME', value: cname })
    const shown: ShownValue[] = []
    const first: { name: string; values: string[]; servers: string[] }[] = []
    for (const { name, values } of wanted) {
      const { at, servers } = await endOfCnames(name, resolvers)
      if (cname !== null && at !== cname) throw noCname(name, cname, at)
      shown.push(...values.map((value) => ({ name: at, value })))
      first.push({ name: at, values, servers })
    }
    record.shown = [...record.shown, ...shown]
    // Before it is set: a crash must not leave what nobody remembers.
    await this.#keep(record)
    try {
      for (const { name, value } of shown) await provider.set(name, value, signal)
      await this.#untilShown(wanted, signal, first)
    } catch (error) {
      await this.#takeAway(record, provider)
      throw error
    }
    return () => this.#takeAway(record, provider)
  }

  /** A record that a person sets once, for every order. draft-ietf-acme-dns-persist. */
  async #showStaying(record: HostRecord, proofs: readonly Proof[], signal: AbortSignal) {
    for (const { host, challenge, accountUrl } of proofs) {
      const [issuer] = namesIn(challenge['issuer-domain-names'])
      if (issuer === undefined)
        throw new AcmeError('The certificate authority does not say under which name it issues')
      const name = `_validation-persist.${host}`
      const value = `${issuer}; accounturi=${accountUrl}; policy=wildcard`
      await this.#tell(record, { name, type: 'TXT', value })
      await this.#untilShown([{ name, values: [value] }], signal)
    }
    return () => {}
  }

  #untilShown(
    wanted: Parameters<typeof untilShown>[0],
    signal: AbortSignal,
    first: Parameters<typeof untilShown>[2] = [],
  ) {
    const { acmeDnsResolvers: resolvers, acmeDnsTimeoutSeconds } = this.#ctx.config
    return untilShown(wanted, { resolvers, timeoutMs: acmeDnsTimeoutSeconds * 1000, signal }, first)
  }

  /** What a person has to set, as soon as it is known. */
  async #tell(record: HostRecord, toSet: HostRecord['toSet']): Promise<void> {
    if (JSON.stringify(record.toSet) === JSON.stringify(toSet)) return
    record.toSet = toSet
    await this.#keep(record)
  }

  /** Never rejects. What could not be removed is tried at the next start. */
  async #takeAway(record: HostRecord, provider: DnsProvider): Promise<void> {
    for (const one of [...record.shown])
      try {
        const signal = AbortSignal.any([this.#ending.signal, AbortSignal.timeout(CLEAN_UP_MS)])
        await provider.remove(one.name, one.value, signal)
        record.shown = record.shown.filter((other) => other !== one)
      } catch (error) {
        const why = messageOf(error)
        this.#ctx.log.warn('a record for the certificate authority was left in the DNS', {
          name: one.name,
          why,
        })
      }
    await this.#keep(record).catch((error) =>
      this.#ctx.log.error('it could not be stored what is in the DNS', { error }),
    )
  }
}

/** The values stand side by side: the domain and its wildcard are proven under one name. RFC 8555 §8.4. */
function wantedOf(proofs: readonly Proof[]): { name: string; values: string[] }[] {
  const byName = Map.groupBy(proofs, ({ host }) => `_acme-challenge.${host}`)
  return [...byName].map(([name, of]) => ({ name, values: of.map(({ text }) => digest(text)) }))
}

const digest = (text: string): string => createHash('sha256').update(text).digest('base64url')

const noCname = (name: string, wanted: string, end: string): AcmeError =>
  new AcmeError(
    `The DNS has no CNAME record at ${name} that leads to ${wanted}${end === name ? '' : `: it leads to ${end}`}`,
  )

const namesIn = (list: unknown): string[] =>
  Array.isArray(list) ? list.filter((one) => typeof one === 'string' && /^[\w.-]{1,253}$/.test(one)) : []
