import type { Context } from '../../context.ts'
import { AppError, type ErrorDetail } from '../../domain/errors.ts'
import { isApiOfOriginal } from '../../domain/target-shape.ts'
import { checkTarget } from '../proxy-rules/target.ts'
import type { RuleDraft } from './push.ts'
import { nameOf } from './rule-name.ts'

/** How many names are looked up at once. */
const AT_ONCE = 20

/** Throws 400 with every rule whose target is not allowed, and the first one's code. Looks up each target once. */
export async function checkTargets(ctx: Context, drafts: readonly RuleDraft[]): Promise<void> {
  const byTarget = new Map<string, RuleDraft[]>()
  for (const draft of drafts) {
    const isNeverCalled = draft.proxyType === 'external_proxy' && isApiOfOriginal(draft.targetUrl)
    if (draft.proxyType === 'pipeline' || isNeverCalled) continue
    const key = `${draft.proxyType} ${draft.targetUrl}`
    byTarget.set(key, [...(byTarget.get(key) ?? []), draft])
  }
  const groups = [...byTarget.values()]
  const refused: { draft: RuleDraft; error: AppError }[] = []
  for (let i = 0; i < groups.length; i += AT_ONCE) {
    const found = await Promise.all(groups.slice(i, i + AT_ONCE).map((group) => refusalOf(ctx, group)))
    refused.push(...found.flat())
  }
  refused.sort((a, b) => a.draft.index - b.draft.index)
  const [first] = refused
  if (first === undefined) return
  const details = refused.map(
    ({ draft, error }): ErrorDetail => ({
      path: `rules[${draft.index}].targetUrl`,
      message: `${nameOf(draft)}: ${error.message}`,
    }),
  )
  throw new AppError(first.error.kind, details[0]?.message ?? '', { code: first.error.code, details })
}

async function refusalOf(
  ctx: Context,
  group: readonly RuleDraft[],
): Promise<{ draft: RuleDraft; error: AppError }[]> {
  const [one] = group
  if (one === undefined) return []
  try {
    await checkTarget(ctx, one)
    return []
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return group.map((draft) => ({ draft, error }))
  }
}
