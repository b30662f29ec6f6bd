import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { keyFromPem, keyToPem } from '../../platform/acme/keys.ts'
import { DurableFile, syncFolder } from '../../platform/durable-file.ts'
import type { Log } from '../../platform/log.ts'
import { makeFolder } from '../../platform/owner.ts'
import type { SecretBox } from '../../platform/secret-box.ts'
import type { HostRecord } from './host-record.ts'

export type Account = { directory: string; key: KeyObject; url: string | null }

/** `DATA_DIR/certs`: one file per host and one per account, written atomically. Keys are sealed. */
export class CertificateStore {
  readonly #dataDir: string
  readonly #secrets: SecretBox
  /** Writes run one at a time, in the order requested. */
  #writing: Promise<void> = Promise.resolve()

  constructor(dataDir: string, secrets: SecretBox) {
    this.#dataDir = dataDir
    this.#secrets = secrets
    for (const folder of ['certs', 'tmp']) makeFolder(join(dataDir, folder))
  }

  /** Unusable entries are skipped and logged: they are ordered again. */
  readHosts(log: Log): HostRecord[] {
    return this.#read('host-', log, (stored) => {
      const { keySealed, certPem, notBefore, expiresAt, issuer, ...record } = stored as StoredHost
      if (keySealed === null || certPem === null) return { ...record, certificate: null }
      const keyPem = this.#secrets.open(keySealed, hostContext(record.host))
      if (!new X509Certificate(certPem).checkPrivateKey(createPrivateKey(keyPem)))
        throw new Error('The key belongs to another certificate')
      return { ...record, certificate: { certPem, keyPem, notBefore, expiresAt, directory: issuer } }
    })
  }

  readAccount(directory: string, log: Log): Account | undefined {
    const accounts = this.#read('account-', log, (stored) => {
      const { keySealed, ...account } = stored as StoredAccount
      const key = keyFromPem(this.#secrets.open(keySealed, accountContext(account.directory)))
      return { ...account, key }
    })
    return accounts.find((account) => account.directory === directory)
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

  removeHost(host: string): Promise<void> {
    return this.#next(async () => {
      rmSync(join(this.#dataDir, 'certs', hostFile(host)), { force: true })
      await syncFolder(join(this.#dataDir, 'certs'))
    })
  }

  /** Seals every key again, for `svc key rotate-secret`. Skips keys that cannot be opened: they were lost before. */
  async resealAll(): Promise<number> {
    let count = 0
    for (const name of fileNames(this.#dataDir)) {
      const resealed = this.#resealed(name)
      if (resealed === undefined) continue
      await this.#write(name, resealed)
      count += 1
    }
    return count
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
    const names = fileNames(this.#dataDir).filter((name) => name.startsWith(prefix))
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
    return JSON.parse(readFileSync(join(this.#dataDir, 'certs', name), 'utf8'))
  }

  /** The draft lies outside `certs/`, so that a backup never includes half a file. */
  #write(name: string, content: object): Promise<void> {
    return this.#next(async () => {
      const draft = join(this.#dataDir, 'tmp', `certs-${name}`)
      const file = new DurableFile(draft)
      await file.append(Buffer.from(`${JSON.stringify(content, null, 2)}\n`))
      await file.finish({ durable: true })
      renameSync(draft, join(this.#dataDir, 'certs', name))
      await syncFolder(join(this.#dataDir, 'certs'))
    })
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

/** A host may be longer than a file name. */
const hostFile = (host: string): string => `host-${host.length > MAX_NAME ? digest(host) : host}.json`
const accountFile = (directory: string): string => `account-${digest(directory).slice(0, 16)}.json`

const digest = (text: string): string => new Bun.CryptoHasher('sha256').update(text).digest('hex')

const fileNames = (dataDir: string): string[] =>
  readdirSync(join(dataDir, 'certs'))
    .filter((name) => /^(host|account)-.+\.json$/.test(name))
    .sort()
