import { type TSchema, t } from 'elysia'

const response = t.Union([t.Literal('not_found'), t.Literal('login')], { error: 'not_found or login' })

const setting = <T extends TSchema>(value: T) =>
  t.Object({
    value,
    source: t.Union([t.Literal('environment'), t.Literal('database'), t.Literal('default')]),
  })

export const settingsView = t.Object({
  requireProjectMembership: setting(t.Boolean()),
  allowPublicSignups: setting(t.Boolean()),
  privateSiteResponse: setting(response),
})

export const settingsPatchBody = t.Object({
  requireProjectMembership: t.Optional(t.Boolean({ examples: [true] })),
  allowPublicSignups: t.Optional(t.Boolean()),
  privateSiteResponse: t.Optional(response),
})
