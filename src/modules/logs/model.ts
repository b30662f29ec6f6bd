import { type Static, t } from 'elysia'
import { orNull } from '../../http/or-null.ts'
import { pageOf, pageQuery } from '../../http/pagination.ts'
import { projectView } from '../projects/model.ts'
import { AUDIT_GROUPS } from './actions.ts'

const text = t.Optional(t.String())
const textOrNull = orNull(t.String())

export const auditQuery = t.Object({
  ...pageQuery,
  action: text,
  projectId: text,
  actorId: text,
  group: t.Optional(t.String({ description: `One of ${AUDIT_GROUPS.join(', ')}` })),
  from: text,
  to: text,
})

/** One change: who made it, with which credential and from where, and the state before and after, without secrets. */
const auditEntry = t.Object({
  id: t.String(),
  at: t.String(),
  actor: t.Object({ kind: t.String(), id: textOrNull, name: textOrNull }),
  credential: t.String(),
  ip: textOrNull,
  action: t.String(),
  target: t.Object({
    kind: t.String(),
    id: textOrNull,
    name: t.Union([t.String(), t.Null()], {
      description: 'Its name at that time; null if it has none',
    }),
  }),
  projectId: textOrNull,
  before: t.Unknown({ description: 'The state before, without secrets; null if there was none' }),
  after: t.Unknown({ description: 'The state after, without secrets; null if there is none' }),
  sentence: t.String({ description: 'The same for people' }),
  canUndo: t.Boolean({ description: 'Whether the caller may undo it and nobody has' }),
  undoneBy: orNull(t.String({ description: 'The entry that undid it' })),
  undoOf: orNull(t.String({ description: 'The entry that this one undid' })),
})
export type AuditEntry = Static<typeof auditEntry>

export const auditPage = pageOf(auditEntry)
export const undoView = t.Object({ undone: t.String(), entry: auditEntry })

const place = t.Optional(
  t.String({ description: 'sites: what a project answered; admin: the rest; all, the default: both' }),
)

export const projectRequestQuery = t.Object({
  ...pageQuery,
  host: text,
  path: t.Optional(t.String({ description: 'A prefix of the path' })),
  method: text,
  status: t.Optional(t.String({ description: 'A status such as 404, or a class such as 4xx' })),
  bots: t.Optional(t.String({ description: 'true: only bots; false: none' })),
  from: text,
  to: text,
})

export const requestQuery = t.Object({ ...projectRequestQuery.properties, projectId: text, place })

export const projectTailQuery = t.Object({
  status: t.Optional(t.String({ description: 'A status such as 404, or a class such as 4xx' })),
  bots: t.Optional(t.String({ description: 'true: only bots; false: none' })),
  after: t.Optional(t.String({ description: 'Id of the last request that the client has seen' })),
})

export const tailQuery = t.Object({ ...projectTailQuery.properties, projectId: text, place })

const loggedRequest = t.Object({
  id: t.String(),
  at: t.String(),
  projectId: textOrNull,
  method: t.String(),
  host: t.String(),
  path: t.String({ description: 'Without the query' }),
  status: t.Integer(),
  durationMs: t.Number({ description: 'Until the response head' }),
  sizeBytes: t.Union([t.Integer(), t.Null()], { description: 'Of the body, if known' }),
  referrer: t.Union([t.String(), t.Null()], { description: 'Host of the other site that led here' }),
  userAgent: t.String(),
  bot: t.Union([t.String(), t.Null()], { description: 'Name of the bot or program; null for a person' }),
  visitor: t.Union([t.String(), t.Null()], {
    description: 'The same for one visitor of one project on one day; no address is stored',
  }),
  weight: t.Integer({ description: 'How many requests this entry stands for; above 1 under very high load' }),
})
export type RequestView = Static<typeof loggedRequest>

export const requestPage = pageOf(loggedRequest)
export const projectRequestPage = t.Union([requestPage, projectView])
