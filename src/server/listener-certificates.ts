import { type Config, ConfigError } from '../config/config.ts'
import type { Context } from '../context.ts'
import { type Certificate, type Certificates, noCertificates } from '../platform/certificates.ts'
import type { CertObjects } from '../platform/object-store/cert-objects.ts'
import type { ObjectStore } from '../platform/object-store.ts'
import { CertificateFileError, openCertificateFiles } from '../platform/tls/files.ts'

/** What gives certificates, until it is stopped. */
type Source = Certificates & { stop(): void | Promise<void> }

/** The object store of a machine, and the newest take-over that it knows of. */
export type CertificateStorage = { store: ObjectStore; epoch: () => number }

type OwnStorage = CertificateStorage & { isPrimary: boolean }

const none: Source = { ...noCertificates, stop() {} }

/**
 * The certificates of the listeners of this process. The listeners outlive the role of a machine, which decides where
 * certificates come from: `serveFor` says so for each context.
 */
export class ListenerCertificates implements Certificates {
  readonly #listeners = new Set<() => unknown>()
  #source = none
  #isStopped = false
  /** One role after another, as they were begun. */
  #serving: Promise<void> = Promise.resolve()
  /** Those of before, which may still end an order. */
  readonly #ending = new Set<Promise<void>>()

  /** From now on those that this context asks for, which shows them as `ctx.certificates`. Throws `ConfigError`. */
  async serveFor(ctx: Context, storage: CertificateStorage | null = null): Promise<void> {
    ctx.certificates = this
    const isPrimary = ctx.machine?.role() === 'primary'
    // That of now: what ends later under another role must not pass for a later one's.
    const epoch = storage?.epoch() ?? 0
    const own = storage && { store: storage.store, epoch: () => epoch, isPrimary }
    const serving = this.#serving.then(() => this.#serveNext(ctx, own))
    this.#serving = serving.catch(() => {})
    await serving
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await Promise.all([this.#source.stop(), ...this.#ending])
  }

  all(): readonly Certificate[] {
    return this.#source.all()
  }

  stateOf(host: string) {
    return this.#source.stateOf(host)
  }

  challengeAnswer(host: string, token: string) {
    return this.#source.challengeAnswer(host, token)
  }

  onChange(listener: () => unknown): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  hostsChanged(): void {
    this.#source.hostsChanged()
  }

  tryNow(host: string): Promise<void> {
    return this.#source.tryNow(host)
  }

  visited(host: string): void {
    this.#source.visited(host)
  }

  takeVisited(): string[] {
    return this.#source.takeVisited()
  }

  list() {
    return this.#source.list()
  }

  wildcard() {
    return this.#source.wildcard()
  }

  retryWildcard(): Promise<void> {
    return this.#source.retryWildcard()
  }

  async #serveNext(ctx: Context, storage: OwnStorage | null): Promise<void> {
    if (ctx.config.tls === 'off' || this.#isStopped) return
    if (ctx.config.tls === 'auto') await this.#serveAutomatic(ctx, storage)
    // The files are the same for each role.
    else if (this.#source === none) await this.#replace(ofFiles(ctx.config, ctx))
  }

  async #serveAutomatic(ctx: Context, storage: OwnStorage | null): Promise<void> {
    const { createAutoCertificates } = await import('../modules/certificates/auto.ts')
    if (storage === null) return this.#replace(createAutoCertificates(ctx))
    const { FollowedCertificates } = await import('../modules/certificates/followed.ts')
    const { CertObjects } = await import('../platform/object-store/cert-objects.ts')
    const objects = new CertObjects(storage)
    const { isPrimary } = storage
    const followed = new FollowedCertificates(ctx, objects, { isPrimary })
    await this.#replace(followed)
    if (isPrimary) void followed.whole.then(() => this.#order(ctx, objects, followed))
  }

  /** Nothing is ordered before the store was read. */
  async #order(ctx: Context, objects: CertObjects, followed: Source): Promise<void> {
    if (this.#source !== followed || this.#isStopped) return
    try {
      const { createAutoCertificates } = await import('../modules/certificates/auto.ts')
      await this.#replace(createAutoCertificates(ctx, objects))
    } catch (error) {
      ctx.log.error('no certificates can be ordered', { error })
    }
  }

  async #replace(next: Source): Promise<void> {
    const before = this.#source
    this.#source = next
    next.onChange(() => (this.#source === next ? this.#tell() : undefined))
    const isSame = namesOf(before.all()) === namesOf(next.all())
    this.#end(before)
    // Each change makes the listeners open anew.
    if (!isSame) await this.#tell()
  }

  #end(source: Source): void {
    const ending = Promise.resolve(source.stop()).finally(() => this.#ending.delete(ending))
    this.#ending.add(ending)
  }

  #tell(): Promise<unknown> {
    return Promise.all([...this.#listeners].map((listener) => listener()))
  }
}

const namesOf = (certificates: readonly Certificate[]): string =>
  JSON.stringify(certificates.map(({ hosts, certPem }) => [hosts, certPem]).sort())

function ofFiles({ tlsCertFile, tlsKeyFile }: Config, ctx: Context): Source {
  try {
    return openCertificateFiles({ certFile: tlsCertFile ?? '', keyFile: tlsKeyFile ?? '' }, ctx)
  } catch (error) {
    if (error instanceof CertificateFileError) throw new ConfigError(error.message)
    throw error
  }
}
