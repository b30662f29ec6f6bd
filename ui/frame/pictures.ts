import type { Context } from '../../src/context.ts'
import { encodePath } from '../../src/domain/asset-path.ts'
import { factsOf } from '../../src/http/request-facts.ts'
import type { PicturedView } from '../../src/modules/deployments/pictured.ts'
import { askedOrigin, PICTURE_PATH, pictureAddress } from '../../src/modules/pictures/service.ts'
import { type Html, page } from '../components/html.ts'

/** Each is a page of its own for the browser. contract 17.2. */
const MOST = 12

/** The pictures and icons of one page, for somebody who may read what they show. */
export type Pictures = {
  /** The address of a picture; null where a letter stands for it. */
  of(shown: PicturedView | undefined): string | null
  /** The address of an icon; null where there is none. */
  icon(shown: PicturedView | undefined): string | null
  /** The page, whose policy allows the pictures that were asked for. */
  page(document: Html, status?: number): Response
}

export function picturesOf(ctx: Context, request: Request): Pictures {
  const isSaving = request.headers.get('save-data')?.toLowerCase() === 'on'
  let count = 0
  return {
    of(shown) {
      if (shown === undefined || !shown.hasStartPage || isSaving || count === MOST) return null
      const address = pictureAddress(ctx, shown)
      if (address !== null) count += 1
      return address
    },
    icon(shown) {
      if (shown === undefined || shown.icon === null) return null
      const below = `/${shown.icon}`.startsWith(`${shown.basePath}/`)
        ? shown.icon.slice(shown.basePath.length)
        : null
      const address = below === null ? null : pictureAddress(ctx, shown)
      return address === null || below === null ? null : address + encodePath(below.replace(/^\//, ''))
    },
    page(document, status) {
      const answer = page(document, status)
      const policy = answer.headers.get('content-security-policy')
      if (count > 0)
        answer.headers.set(
          'content-security-policy',
          `${policy}; frame-src ${askedOrigin(ctx, factsOf(request))}${PICTURE_PATH}`,
        )
      return answer
    },
  }
}
