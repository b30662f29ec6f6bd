import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { messageOf } from '../../domain/errors.ts'
import { keyFromPem, keyToPem } from '../../platform/acme/keys.ts'
import { CertFolder } from '../../platform/cert-folder.ts'
import type { Log } from '../../platform/log.ts'
import type { CertObjects } from '../../platform/object-store/cert-objects.ts'
import type { SecretBox } from '../../platform/secret-box.ts'
import { emptyRecord, type HostRecord } from './host-record.ts'
import { NotSharedError } from './not-shared-error.ts'

export type Account = { directory: string; key: KeyObject; url: string | null }

/**
 * `DATA_DIR/certs`: one file per host and one per account. Keys are sealed. With an object store the files are copies of its
 * objects, which all machines read and the primary writes.
 */
export class CertificateStore {
  readonly #folder: CertFolder
  readonly #secrets: SecretBox
  readonly #objects: CertObjects | null
  /** The object that a file is a copy of. */
  readonly #copied = new Map<string, string>()
  /** Writes run one at a time, in the order requested. */
  #writing: Promise<void> = Promise.resolve()

  constructor(dataDir: string, secrets: SecretBox, objects: CertObjects | null = null) {
    this.#folder = new CertFolder(dataDir)
    this.#secrets = secrets
    this.#objects = objects
  }

  /** Unusable entries are skipped and logged: they are ordered again. */
  readHosts(log: Log): HostRecord[] {
    return this.#read('host-', log, (stored) => this.#openHost(stored))
  }

  readAccount(directory: string, log: Log): Account | undefined {
    const accounts = this.#read(accountFile(directory), log, (stored) => this.#openAccount(stored))
    return accounts.find((account) => account.directory === directory)
  }

