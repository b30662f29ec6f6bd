import type { Caller, Context } from '../../context.ts'
import { isoTime } from '../../domain/iso-time.ts'
import { mayUndo } from '../undo/entry.ts'
import { type Facts, phraseOf } from './actions.ts'
import type { AuditEntry } from './model.ts'
import { type AuditRow, listAuditRows, projectNames, undoneByOf } from './queries.ts'

export type { AuditEntry } from './model.ts'
export { type AuditRow, findAuditRow, undoneByOf } from './queries.ts'

/** The rows as this caller sees them. */
export function entryViews(ctx: Context, caller: Caller, rows: readonly AuditRow[]): AuditEntry[] {
  const undoneBy = undoneByOf(
    ctx.db,
    rows.map(({ id }) => id),
  )
  const roots = new Map(
    listAuditRows(
      ctx.db.orm,
      rows.flatMap(({ undoRoot }) => undoRoot ?? []),
    ).map((row) => [row.id, row]),
  )
  const names = projectNames(ctx.db, [...new Set(rows.flatMap(({ projectId }) => projectId ?? []))])
  return rows.map((row) => {
    const root = row.undoRoot === null ? undefined : roots.get(row.undoRoot)
    const by = undoneBy.get(row.id) ?? null
    return {
      ...plainView(row),
      sentence: sentenceOf(row, root, names.get(row.projectId ?? '')),
      canUndo: by === null && mayUndo(ctx, caller, { ...row, rootAction: root?.action ?? null }),
      undoneBy: by,
      undoOf: row.undoOf,
    }
  })
}

const plainView = (row: AuditRow) => ({
  id: row.id,
  at: isoTime(row.at),
  actor: { kind: row.actorKind, id: row.actorId, name: row.actorName },
  credential: row.credential,
  ip: row.ip,
  action: row.action,
  target: { kind: row.targetKind, id: row.targetId, name: row.targetName },
  projectId: row.projectId,
  before: fromJson(row.before),
  after: fromJson(row.after),
})

function sentenceOf(row: AuditRow, root: AuditRow | undefined, project: string | undefined): string {
  const who = actorName(row)
  if (root === undefined) return `${who} ${phraseOf(row.action, factsOf(row, project))}`
  const verb = (row.undoDepth ?? 1) % 2 === 1 ? 'undid' : 'did again'
  return `${who} ${verb}: ${actorName(root)} ${phraseOf(root.action, factsOf(root, project))}`
}

function actorName({ actorKind, actorName: name }: AuditRow): string {
  if (actorKind === 'operator') return 'The operator'
  if (actorKind === 'key') return `The key ${name ?? ''}`.trimEnd()
  return name ?? 'Somebody'
}

function factsOf(row: AuditRow, project: string | undefined): Facts {
  const name = row.targetName ?? row.targetId ?? row.targetKind.replaceAll(/[-_]/g, ' ')
  return {
    name: row.targetKind === 'deployment' ? name.slice(0, 12) : name,
    project: project ?? (row.targetKind === 'project' ? name : 'a deleted project'),
    target: row.targetKind,
    before: asRecord(row.before),
    after: asRecord(row.after),
  }
}

function asRecord(json: string | null): Record<string, unknown> {
  const value: unknown = json === null ? null : JSON.parse(json)
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

const fromJson = (text: string | null): unknown => (text === null ? null : JSON.parse(text, withIsoTimes))

/** The log stores rows with times in milliseconds; the API shows all times in ISO 8601. contract §2. */
const withIsoTimes = (key: string, value: unknown): unknown =>
  key.endsWith('At') && isTime(value) ? isoTime(value) : value

/** Any other number, such as one in a pipeline's config, is very unlikely to be a time of this century. */
const isTime = (value: unknown): value is number =>
  typeof value === 'number' && value > Date.UTC(2001) && value < Date.UTC(2200)
