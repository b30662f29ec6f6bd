import type { Context } from '../context.ts'

/**
 * Elysia finds the path behind the 7th character of a URL, or behind the 11th. The one is right for `http://` and any host
 * (`http://nas/`), the other for `https://`, where a certificate needs a name that long.
 */
export const elysiaOptions = ({ config }: Context) => ({
  handler: { standardHostname: config.tls !== 'off' },
})