  /** The files that cannot be used, with why. What is not ours has to be readable only. */
  *unusable(): Generator<{ name: string; why: string }> {
    const ours = new Set(this.#folder.names())
    for (const name of this.#folder.files())
      try {
        if (!ours.has(name)) this.#folder.read(name)
        else if (name.startsWith(PROVIDER)) this.#openProvider(this.#parse(name))
        else if (name.startsWith('account-')) this.#openAccount(this.#parse(name))
        else this.#openHost(this.#parse(name))
      } catch (error) {
        yield { name, why: messageOf(error) }
      }
  }

  saveHost({ certificate, ...record }: HostRecord): Promise<void> {
    const stored: StoredHost = {
      ...record,
      certPem: certificate?.certPem ?? null,
      keySealed: certificate && this.#secrets.seal(certificate.keyPem, hostContext(record.host)),
      notBefore: certificate?.notBefore ?? 0,
      expiresAt: certificate?.expiresAt ?? 0,
      issuer: certificate?.directory ?? '',
    }
    return this.#write(hostFile(record.host), stored)
  }

  saveAccount({ directory, key, url }: Account): Promise<void> {
    const keySealed = this.#secrets.seal(keyToPem(key), accountContext(directory))
    return this.#write(accountFile(directory), { directory, url, keySealed } satisfies StoredAccount)
  }

  /** That at a DNS provider, as it was saved; null if there is none that can be used. */
  readProviderAccount(url: string, log: Log): string | null {
    const wanted = providerFile(url)
    if (!this.#folder.names().includes(wanted)) return null
    return this.#read(wanted, log, (stored) => this.#openProvider(stored))[0] ?? null
  }

  saveProviderAccount(url: string, text: string): Promise<void> {
    const keySealed = this.#secrets.seal(text, accountContext(url))
    return this.#write(providerFile(url), { directory: url, url: null, keySealed } satisfies StoredAccount)
  }

  removeHost(host: string): Promise<void> {
    const name = hostFile(host)
    return this.#next(async () => {
      await this.#folder.remove(name)
      await this.#share(() => this.#objects?.remove(name))
    })
  }

  /**
   * Takes what the object store has. What it lacks goes there from a primary, as only an order that the store did not see
   * ended so; anywhere else it is removed. Returns whether a file changed. Throws `StoreError`.
   */
  async pull({ isPrimary }: { isPrimary: boolean }): Promise<boolean> {
    let isChanged = false
    await this.#next(async () => {
      const objects = this.#objects
      if (objects === null) return
      const names = await objects.fetch(this.#copied, (name, bytes) => {
        isChanged = true
        return this.#folder.write(name, bytes)
      })
      for (const name of this.#folder.names().filter((one) => !names.has(one))) {
        if (isPrimary) await objects.save(name, this.#folder.read(name))
        else await this.#folder.remove(name)
        isChanged ||= !isPrimary
      }
    })
    return isChanged
  }

  /** Seals every key again, for `svc key rotate-secret`. Skips keys that cannot be opened: they were lost before. */
  async resealAll(): Promise<number> {
    let count = 0
    for (const name of this.#folder.names()) {
      const resealed = this.#resealed(name)
      if (resealed === undefined) continue
      await this.#write(name, resealed)
      count += 1
    }
    return count
  }

  #openHost(stored: unknown): HostRecord {
    const { keySealed, certPem, notBefore, expiresAt, issuer, ...record } = stored as StoredHost
    const known = { ...emptyRecord(record.host), ...record }
    if (keySealed === null || certPem === null) return known
    const keyPem = this.#secrets.open(keySealed, hostContext(record.host))
    if (!new X509Certificate(certPem).checkPrivateKey(createPrivateKey(keyPem)))
      throw new Error('The key belongs to another certificate')
    return { ...known, certificate: { certPem, keyPem, notBefore, expiresAt, directory: issuer } }
  }

  #openAccount(stored: unknown): Account {
    const { keySealed, ...account } = stored as StoredAccount
    const key = keyFromPem(this.#secrets.open(keySealed, accountContext(account.directory)))
    return { ...account, key }
  }

  #openProvider(stored: unknown): string {
    const { keySealed, directory } = stored as StoredAccount
    return this.#secrets.open(keySealed, accountContext(directory))
  }

  #resealed(name: string): object | undefined {
    try {
      const stored = this.#parse(name) as { host?: string; directory: string; keySealed: string | null }
      if (stored.keySealed === null) return undefined
      const context = stored.host === undefined ? accountContext(stored.directory) : hostContext(stored.host)
      return {
        ...stored,
        keySealed: this.#secrets.seal(this.#secrets.open(stored.keySealed, context), context),
      }
    } catch {
      return undefined
    }
  }

  #read<T>(prefix: string, log: Log, toRecord: (stored: unknown) => T): T[] {
    const names = this.#folder.names().filter((name) => name.startsWith(prefix))
    return names.flatMap((name) => {
      try {
        return [toRecord(this.#parse(name))]
      } catch (error) {
        log.warn('a stored certificate or account cannot be used and will be requested again', {
          file: name,
          error,
        })
        return []
      }
    })
  }

  #parse(name: string): unknown {
    return JSON.parse(this.#folder.read(name).toString())
  }

  #write(name: string, content: object): Promise<void> {
    const bytes = Buffer.from(`${JSON.stringify(content, null, 2)}\n`)
    return this.#next(async () => {
      await this.#folder.write(name, bytes)
      await this.#share(() => this.#objects?.save(name, bytes))
    })
  }

  async #share(work: () => Promise<void> | undefined): Promise<void> {
    try {
      await work()
    } catch (error) {
      throw new NotSharedError(messageOf(error), { cause: error })
    }
  }

  #next(work: () => Promise<void>): Promise<void> {
    const done = this.#writing.then(work)
    this.#writing = done.catch(() => undefined)
    return done
  }
}

type StoredHost = Omit<HostRecord, 'certificate'> & {
  certPem: string | null
  keySealed: string | null
  notBefore: number
  expiresAt: number
  issuer: string
}
type StoredAccount = { directory: string; url: string | null; keySealed: string }

const MAX_NAME = 200

const hostContext = (host: string): string => `certificate of ${host}`
const accountContext = (directory: string): string => `acme account at ${directory}`

/** A host may be longer than a file name, and `*` is none on some systems. */
const hostFile = (host: string): string =>
  `host-${host.length > MAX_NAME ? digest(host) : host.replace(/^\*/, '_')}.json`
/** Like an account at an authority, so that it is sealed anew, shared and backed up as these are. */
const PROVIDER = 'account-dns-'
const providerFile = (url: string): string => `${PROVIDER}${digest(url).slice(0, 16)}.json`
const accountFile = (directory: string): string => `account-${digest(directory).slice(0, 16)}.json`

const digest = (text: string): string => new Bun.CryptoHasher('sha256').update(text).digest('hex')
