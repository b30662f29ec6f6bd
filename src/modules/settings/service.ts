import type { Context } from '../../context.ts'
import { audit } from '../../db/audit.ts'
import { inTransaction } from '../../db/open.ts'
import { differingFields } from '../../domain/differing-fields.ts'
import { AppError } from '../../domain/errors.ts'
import type { Grant } from '../auth/authorize.ts'
import type { Settings, SettingsPatch } from './model.ts'
import { upsertSetting } from './queries.ts'
import { readSettings } from './read-settings.ts'

export type { Settings } from './model.ts'

export const getSettings = (ctx: Context, _grant: Grant): Settings => readSettings(ctx)

/** Stores the settings of the patch. Throws 409 for one that the environment fixes, and then changes nothing. */
export function changeSettings(ctx: Context, grant: Grant, patch: SettingsPatch): Settings {
  const before = readSettings(ctx)
  const given = Object.entries(patch).filter(([key, value]) => value !== undefined && key in before)
  for (const [key] of given)
    if (before[key as keyof Settings].source === 'environment')
      throw new AppError(
        'conflict',
        `${key} is fixed by the environment of the server and cannot be changed here`,
      )
  if (given.length === 0) return before
  const change = {
    before: Object.fromEntries(given.map(([key]) => [key, before[key as keyof Settings].value])),
    after: Object.fromEntries(given),
  }
  inTransaction(ctx.db, (tx) => {
    for (const [key, value] of given) upsertSetting(tx, key, String(value), ctx.now())
    audit(ctx, tx, grant.actor, {
      action: 'settings.change',
      target: { kind: 'settings', id: null, name: null },
      ...change,
      undo: differingFields(change.before, change.after),
    })
  })
  return readSettings(ctx)
}
