import { Type } from 'typebox'
import type { ErrorDetail } from '../../../domain/errors.ts'
import type { Handler } from '../handler.ts'
import { expression } from './config.ts'
import { checkPath, flag } from './file-config.ts'

export const SELECTORS = ['prefix', 'key', 'keys'] as const

export const fileDeleteHandler: Handler<'file_delete'> = {
  names: ['file_delete'],
  summary:
    'Deletes one file, a list of files, or a folder. Takes exactly one of `prefix`, `key` and `keys`. Records that name the files stay.',
  result:
    '`{ deleted, dryRun }` with the `prefix`, `key` or `keys` that was given; `deleted` is the number of files, 0 if there are none.',
  config: Type.Object(
    {
      prefix: Type.Optional(
        expression('a folder: `videos/1` is everything below it, and nothing of `videos/10`'),
      ),
      key: Type.Optional(expression('the path of one file, or its `storage_path`')),
      keys: Type.Optional(
        Type.Union([Type.String(), Type.Array(Type.String())], {
          description: 'a list of such paths, as an expression; if one is invalid, none is deleted',
        }),
      ),
      dryRun: Type.Optional(flag('true only counts; default false')),
    },
    { additionalProperties: false },
  ),
  check: checkSelector,
  foresee: (config) => [...checkPath(config, 'prefix'), ...checkPath(config, 'key')],
}

function checkSelector(config: Readonly<Record<string, unknown>>): ErrorDetail[] {
  const given = SELECTORS.filter((key) => config[key] !== undefined)
  return given.length === 1
    ? []
    : [{ path: '', message: 'needs exactly one of prefix, key and keys, to say what to delete' }]
}
