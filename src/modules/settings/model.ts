import { type Static, type TSchema, t } from 'elysia'
import type { InputOf } from '../../http/input-of.ts'

const response = t.Union([t.Literal('not_found'), t.Literal('login')], { error: 'not_found or login' })

const setting = <T extends TSchema>(value: T) =>
  t.Object({
    value,
    source: t.Union([t.Literal('environment'), t.Literal('database'), t.Literal('default')]),
  })

/** spec: Workspace settings; contract §3. */
export const settingsView = t.Object({
  requireProjectMembership: setting(t.Boolean()),
  allowPublicSignups: setting(t.Boolean()),
  privateSiteResponse: setting(response),
  pictures: setting(t.Boolean({ description: 'Whether the admin shows small pictures of sites' })),
})
export type Settings = Static<typeof settingsView>

export const settingsPatchBody = t.Object({
  requireProjectMembership: t.Optional(t.Boolean({ examples: [true] })),
  allowPublicSignups: t.Optional(t.Boolean()),
  privateSiteResponse: t.Optional(response),
  pictures: t.Optional(t.Boolean()),
})
export type SettingsPatch = InputOf<typeof settingsPatchBody>
