import type { Config } from './config/config.ts'
import type { Db } from './db/open.ts'
import type { RequestLog } from './db/request-log.ts'
import type { Actor, SessionUser } from './domain/actor.ts'
import type { AppError } from './domain/errors.ts'
import type { BlobStore } from './platform/blob-store.ts'
import type { BodyBudget } from './platform/body-budget.ts'
import type { Certificates } from './platform/certificates.ts'
import type { Lockout } from './platform/lockout.ts'
import type { Log } from './platform/log.ts'
import type { Mailer } from './platform/mail.ts'
import type { StoreActivity } from './platform/object-store/activity.ts'
import type { ObjectStore } from './platform/object-store.ts'
import type { Outbound } from './platform/outbound.ts'
import type { Passwords } from './platform/passwords.ts'
import type { SecretBox } from './platform/secret-box.ts'

/** This process as one of the machines of a workspace in an object store. contract 18 §5. */
export type Machine = {
  name: string
  role: () => MachineRole
  /** The newest take-over that this machine knows of; 0 before the first. */
  epoch: () => number
  /** The machine of that take-over, and where others reach it. */
  primary: () => { name: string; url: string | null } | null
  /** How far the log in the store and what is here are apart. */
  state: () => {
    /** The last one that is both here and in the store. */
    number: number
    unshippedBytes: number
    lagMs: number
    isStoreUp: boolean
    error: string | null
  }
  /** `performance.now()` of the last answer of the store; minus infinity before the first. */
  heardAt: () => number
  store: ObjectStore
  /** What became of the requests to it. */
  activity: StoreActivity
}

export type MachineRole = 'primary' | 'standby' | 'node'

/** Shared by the whole service. The only source of the clock and of ids. */
export type Context = {
  config: Config
  db: Db
  blobs: BlobStore
  /** The memory for bodies of requests that are held until they are answered. */
  bodies: BodyBudget
  /** Milliseconds since 1970, UTC. */
  now: () => number
  /** A new UUID (v7). */
  newId: () => string
  log: Log
  /** The log of every request, in a separate database. */
  requestLog: RequestLog
  passwords: Passwords
  secrets: SecretBox
  lockout: Lockout
  mail: Mailer
  /** The only way to reach hosts that members and visitors may name. */
  outbound: Outbound
  /** The same for hosts that the operator's settings name, which may be private. */
  operatorOutbound: Outbound
  /** Certificates of this server's own listener; empty with `TLS=off`. */
  certificates: Certificates
  /**
   * Returns the texts of a name's TXT records, for `hasTxt`; empty if there are none. Rejects if the resolver fails.
   */
  resolveTxt: (name: string) => Promise<string[]>
  /** The token that claims a new server; see contract §1, SETUP_TOKEN. */
  setupToken: string
  /** The admin's origin in links, without a trailing slash. */
  adminUrl: () => string
  /** The origin of a site host. */
  siteUrl: (host: string) => string
  /** The project that a host (lower case, without port) shows; null if it shows no site. */
  siteAt: (host: string) => SitePlace
  /** Null if there is no object store: the data directory is the workspace. */
  machine: Machine | null
  version: string
  /** The start time of this process, on the same clock as `now`. */
  startedAt: number
}

/** The project that the request's host shows; null on the admin host. */
export type SitePlace = { projectId: string; host: string } | null

/**
 * The caller of one request: the actor, the place it calls from, and the person rejected by the membership gate, if
 * any. `goodUntil`: until then the same cookies mean the same caller there, as long as nothing is written. `badKey`: the
 * API's answer to a key that was sent and is not good; elsewhere it counts as none.
 */
export type Caller = {
  actor: Actor
  site: SitePlace
  refused: SessionUser | null
  goodUntil?: number
  badKey?: AppError
}

/** What the front door determined about a request before any other code sees it. */
export type RequestFacts = {
  ip: string
  isSecure: boolean
  /** The host as the visitor named it, lower case, without port. */
  host: string
  /** The host with port, for links. */
  hostWithPort: string
  site: SitePlace
  /** The address at the other end of the connection: the client, or a proxy in front of us. */
  peerAddress: string
  /** The peer is in `TRUST_PROXY`. */
  isBehindProxy: boolean
  /** The `X-Forwarded-For` of a peer in `TRUST_PROXY`; null from any other peer. */
  forwardedFor: string | null
  /** The peer is loopback, and no header says that it forwards for somebody else. */
  isDirectLoopback: boolean
}
