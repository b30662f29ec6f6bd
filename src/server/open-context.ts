import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config/config.ts'
import type { Context } from '../context.ts'
import { type LogsDb, openLogsDb } from '../db/logs-db.ts'
import { type Db, openDb } from '../db/open.ts'
import { RequestLog } from '../db/request-log.ts'
import { diskSpace } from '../modules/storage/floor.ts'
import { openBlobStore, type RemoteOptions } from '../platform/blob-store.ts'
import { BodyBudget } from '../platform/body-budget.ts'
import { noCertificates } from '../platform/certificates.ts'
import { createLockout } from '../platform/lockout.ts'
import { createLog } from '../platform/log.ts'
import { refuseLostDatabase, refuseNewDatabase } from '../platform/lost-database.ts'
import { createMailer } from '../platform/mail.ts'
import { readExtraCas } from '../platform/outbound/ca.ts'
import { createOutbound, type OutboundOptions } from '../platform/outbound.ts'
import { createPasswords } from '../platform/passwords.ts'
import { createSecretBox } from '../platform/secret-box.ts'
import { readSecretKeys } from '../platform/secret-keys.ts'
import { newToken } from '../platform/tokens.ts'
import { txtRecords } from '../platform/txt-records.ts'
import { siteAt } from '../site/resolve-site.ts'

export type OpenedContext = {
  ctx: Context
  /** Sets the port that the system chose for `PORT=0`, for links. */
  listensOn(port: number): void
  close(): void
}

/**
 * Opens the data directory: database (migrated), contents, keys. `write` receives log lines. `isInMemory`: uses a
 * temporary database, for testing rules. `beforeMigrating` may throw, and nothing is changed then.
 */
export async function openContext(
  config: Config,
  version: string,
  write: (text: string) => void,
  { isInMemory = false, beforeMigrating }: { isInMemory?: boolean; beforeMigrating?: () => void } = {},
): Promise<OpenedContext> {
  keepToOurselves()
  mkdirSync(config.dataDir, { recursive: true, mode: 0o700 })
  if (!isInMemory) refuseLostDatabase(config.dataDir)
  const secretKeys =
    config.secretKey === null ? readSecretKeys(join(config.dataDir, 'secret.key')) : [config.secretKey]
  const db = isInMemory
    ? openDb(':memory:', systemNow())
    : openDb(join(config.dataDir, 'svc.db'), systemNow(), {
        beforeFirst: () => refuseNewDatabase(config.dataDir),
        ...(beforeMigrating === undefined ? {} : { beforeChange: beforeMigrating }),
      })
  return openOn(config, { version, write, secretKeys, db })
}

async function openOn(
  config: Config,
  { version, write, secretKeys, db }: Pick<Parts, 'version' | 'write' | 'secretKeys' | 'db'>,
): Promise<OpenedContext> {
  const parts = await openParts(config, { version, write })
  const ctx = contextOn(parts, { db, secretKeys, machine: null })
  return { ctx, listensOn: parts.listensOn, close: () => closeAll(parts, db) }
}

/** What a process keeps while its database and its role may change: see `store/stint.ts`. */
export type ProcessParts = Omit<
  Context,
  'db' | 'secrets' | 'lockout' | 'certificates' | 'siteAt' | 'machine'
> & {
  /** Without the database. */
  close(): void
}

/** Those of a real process. Creates folders in the data directory. */
export async function openParts(
  config: Config,
  given: Pick<Parts, 'version' | 'write' | 'store'>,
): Promise<ProcessParts & Pick<OpenedContext, 'listensOn'>> {
  let port = config.port
  const parts = await createParts(config, {
    ...given,
    now: systemNow,
    setupToken: newToken(),
    logsDb: openLogsDb(join(config.dataDir, 'logs.db')),
    port: () => port,
    resolveTxt: txtRecords,
  })
  return {
    ...parts,
    listensOn(chosen) {
      port = chosen
    },
  }
}

/** What a context has besides the configuration. */
type Parts = Pick<Context, 'version' | 'now' | 'db' | 'resolveTxt'> & {
  /** Receives the lines of the log. */
  write: (text: string) => void
  /** The first one encrypts; all of them decrypt. */
  secretKeys: readonly string[]
  /** Used if the configuration has none. */
  setupToken: string
  logsDb: LogsDb
  port: () => number
  /** Replaces the costly password hashing, for tests. */
  passwords?: Context['passwords']
  /** The object store that contents are in; the local disk alone if there is none. */
  store?: Pick<RemoteOptions, 'store' | 'epoch'>
  /** Replaces the machine's own network. */
  outside?: Pick<OutboundOptions, 'resolve' | 'limits'>
}

