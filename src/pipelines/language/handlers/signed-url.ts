import { Type } from 'typebox'
import type { Handler } from '../handler.ts'
import { expression, numberUpTo } from './config.ts'
import { checkWholeNumber } from './words.ts'

export const DEFAULT_URL_SECONDS = 3600
export const MAX_URL_SECONDS = 7 * 24 * 3600

export const signedUrlHandler: Handler<'signed_url'> = {
  names: ['signed_url'],
  summary:
    'Makes an address that shows a file to whoever has it, until it expires. It needs no session, so give it only to those who may see the file.',
  result: '`{ url }`, an absolute address on the host of the request.',
  config: Type.Object(
    {
      path: expression('the file, by its `storage_path` or its `url`; it need not exist yet'),
      expiresIn: Type.Optional(
        numberUpTo(MAX_URL_SECONDS, `for how many seconds the address works: default ${DEFAULT_URL_SECONDS}`),
      ),
      filename: Type.Optional(
        expression('makes the address a download, under this name; without it the browser shows the file'),
      ),
    },
    { additionalProperties: false },
  ),
  foresee: (config) => checkWholeNumber(config, 'expiresIn', 1, Number.MAX_SAFE_INTEGER),
}
