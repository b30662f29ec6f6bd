import type { Context } from '../../context.ts'
import { audit } from '../../db/audit.ts'
import { inTransaction } from '../../db/open.ts'
import type { UserActor } from '../../domain/actor.ts'
import { invalidField } from '../../domain/errors.ts'
import { hasAtLeast } from '../../domain/roles.ts'
import { type Grant, personOf } from '../auth/authorize.ts'
import { listProjectIdsOfUser, standingOf } from '../members/service.ts'
import { isNoticeId, NOTICE_IDS, NOTICES, type NoticeId } from './kinds.ts'
import type { NoticesView } from './model.ts'
import { isOff, turnOff, turnOn } from './queries.ts'

/** The notices that can reach the person, and which they want. */
export function getNotices(ctx: Context, grant: Grant): NoticesView {
  const person = personOf(grant)
  const notices = NOTICE_IDS.filter((id) => reaches(ctx, person, id)).map((id) => ({
    id,
    isOn: !isOff(ctx.db.orm, person.user.id, id),
  }))
  return { mailConfigured: ctx.mail.isConfigured, notices }
}

/** Turns notices on and off by their id. Throws 400 for one that cannot reach the person, or cannot be turned off. */
export function changeNotices(ctx: Context, grant: Grant, change: Record<string, unknown>): NoticesView {
  const person = personOf(grant)
  const wanted = Object.entries(change).map(([id, isOn]) => parseSwitch(ctx, person, id, isOn))
  inTransaction(ctx.db, (tx) => {
    const { id: userId, email } = person.user
    const changed = wanted.filter(({ id, isOn }) => isOff(tx, userId, id) === isOn)
    if (changed.length === 0) return
    for (const { id, isOn } of changed) (isOn ? turnOn : turnOff)(tx, userId, id)
    audit(ctx, tx, person, {
      action: 'notice.change',
      target: { kind: 'user', id: userId, name: email },
      before: Object.fromEntries(changed.map(({ id, isOn }) => [id, !isOn])),
      after: Object.fromEntries(changed.map(({ id, isOn }) => [id, isOn])),
    })
  })
  return getNotices(ctx, grant)
}

function parseSwitch(
  ctx: Context,
  person: UserActor,
  id: string,
  isOn: unknown,
): { id: NoticeId; isOn: boolean } {
  if (id === 'invitation') throw invalidField(id, 'Invitations cannot be turned off')
  if (!isNoticeId(id) || !reaches(ctx, person, id)) {
    const known = NOTICE_IDS.filter((one) => reaches(ctx, person, one)).join(', ')
    throw invalidField(id.slice(0, 100), `There is no such notice for you, only ${known}`)
  }
  if (typeof isOn !== 'boolean') throw invalidField(id, 'true or false')
  return { id, isOn }
}

function reaches(ctx: Context, { user }: UserActor, id: NoticeId): boolean {
  const audience = NOTICES[id]
  if (audience === 'everybody' || user.role === 'admin') return true
  return (
    audience === 'project' &&
    listProjectIdsOfUser(ctx.db, user.id).some((projectId) =>
      hasAtLeast(standingOf(ctx, projectId, user.id).role, 'admin'),
    )
  )
}
