import type { Context } from '../context.ts'

/**
 * Elysia looks for the path after the 7th or the 11th character of a URL. 7 is right for `http://` and any host
 * (`http://nas/`), 11 for `https://`, where certificates require longer names.
 */
export const elysiaOptions = ({ config }: Context) => ({
  handler: { standardHostname: config.tls !== 'off' },
})
