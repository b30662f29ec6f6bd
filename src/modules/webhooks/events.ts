/** What hooks can be told of. contract 16 §4. */
export const EVENTS = [
  'deployment.created',
  'deployment.released',
  'deployment.failed',
  'alias.moved',
  'preview.ended',
  'check.failed',
  'domain.verified',
  'user.invited',
  'errors.rising',
  'backup.failed',
  'certificate.failing',
  'disk.low',
  'ping',
] as const
export type EventName = (typeof EVENTS)[number]

/** Of these only hooks of the workspace are told. */
export const WORKSPACE_EVENTS: ReadonlySet<string> = new Set([
  'backup.failed',
  'certificate.failing',
  'disk.low',
])

export const isEventName = (text: string): text is EventName => (EVENTS as readonly string[]).includes(text)

/** The facts of an event, as in the body of a `json` hook. */
export type EventBody = {
  event: EventName
  createdAt: string
  workspace: { url: string }
  project: { id: string; owner: string; name: string } | null
  actor: { kind: string; id: string | null; name: string | null }
  data: Record<string, unknown>
}
