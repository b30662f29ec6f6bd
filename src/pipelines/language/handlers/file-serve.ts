import { Type } from 'typebox'
import type { Handler } from '../handler.ts'
import { expression, numberOr } from './config.ts'
import { checkPath, flag } from './file-config.ts'
import { checkWholeNumber, checkWord } from './words.ts'

export const DEFAULT_MAX_AGE = 3600
const CACHEABILITIES = ['private', 'public']

export const fileServeHandler: Handler<'file_serve_handler'> = {
  names: ['file_serve_handler'],
  summary:
    'Answers with a file and ends the run; post steps do not run. Whoever passes the validators of the rule gets the file. Pages and pictures that could run scripts are shut in (`Content-Security-Policy: sandbox`), and scripts go out as text.',
  result: 'none: it is the response.',
  config: Type.Object(
    {
      subDir: Type.Optional(
        expression(
          'the folder to serve: what follows `/api/uploads/{subDir}/` in the address of the request is the path of the file below it',
        ),
      ),
      key: Type.Optional(expression('the path of the file, such as `photos/{{steps.photo.name}}`')),
      cacheability: Type.Optional(
        expression('`private` (the default): only the browser may keep the file; `public`: everybody may'),
      ),
      cacheMaxAge: Type.Optional(
        numberOr(
          `for how many seconds the file may be kept without asking again: default ${DEFAULT_MAX_AGE}`,
        ),
      ),
      allowScripts: Type.Optional(
        flag(
          'true lets pages run their scripts, still in a sandbox, and sends scripts as scripts; default false',
        ),
      ),
    },
    { additionalProperties: false },
  ),
  check: ({ subDir, key, cacheability }) => [
    ...(subDir === undefined && key === undefined ? [{ path: '', message: 'needs subDir or key' }] : []),
    ...checkWord(cacheability, 'cacheability', CACHEABILITIES),
  ],
  foresee: (config) => [
    ...checkPath(config, 'subDir'),
    ...checkPath(config, 'key'),
    ...checkWholeNumber(config, 'cacheMaxAge', 0, Number.MAX_SAFE_INTEGER),
  ],
}
