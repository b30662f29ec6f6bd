import type { GlobalRole } from './roles.ts'

/** The person signed in with a session. */
export type SessionUser = { id: string; email: string; role: GlobalRole }

export type ApiKeyIdentity = {
  id: string
  name: string
  projectId: string | null
  isGlobal: boolean
  createdBy: string | null
}

/** The caller, with their credential and address. */
export type Actor =
  | { kind: 'anonymous'; ip: string }
  | { kind: 'user'; user: SessionUser; sessionId: string; ip: string }
  | { kind: 'key'; key: ApiKeyIdentity; ip: string }
  /** The person, with a token of `svc login`: held down to contributor, and nothing of the workspace or the account. */
  | { kind: 'cli'; user: SessionUser; sessionId: string; ip: string }
  | { kind: 'operator' }

/** A signed-in person. */
export type UserActor = Extract<Actor, { kind: 'user' }>
export type CliActor = Extract<Actor, { kind: 'cli' }>
