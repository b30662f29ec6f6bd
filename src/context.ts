import type { Config } from './config.ts'
import type { Db } from './db/open.ts'
import type { GlobalRole } from './domain/roles.ts'
import type { BlobStore } from './platform/blob-store.ts'
import type { Certificates } from './platform/certificates.ts'
import type { Lockout } from './platform/lockout.ts'
import type { Log } from './platform/log.ts'
import type { Mailer } from './platform/mail.ts'
import type { Outbound } from './platform/outbound.ts'
import type { Passwords } from './platform/passwords.ts'
import type { RequestLog } from './platform/request-log.ts'
import type { SecretBox } from './platform/secret-box.ts'

/** What the whole appliance shares. Clock and ids come from here and nowhere else. */
export type Context = {
  config: Config
  db: Db
  blobs: BlobStore
  /** Milliseconds since 1970, UTC. */
  now: () => number
  /** A new UUID (v7). */
  newId: () => string
  log: Log
  /** Every request, in a database of its own. */
  requestLog: RequestLog
  passwords: Passwords
  secrets: SecretBox
  lockout: Lockout
  mail: Mailer
  /** The one way out to the network, for what members and visitors may name. */
  outbound: Outbound
  /** The same, for what the operator's settings name: those hosts may be private. */
  operatorOutbound: Outbound
  /** Of this server's own listener; with `TLS=off` there are none. */
  certificates: Certificates
  /** The texts of the TXT records of a name, for `hasTxt`; empty when there are none. Rejects when the resolver fails. */
  resolveTxt: (name: string) => Promise<string[]>
  /** What claims a fresh server; see contract §1, SETUP_TOKEN. */
  setupToken: string
  /** Origin of the admin, without a trailing slash, as written into links. */
  adminUrl: () => string
  /** Origin of a site host. */
  siteUrl: (host: string) => string
  /** The project that a host (lower case, without port) shows; null where no site lives. */
  siteAt: (host: string) => SitePlace
  version: string
  /** When this process started, as `now`. */
  startedAt: number
}

/** The signed-in person of a session. */
export type SessionUser = { id: string; email: string; role: GlobalRole }

export type ApiKeyIdentity = {
  id: string
  name: string
  projectId: string | null
  isGlobal: boolean
  createdBy: string | null
}

/** Who calls, with which credential and from where. */
export type Actor =
  | { kind: 'anonymous'; ip: string }
  | { kind: 'user'; user: SessionUser; sessionId: string; ip: string }
  | { kind: 'key'; key: ApiKeyIdentity; ip: string }
  | { kind: 'operator' }

/** A signed-in person. */
export type UserActor = Extract<Actor, { kind: 'user' }>

/** The project that the request's host shows; null on the admin host. */
export type SitePlace = { projectId: string; host: string } | null

/**
 * One request's caller: the actor, the place where it calls, and who it would be if the gate had not refused them.
 * `goodUntil`: until then the same cookies stand for the same caller there, as long as nothing is written.
 */
export type Caller = { actor: Actor; site: SitePlace; refused: SessionUser | null; goodUntil?: number }

/** What the front door found out about a request before anybody else sees it. */
export type RequestFacts = {
  ip: string
  isSecure: boolean
  /** Host as the visitor named it, lower case, without port. */
  host: string
  /** Host with port, for links. */
  hostWithPort: string
  site: SitePlace
  /** The other end of the connection: the client, or a proxy in front of us. */
  peerAddress: string
  /** The `X-Forwarded-For` of a peer in `TRUST_PROXY`; null from anybody else. */
  forwardedFor: string | null
  /** The peer is loopback and no header says that somebody stands behind it. */
  isDirectLoopback: boolean
}
