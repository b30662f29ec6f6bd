import type { Context } from '../../src/context.ts'
import { DAY_MS } from '../../src/domain/durations.ts'
import { AppError } from '../../src/domain/errors.ts'
import { isoTime } from '../../src/domain/iso-time.ts'
import { closePreview } from '../../src/modules/aliases/previews.ts'
import { type AliasView, changeAlias, getAlias } from '../../src/modules/aliases/service.ts'
import type { Grant } from '../../src/modules/auth/authorize.ts'
import { getProject } from '../../src/modules/projects/service.ts'
import type { Intent } from '../frame/project-request.ts'

/**
 * The forms that change the end of a preview: `extend`, `keep` and `end` with `aliasId`. Whoever may move aliases may
 * send them; to give another alias an end needs more. `back`: where they lead to.
 */
export const previewIntents = (
  ctx: Context,
  projectId: string,
  back: (aliasId: string) => string,
): Record<'extend' | 'keep' | 'end', Intent> => ({
  extend: {
    isOnce: true,
    run({ grant, form }) {
      const { id, expiresAt } = previewBy(ctx, grant, form.text('aliasId'))
      changeAlias(ctx, grant, id, { expiresAt: isoTime(laterEnd(ctx, grant, expiresAt)) })
      return `${back(id)}?done=extended`
    },
  },
  keep: {
    run({ grant, form }) {
      const { id } = previewBy(ctx, grant, form.text('aliasId'))
      changeAlias(ctx, grant, id, { expiresAt: null })
      return `${back(id)}?done=kept`
    },
  },
  end: {
    action: 'preview:end',
    isOnce: true,
    run({ grant, form }) {
      closePreview(ctx, grant, previewBy(ctx, grant, form.text('aliasId')).name)
      return `/projects/${projectId}?done=ended`
    },
  },
})

/** What the page says after them. */
export const PREVIEW_NOTICES = {
  extended: 'The preview ends later.',
  kept: 'The alias stays: it has no end any more.',
  ended: 'The preview has ended.',
}

/** A locked one may be past its end. */
const laterEnd = (ctx: Context, grant: Grant, expiresAt: string): number =>
  Math.max(Date.parse(expiresAt), ctx.now()) + getProject(ctx, grant).previewDays * DAY_MS

function previewBy(ctx: Context, grant: Grant, id: string): AliasView & { expiresAt: string } {
  const alias = getAlias(ctx, grant, id)
  const { expiresAt } = alias
  if (expiresAt === null)
    throw new AppError('conflict', `${alias.name} is no preview any more: it has no end`)
  return { ...alias, expiresAt }
}
