import type { Context } from '../../context.ts'
import { readSettings } from '../settings/read-settings.ts'
import { makeTicket, type Pictured } from './tickets.ts'

export type { Pictured } from './tickets.ts'

/** Where pictures are, on the admin host. */
export const PICTURE_PATH = '/_svc/picture/'

/** Whether the workspace shows pictures. */
export const arePicturesOn = (ctx: Context): boolean => readSettings(ctx).pictures.value

/** The address of a picture, with its slash at the end; for whoever may read the project. Null where pictures are off. */
export const pictureAddress = (ctx: Context, pictured: Pictured): string | null =>
  arePicturesOn(ctx) ? `${PICTURE_PATH}${makeTicket(ctx, pictured)}/` : null

/** The admin's origin as it was asked: it may have other names than that of the settings. */
export function askedOrigin(
  ctx: Context,
  { isSecure, hostWithPort }: { isSecure: boolean; hostWithPort: string },
): string {
  const usual = ctx.adminUrl()
  return usual.endsWith(`//${hostWithPort}`) ? usual : `${isSecure ? 'https' : 'http'}://${hostWithPort}`
}
