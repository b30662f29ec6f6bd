import { type Static, t } from 'elysia'
import type { InputOf } from '../../http/input-of.ts'
import { orNull } from '../../http/or-null.ts'
import { wholeNumber } from '../../http/whole-number.ts'
import { projectView } from '../projects/model.ts'

const rule = (maximum: number, unit: string) =>
  orNull(
    wholeNumber({ minimum: 1, maximum, error: `A whole number of ${unit} from 1 to ${maximum}, or null` }),
  )

const policy = { keepLast: rule(10_000, 'deployments'), keepDays: rule(3650, 'days') }

/** A rule that is null is not set; with none of them nothing is removed. */
const policyFields = t.Object(policy)
export type Policy = Static<typeof policyFields>
export const NO_POLICY: Policy = { keepLast: null, keepDays: null }

export const policyBody = t.Partial(policyFields, { examples: [{ keepLast: 50, keepDays: 90 }] })
export type PolicyChange = InputOf<typeof policyBody>

const count = t.Integer()

export const retentionView = t.Object({
  ...policy,
  lastRun: orNull(t.Object({ at: t.String(), removedCount: count, bytes: count })),
})
export type RetentionView = Static<typeof retentionView>
export const projectRetentionView = t.Union([retentionView, projectView])

export const runBody = t.Partial(t.Object({ ...policy, dryRun: t.Boolean({ default: true }) }), {
  examples: [{ dryRun: false }],
})
export type RunOrder = InputOf<typeof runBody>

/** Why a deployment stays, in this order: it counts under the first that holds. */
export const REASONS = ['alias', 'previous', 'preview', 'shared', 'young', 'keepLast', 'keepDays'] as const
export type Reason = (typeof REASONS)[number]

const removed = t.Object({
  id: t.String({ format: 'uuid' }),
  commitSha: t.String(),
  version: count,
  createdAt: t.String(),
  totalSize: count,
})
export type RemovedView = Static<typeof removed>

export const runView = t.Object({
  dryRun: t.Boolean(),
  removed: t.Array(removed, { description: 'The newest 1000 of them' }),
  removedCount: count,
  bytes: t.Integer({ description: 'What the disk gets back' }),
  kept: t.Object({
    alias: count,
    previous: count,
    preview: count,
    shared: count,
    young: count,
    keepLast: count,
    keepDays: count,
  }),
})
export type RunView = Static<typeof runView>
