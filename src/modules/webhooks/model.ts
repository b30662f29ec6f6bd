import { type Static, t } from 'elysia'
import type { InputOf } from '../../http/input-of.ts'
import { orNull } from '../../http/or-null.ts'
import { pageOf, pageQuery } from '../../http/pagination.ts'
import { projectView } from '../projects/model.ts'

export const KINDS = ['json', 'slack', 'mattermost', 'discord', 'ntfy'] as const
const kind = t.Union(
  [t.Literal('json'), t.Literal('slack'), t.Literal('mattermost'), t.Literal('discord'), t.Literal('ntfy')],
  { error: KINDS.join(', ') },
)
export type Kind = (typeof KINDS)[number]

const settings = {
  name: t.Optional(t.String({ maxLength: 100, examples: ['Team chat'] })),
  events: t.Array(t.String({ maxLength: 100 }), {
    minItems: 1,
    maxItems: 100,
    error: 'A list of at least one event, or ["*"]',
    examples: [['deployment.released', 'deployment.failed']],
  }),
  kind: t.Optional(kind),
  headers: t.Optional(t.Record(t.String(), t.String())),
  secret: t.Optional(t.String({ minLength: 16, maxLength: 256, error: '16 to 256 characters' })),
  isEnabled: t.Optional(t.Boolean()),
}
const url = t.String({ maxLength: 2048, error: 'An address of at most 2048 characters' })

export const newHookBody = t.Object({ url, ...settings })
export type NewHook = InputOf<typeof newHookBody>

export const hookChangeBody = t.Partial(t.Object({ url, ...settings }))
export type HookChange = InputOf<typeof hookChangeBody>

const text = t.String()
const textOrNull = orNull(text)
const status = t.Union([t.Literal('pending'), t.Literal('delivered'), t.Literal('failed')])

const delivery = {
  id: t.String({ format: 'uuid' }),
  event: text,
  createdAt: text,
  status,
  tries: t.Array(
    t.Object({
      at: text,
      status: orNull(t.Integer()),
      durationMs: t.Number(),
      error: textOrNull,
      response: textOrNull,
    }),
  ),
  nextTryAt: textOrNull,
}

export const deliveryView = t.Object(delivery)
export type DeliveryView = Static<typeof deliveryView>

/** `request` shows no header values of the hook's own and nothing made with its secret. */
export const wholeDeliveryView = t.Object({
  ...delivery,
  request: t.Object({ headers: t.Record(text, text), body: text }),
})
export type WholeDelivery = Static<typeof wholeDeliveryView>

export const deliveryQuery = t.Object({
  ...pageQuery,
  status: t.Optional(t.String({ description: 'pending, delivered or failed' })),
})
export const deliveriesView = pageOf(deliveryView)

const hook = {
  id: t.String({ format: 'uuid' }),
  projectId: textOrNull,
  name: text,
  url: text,
  events: t.Array(text),
  kind,
  headers: t.Record(text, text),
  isEnabled: t.Boolean(),
  disabledReason: textOrNull,
  createdAt: text,
  updatedAt: text,
  lastDelivery: orNull(deliveryView),
}
export const hookView = t.Object(hook)
export type HookView = Static<typeof hookView>

/** Only these answers show the secret. */
export const hookWithSecret = t.Object({ ...hook, secret: text })
export type HookWithSecret = HookView & { secret: string }

export const hooksView = t.Object({ webhooks: t.Array(hookView) })
export const projectHooksView = t.Union([hooksView, projectView])
