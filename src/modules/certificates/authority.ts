import type { Config } from '../../config/config.ts'
import type { Context } from '../../context.ts'
import { HOUR_MS } from '../../domain/durations.ts'
import { type AcmeClient, createAcmeClient } from '../../platform/acme/client.ts'
import type { ExternalAccount } from '../../platform/acme/external-account.ts'
import { newKey } from '../../platform/acme/keys.ts'
import { type Issued, type OrderOptions, orderCertificate } from '../../platform/acme/order.ts'
import { askRenewalInfo, certificateId, type RenewalInfo } from '../../platform/acme/renewal-info.ts'
import type { HostRecord } from './host-record.ts'
import type { Account, CertificateStore } from './store.ts'
import { authorityPauseMs } from './timing.ts'

type Opened = { account: Account; client: AcmeClient }
/** `replaced`: the certificate that the host has. */
type Ordering = Pick<OrderOptions, 'solver' | 'signal'> & { replaced: HostRecord['certificate'] }

/** The configured certificate authority, with one account that is kept across restarts. */
export class Authority {
  readonly #ctx: Context
  readonly #store: CertificateStore
  readonly #stopping: AbortSignal
  #opened: Promise<Opened> | undefined
  #failures = 0
  #pausedUntil = 0

  constructor(ctx: Context, store: CertificateStore, stopping: AbortSignal) {
    this.#ctx = ctx
    this.#store = store
    this.#stopping = stopping
  }

  /** Orders one certificate for the hosts. Rejects as `orderCertificate` does. */
  async order(hosts: readonly string[], { replaced, ...how }: Ordering): Promise<Issued> {
    const { account, client } = await this.#account()
    const isOurs = replaced?.directory === account.directory
    const replaces = isOurs ? certificateId(replaced.certPem) : null
    try {
      const options = { ...how, hosts, replaces, accountKey: account.key, now: this.#ctx.now }
      const issued = await orderCertificate(client, options)
      this.#failures = 0
      return issued
    } finally {
      await this.#keepAddress(account, client.accountUrl)
    }
  }

  /** When it suggests to renew the certificate. Rejects as `askRenewalInfo` does. */
  async renewalInfo(certPem: string): Promise<RenewalInfo | null> {
    const { client } = await this.#account()
    return askRenewalInfo(client, certPem, this.#stopping)
  }

  isPaused(now: number): boolean {
    // A longer pause was started by a clock that was ahead.
    return this.#pausedUntil > now && this.#pausedUntil <= now + HOUR_MS
  }

  /** The authority is unavailable or limits us: nobody asks it for a while, and longer each time. */
  pause(now: number): void {
    if (this.isPaused(now)) return
    this.#failures += 1
    this.#pausedUntil = now + authorityPauseMs(this.#failures)
  }

  /** A person may ask despite the pause. */
  forgivePause(): void {
    this.#pausedUntil = 0
  }

  #account(): Promise<Opened> {
    this.#opened ??= this.#open().catch((error) => {
      this.#opened = undefined
      throw error
    })
    return this.#opened
  }

  /** The account key is on disk before anything is signed with it. */
  async #open(): Promise<Opened> {
    const { config, operatorOutbound, version, now, log } = this.#ctx
    const directory = config.acmeDirectory
    const stored = this.#store.readAccount(directory, log)
    const account = stored ?? { directory, key: newKey(), url: null }
    if (stored === undefined) await this.#store.saveAccount(account)
    const client = createAcmeClient({
      outbound: operatorOutbound,
      directory,
      key: account.key,
      accountUrl: account.url,
      email: config.acmeEmail,
      externalAccount: externalAccountOf(config),
      userAgent: `svc/${version}`,
      now,
      signal: this.#stopping,
    })
    return { account, client }
  }

  async #keepAddress(account: Account, url: string | null): Promise<void> {
    if (account.url === url) return
    account.url = url
    await this.#store.saveAccount(account)
  }
}

const externalAccountOf = ({ acmeEabKid: kid, acmeEabHmacKey: key }: Config): ExternalAccount | null =>
  kid === null || key === null ? null : { kid, hmacKey: Buffer.from(key, 'base64url') }