/** Creates the context; `close` also closes the given parts. */
export async function createContext(config: Config, given: Parts): Promise<{ ctx: Context; close(): void }> {
  const parts = await createParts(config, given)
  const ctx = contextOn(parts, { ...given, machine: null })
  return { ctx, close: () => closeAll(parts, given.db) }
}

function closeAll(parts: ProcessParts, db: Db): void {
  parts.close()
  db.close()
}

async function createParts(config: Config, given: Omit<Parts, 'db' | 'secretKeys'>): Promise<ProcessParts> {
  const { version, now, resolveTxt, passwords = createPasswords(), outside = {} } = given
  const newId = () => Bun.randomUUIDv7()
  const blobs = await openBlobStore(config.dataDir, newId, remoteOf(config, given.store))
  const extraCaPem = config.nodeExtraCaCerts === null ? null : readExtraCas(config.nodeExtraCaCerts)
  const wayOutTo = (allowedTargets: readonly string[]) =>
    createOutbound({ allowedTargets, extraCaPem, ...outside })
  const outbound = wayOutTo(config.proxyAllowedTargets)
  const operatorOutbound = wayOutTo([...config.proxyAllowedTargets, ...hostsOfSettings(config)])
  const log = createLog({ level: config.logLevel, format: config.logFormat, now, write: given.write })
  const requestLog = new RequestLog({ db: given.logsDb, log, keepsRows: config.logRetentionDays > 0 })
  return {
    config,
    blobs,
    bodies: new BodyBudget(config.bufferedBodyBytes),
    now,
    newId,
    log,
    requestLog,
    passwords,
    mail: createMailer(config.smtpUrl, config.smtpFrom ?? `svc@${config.baseDomain}`),
    outbound,
    operatorOutbound,
    resolveTxt,
    setupToken: config.setupToken ?? given.setupToken,
    ...addresses(config, given.port),
    version,
    startedAt: now(),
    close() {
      requestLog.close()
      outbound.close()
      operatorOutbound.close()
      blobs.close()
    },
  }
}

/** A context of these parts and this database. */
export function contextOn(
  parts: ProcessParts,
  { db, secretKeys, machine }: Pick<Parts, 'db' | 'secretKeys'> & Pick<Context, 'machine'>,
): Context {
  const { close, ...kept } = parts
  const ctx: Context = {
    ...kept,
    db,
    secrets: createSecretBox(secretKeys),
    lockout: createLockout(parts.now),
    certificates: noCertificates,
    siteAt: (host) => siteAt(ctx, host),
    machine,
  }
  return ctx
}

/** Copies of contents leave as much of the disk free as must be. */
const remoteOf = (config: Config, store: Parts['store']): RemoteOptions | null =>
  store === undefined
    ? null
    : {
        ...store,
        cacheBytes: config.storeCacheBytes,
        roomBytes: () => {
          const { freeBytes, floorBytes } = diskSpace({ config })
          return freeBytes - floorBytes
        },
      }

/** With their ports: hosts that the operator's settings name may be in the local network. */
function hostsOfSettings({
  tls,
  acmeDirectory,
  acmeDnsUrl,
  acmeDnsApi,
  oidcProviders,
  cdnUrl,
}: Config): string[] {
  const ofAcme = tls === 'auto' ? [acmeDirectory, acmeDnsUrl, acmeDnsApi].filter((url) => url !== null) : []
  const urls = [...ofAcme, ...oidcProviders.map(({ issuer }) => issuer), ...cdnUrl]
  return urls.map((url) => {
    const { protocol, hostname, port } = new URL(url)
    return `${hostname}:${port || (protocol === 'http:' ? 80 : 443)}`
  })
}

/** Makes files created from now on readable by this user only, because they hold accounts and secrets. */
export const keepToOurselves = (): void => void process.umask(0o077)

/** Milliseconds since 1970; the only clock of the service and its commands. */
export const systemNow = (): number => Date.now()

/** The origins of links: `PUBLIC_URL` sets scheme and port (and the admin's host), otherwise the listener does. */
function addresses(config: Config, port: () => number): Pick<Context, 'adminUrl' | 'siteUrl'> {
  const known = config.publicUrl === null ? null : new URL(config.publicUrl)
  const scheme = known?.protocol ?? (config.tls === 'off' ? 'http:' : 'https:')
  const usualPort = scheme === 'https:' ? 443 : 80
  const portPart = () => {
    if (known !== null) return known.port === '' ? '' : `:${known.port}`
    return port() === usualPort ? '' : `:${port()}`
  }
  return {
    adminUrl: () => known?.origin ?? `${scheme}//${config.adminHost}${portPart()}`,
    siteUrl: (host) => `${scheme}//${host}${portPart()}`,
  }
}
