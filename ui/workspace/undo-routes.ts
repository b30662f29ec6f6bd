import { Elysia } from 'elysia'
import type { Context } from '../../src/context.ts'
import { safeRedirect } from '../../src/http/safe-redirect.ts'
import { authorize } from '../../src/modules/auth/authorize.ts'
import { type AuditEntry, undoEntry } from '../../src/modules/undo/service.ts'
import { carryingChange } from '../frame/change-cookie.ts'
import { UNREAD_BODY } from '../frame/form.ts'
import { obeyOnce } from '../frame/obey-once.ts'
import { decidedForm, seeOther } from '../frame/page-request.ts'

/** The buttons that undo: of the notice after a form, and of the audit log. */
export const undoPages = (ctx: Context) =>
  new Elysia().post(
    '/undo/:entryId',
    ({ request, params }) => submitUndo(ctx, request, params.entryId),
    UNREAD_BODY,
  )

async function submitUndo(ctx: Context, request: Request, entryId: string): Promise<Response> {
  const { form, caller, user } = await decidedForm(ctx, request, (sender) =>
    authorize(ctx, sender, 'project:list', undefined, false),
  )
  return obeyOnce(ctx, request, { form, sender: user.id }, async () => {
    const { entry } = await undoEntry(ctx, caller, entryId)
    const back = safeRedirect(ctx, form.text('back')) ?? '/'
    return carryingChange(request, seeOther(pageAfter(entry, back)), caller.actor)
  })
}

/** The page of what is gone now is gone, too: then the list that it stood in. */
function pageAfter({ target, before, after }: AuditEntry, back: string): string {
  const isGone = before !== null && after === null
  const at = target.id === null ? -1 : back.indexOf(`/${target.id}`)
  return isGone && at > 0 ? back.slice(0, at) : withoutDone(back)
}

/** What the last form said is not true any more. */
const withoutDone = (address: string): string =>
  address.replace(/([?&])done=[^&]*&?/, '$1').replace(/[?&]$/, '')
