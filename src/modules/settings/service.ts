import type { PrivateSiteResponse } from '../../config/config.ts'
import type { Context } from '../../context.ts'
import { audit } from '../../db/audit.ts'
import { generationCache } from '../../db/generation.ts'
import { inTransaction } from '../../db/open.ts'
import { AppError } from '../../domain/errors.ts'
import type { Grant } from '../auth/authorize.ts'
import type { Settings, SettingsPatch } from './model.ts'
import { readSettingRows, upsertSetting } from './queries.ts'

export type { Settings } from './model.ts'
export type Setting<T> = { value: T; source: 'environment' | 'database' | 'default' }

const cache = generationCache<Settings>('access', 1)

/** Every setting with its source: the environment overrides the database, which overrides the default. */
export function readSettings(ctx: Context): Settings {
  return cache.get(ctx.db, 'all', () => loadSettings(ctx)) ?? loadSettings(ctx)
}

export const getSettings = (ctx: Context, _grant: Grant): Settings => readSettings(ctx)

function loadSettings(ctx: Context): Settings {
  const rows = readSettingRows(ctx.db.orm)
  const { requireProjectMembership, privateSiteResponse } = ctx.config
  const stored = (key: string): string | undefined => rows.get(key)
  return {
    requireProjectMembership: pick(
      requireProjectMembership,
      asBoolean(stored('requireProjectMembership')),
      false,
    ),
    allowPublicSignups: pick(null, asBoolean(stored('allowPublicSignups')), false),
    privateSiteResponse: pick(privateSiteResponse, asResponse(stored('privateSiteResponse')), 'not_found'),
  }
}

function pick<T>(environment: T | null, database: T | undefined, fallback: T): Setting<T> {
  if (environment !== null) return { value: environment, source: 'environment' }
  if (database !== undefined) return { value: database, source: 'database' }
  return { value: fallback, source: 'default' }
}

const asBoolean = (text: string | undefined): boolean | undefined =>
  text === undefined ? undefined : text === 'true'
const asResponse = (text: string | undefined): PrivateSiteResponse | undefined =>
  text === 'login' || text === 'not_found' ? text : undefined

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
  inTransaction(ctx.db, (tx) => {
    for (const [key, value] of given) upsertSetting(tx, key, String(value), ctx.now())
    audit(ctx, tx, grant.actor, {
      action: 'settings.change',
      target: { kind: 'settings', id: null, name: null },
      before: Object.fromEntries(given.map(([key]) => [key, before[key as keyof Settings].value])),
      after: Object.fromEntries(given),
    })
  })
  return readSettings(ctx)
}
