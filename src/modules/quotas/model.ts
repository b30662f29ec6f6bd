import { type Static, t } from 'elysia'
import type { InputOf } from '../../http/input-of.ts'
import { orNull } from '../../http/or-null.ts'
import { wholeNumber } from '../../http/whole-number.ts'
import { projectView } from '../projects/model.ts'

const limit = orNull(
  wholeNumber({
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    error: 'A whole number from 0, or null for no limit',
  }),
)

export const quotaLimits = t.Object({ bytes: limit, deployments: limit, files: limit })
export type Quota = Static<typeof quotaLimits>
export const NO_QUOTA: Quota = { bytes: null, deployments: null, files: null }

export const quotaBody = t.Partial(quotaLimits, { examples: [{ bytes: 10_000_000_000, files: null }] })
export type QuotaChange = InputOf<typeof quotaBody>

const used = t.Object({
  bytes: t.Integer({ description: 'Each content that the project stores once' }),
  deployments: t.Integer(),
  files: t.Integer({ description: 'Of all deployments' }),
})
export type Usage = Static<typeof used>

export const quotaView = t.Object({ quota: quotaLimits, used })
export type QuotaView = Static<typeof quotaView>
export const projectQuotaView = t.Union([quotaView, projectView])
