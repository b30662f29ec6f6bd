import { type Static, t } from 'elysia'
import { orNull } from '../../http/or-null.ts'
import { projectView } from '../projects/model.ts'
import { ATTENTION_CODES, type AttentionCode } from './cause.ts'

const item = t.Object({
  code: t.Unsafe<AttentionCode>(t.String({ enum: [...ATTENTION_CODES] })),
  severity: t.Union([t.Literal('error'), t.Literal('warn')]),
  projectId: orNull(t.String()),
  message: t.String({ description: 'A sentence with the very path, host or rule' }),
  href: t.String({ description: 'The page of the admin that shows it' }),
  at: t.String(),
})
export type AttentionItem = Static<typeof item>

export const attentionView = t.Object({ items: t.Array(item) })
export const projectAttentionView = t.Union([attentionView, projectView])
