import type { Context } from '../../src/context.ts'
import { isDiskLow } from '../../src/modules/storage/floor.ts'
import { html, renderPart } from '../components/html.ts'
import { notice } from '../components/notice.ts'

/** Adds a banner to each page of the admin while less of the disk is free than must be. contract 16 §6. */
export function withDiskNotice(ctx: Context, answer: Response): Response {
  const isPage = answer.headers.get('content-type')?.startsWith('text/html') === true
  if (!isPage || !isDiskLow(ctx)) return answer
  return new HTMLRewriter()
    .on('main.content', { element: (main) => void main.prepend(renderPart(lowDisk()), { html: true }) })
    .transform(answer)
}

const lowDisk = () =>
  notice({
    tone: 'bad',
    message: html`
      The disk of this server is nearly full, so nothing can be published until there is room. Administrators see more
      under <a href="/admin/storage">Storage</a>.
    `,
  })
