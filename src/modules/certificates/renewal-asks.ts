import type { Context } from '../../context.ts'
import { messageOf } from '../../domain/errors.ts'
import { fractionOf } from '../../platform/random.ts'
import type { Authority } from './authority.ts'
import type { HostRecord } from './host-record.ts'
import { mayAskRenewal, type Renewal, renewalAfter, renewalUnknown } from './renewal.ts'

type Parts = {
  ctx: Context
  authority: Authority
  stopping: AbortSignal
  /** Those with a certificate of which no order runs. */
  resting(): Iterable<HostRecord>
  /** Called when another moment was chosen than before. */
  chosen(record: HostRecord): void
}

/** Asks the authority when to renew, for one certificate after the other. RFC 9773. */
export class RenewalAsks {
  readonly #parts: Parts
  #isAsking = false
  #ended: Promise<void> = Promise.resolve()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Asks for all of which it is time. */
  look(): void {
    if (this.#isAsking) return
    this.#isAsking = true
    this.#ended = this.#askAll()
  }

  /** Resolves when no question is open. The signal ends those that are. */
  ended(): Promise<void> {
    return this.#ended
  }

  /** Each has an answer or waits afterwards, so this ends. Never rejects. */
  async #askAll(): Promise<void> {
    try {
      for (let next = this.#next(); next !== undefined; next = this.#next()) await this.#ask(next)
    } finally {
      this.#isAsking = false
    }
  }

  #next(): HostRecord | undefined {
    const { ctx, authority, stopping, resting } = this.#parts
    const now = ctx.now()
    if (stopping.aborted || authority.isPaused(now)) return undefined
    return [...resting()].find(
      ({ certificate, renewal }) =>
        certificate?.directory === ctx.config.acmeDirectory && mayAskRenewal(renewal, now),
    )
  }

  async #ask(record: HostRecord): Promise<void> {
    const { certificate, renewal: before } = record
    if (certificate === null) return
    const renewal = await this.#answer(certificate.certPem, record)
    // Meanwhile it may have been renewed.
    if (this.#parts.stopping.aborted || record.certificate !== certificate) return
    record.renewal = renewal
    if (renewal.at !== (before?.at ?? null)) this.#parts.chosen(record)
  }

  async #answer(certPem: string, { host, renewal }: HostRecord): Promise<Renewal> {
    const { ctx, authority } = this.#parts
    try {
      const info = await authority.renewalInfo(certPem)
      return renewalAfter(renewal, info, { now: ctx.now(), random: fractionOf(ctx.newId()) })
    } catch (error) {
      ctx.log.debug('the authority did not say when to renew', { host, why: messageOf(error) })
      return renewalUnknown(renewal, error, ctx.now())
    }
  }
}
