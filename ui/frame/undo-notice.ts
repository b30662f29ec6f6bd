import type { Context } from '../../src/context.ts'
import { callerOf } from '../../src/modules/auth/caller.ts'
import { type AuditEntry, findEntry } from '../../src/modules/undo/service.ts'
import { html, numbered, renderPart } from '../components/html.ts'
import { notice } from '../components/notice.ts'
import { carriedChange, forgetChange } from './change-cookie.ts'
import { undoForm } from './undo-form.ts'

/** Says on the page after a form what was changed, with a button that undoes it. contract 17.9. */
export async function withUndoNotice(ctx: Context, request: Request, answer: Response): Promise<Response> {
  const change = carriedChange(request)
  const isPage = answer.headers.get('content-type')?.startsWith('text/html') === true
  if (change === undefined || !isPage || request.method !== 'GET') return answer
  const headers = new Headers(answer.headers)
  headers.append('set-cookie', forgetChange(request))
  const entry = findEntry(ctx, callerOf(ctx, request, 'ignore'), change)
  const body = entry?.canUndo ? withEntry(await answer.text(), entry, backOf(request)) : answer.body
  return new Response(body, { status: answer.status, headers })
}

/** Where the button leads back to. */
function backOf(request: Request): string {
  const { pathname, search } = new URL(request.url)
  return `${pathname}${search}`
}

const TOAST = / toast" role="status">.*?<div class="notice-text">[\s\S]*?<\/div>/
const END = '</div>'
const MAIN = /<main class="content"[^>]*>/

/** In the notice that says that the form succeeded, or in one of its own. */
function withEntry(page: string, entry: AuditEntry, back: string): string {
  const action = undoForm(entry, { back })
  if (TOAST.test(page)) {
    const sentence = renderPart(html`<span>${entry.sentence}.</span>`)
    const button = numbered(renderPart(action))
    return page.replace(TOAST, (toast) => `${toast.slice(0, -END.length)} ${sentence}${END}${button}`)
  }
  const own = notice({ tone: 'good', live: true, isToast: true, message: `${entry.sentence}.`, action })
  return page.replace(MAIN, (main) => `${main}${numbered(renderPart(own))}`)
}
